/**
 * Goal: what a server says about the key is not a refusal of the operation, however it says it. Method: the answers of libraries that people put in front of
 * their own servers, as those libraries give them, in the sequences in which a wrong reading charges twice.
 */
import { describe, expect } from 'vitest';
import { defineDialect, inHeader } from '../../src/entries/dialects.js';
import { resumeOne, run } from '../../src/entries/index.js';
import { type Arrival, answers, charged, type Entry, lost, replays, textOf } from '../support/server.js';
import { CART, MINUTE, NAME, ONE, pay, test, watched } from '../support/world.js';

const EDITED = { ...ONE, body: { ...CART, amount: 12 } };

/** As `entry`, with the key of the request in a header, as on every answer of express-idempotency. */
const echoing =
  (entry: Entry): Entry =>
  async (arrival, server) => {
    const { status, headers, body } = await entry(arrival, server);
    return new Response(body, { status, headers: { ...Object.fromEntries(headers), 'idempotency-key': String(arrival.key) } });
  };

/**
 * Another payload under the key, as express-idempotency 1.0.6 answers it: with the default error page of Express, and with an error handler that
 * answers with the message.
 */
const MISUSE = 'Misuse of the idempotency key. Please check your request.';
const MISUSES: readonly (readonly [string, Entry])[] = [
  [
    'the error page of Express',
    answers(417, `<!DOCTYPE html>\n<html lang="en"><body><pre>Error: ${MISUSE}</pre></body></html>`, { 'content-type': 'text/html' }),
  ],
  ['a JSON error handler', answers(417, { error: MISUSE })],
];

describe.each(MISUSES)('a refusal of the key that echoes it, in %s', (_, misuse) => {
  test('proves nothing of the first payload, however often it comes', async ({ world, tab, once }) => {
    const unsure = await world.end(tab, pay(once, ONE), charged(lost()));
    for (const _ of [1, 2, 3]) {
      const edited = await world.end(tab, pay(once, EDITED), echoing(misuse));
      expect(edited.outcome).toMatchObject({ effect: 'unknown', key: unsure.outcome?.key });
      await world.clock.advance(3 * MINUTE);
    }
    expect((await world.end(tab, pay(once, ONE), echoing(replays()))).outcome).toMatchObject({ effect: 'done', key: unsure.outcome?.key });
  });
});

describe.each(MISUSES)('a refusal of the key that echoes it, in %s, does not prove anything either', (_, misuse) => {
  /** The first payload takes effect, and its answer is lost. From then on the server answers every other payload with `misuse`. */
  const compares: Entry = async (arrival, server) => {
    const first = (await textOf(arrival)) === JSON.stringify(CART);
    return (first ? (server.charged.size ? echoing(replays()) : charged(lost())) : echoing(misuse))(arrival, server);
  };

  test('to a resume of the edited form', async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } } as const;
    const { tab, once } = world.open(options);
    world.server.otherwise = compares;
    const { outcome } = await world.end(tab, pay(once, ONE));
    await world.end(tab, pay(once, EDITED));
    const next = tab.reload();
    const again = next.once(options);
    for (const _ of [1, 2, 3]) {
      expect((await world.end(next, watched(resumeOne(again, NAME)))).outcome).toMatchObject({ effect: 'unknown', key: outcome?.key });
      await world.clock.advance(3 * MINUTE);
    }
    expect((await world.end(next, pay(again))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });

  test('to a function of run', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'orders', ...ONE }, { server: true });
    const charge = (body: object) => {
      const effect = ({ key }: { key: string }) => compares({ key, body: JSON.stringify(body) } as Arrival, world.server);
      return world.end(tab, watched(run(once, NAME, effect as () => Promise<Response>, { fingerprint: () => body })));
    };
    const { outcome } = await charge(CART);
    for (const _ of [1, 2, 3]) {
      expect((await charge(EDITED.body)).outcome).toMatchObject({ effect: 'unknown', key: outcome?.key });
      await world.clock.advance(3 * MINUTE);
    }
    expect((await charge(CART)).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });
});

test.for(MISUSES)('with the dialect of the guide, the first payload is read to its end: %s', async ([_, misuse], { world }) => {
  const dialect = defineDialect({ name: 'mine', place: inHeader('Idempotency-Key'), answersMismatch: true, answers: [{ status: 417, means: 'mismatch' }] });
  const { tab, once } = world.open({ dialect });
  await world.end(tab, pay(once, ONE), charged(lost()));
  const edited = await world.end(tab, pay(once, { body: EDITED.body }), echoing(misuse), echoing(answers(201, { id: 'ch_1' })));
  expect(edited).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a refusal of the operation that echoes the key is still proven when it comes again', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, ONE), lost());
  const refusal = echoing(answers(404, { message: 'No such cart' }));
  expect((await world.end(tab, pay(once, ONE), refusal)).outcome).toMatchObject({ effect: 'unknown' });
  await world.clock.advance(3 * MINUTE);
  expect((await world.end(tab, pay(once, ONE), refusal)).outcome).toMatchObject({ effect: 'none' });
});

/** The problem details that frameworks give a bare 409: the URL of the specification is not an error code of the application. */
const CONFLICTS: readonly (readonly [string, string])[] = [
  ['ASP.NET Core 8', 'https://tools.ietf.org/html/rfc9110#section-15.5.10'],
  ['ASP.NET Core 3.1 to 7', 'https://tools.ietf.org/html/rfc7231#section-6.5.8'],
  ['Hellang.Middleware.ProblemDetails', 'https://httpstatuses.io/409'],
];

describe.each(CONFLICTS)('a bare 409 of %s', (_, type) => {
  const conflict = answers(409, { type, title: 'Conflict', status: 409, traceId: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00' });

  test('is waited for, as work in progress of IdempotentAPI is', async ({ world, tab, once }) => {
    expect((await world.end(tab, pay(once), charged(lost()), conflict, replays())).outcome).toMatchObject({ effect: 'done', attempts: 3 });
  });

  test('is not told as none while the server works on a copy that the browser sent unseen', async ({ world }) => {
    const { tab, once } = world.open({}, { resends: true });
    expect((await world.end(tab, pay(once), charged(conflict), replays())).outcome).toMatchObject({ effect: 'done' });
  });
});
