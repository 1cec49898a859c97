/**
 * Goal: an answer is never read as more, or as less, than it proves (attacks 16 to 19, 37, 39, 40, 46). Method: the answers
 * that broke earlier drafts, through the real engine.
 */
import { describe, expect } from 'vitest';
import type { Dialect } from '../../src/core/dialect.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { answers, charged, during, type Entry, idle, lost, replays, stalls, textOf } from '../support/server.js';
import { CART, MINUTE, NAME, newWorld, ONE, pay, SECOND, test, URL_, watched } from '../support/world.js';

const HTML = { 'content-type': 'text/html; charset=utf-8' };

describe('A16: a plain 409', () => {
  // `test/core/words.test.ts` lists the bodies that have such a code.
  test('A16: with an application code of its own is refused at once, and the form stays usable', async ({ world, tab, once }) => {
    world.server.plays(answers(409, { code: 'email_taken' }), answers(201));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 409, outcome: { type: 'rejected', effect: 'none', attempts: 1 }, ms: 0 });
    expect(await world.end(tab, pay(once, { body: { email: 'other@example.com' } }))).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
  });

  test('A16: that names the key in its body is work in progress', async ({ world, tab, once }) => {
    world.server.plays(({ key }) => Response.json({ error: `request ${key} is being worked on` }, { status: 409 }), replays());
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201 });
  });
});

describe('A17: answers that are no verdict', () => {
  test('A17: HTML is no verdict for a call that accepts no HTML, whatever it sent', async ({ world, tab, once }) => {
    world.server.plays(answers(200, '<h1>Log in</h1>', HTML));
    const call = once.fetch(URL_, { method: 'POST', body: 'a=b', headers: { accept: 'application/json' }, once: NAME });
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'not-a-verdict' });
  });

  test.for([{}, { accept: 'text/html' }, { accept: 'text/html,application/xhtml+xml' }, { accept: '*/*' }, { accept: 'text/*' }])(
    'A17: HTML is an answer to a form with %j',
    async (headers, { world, tab, once }) => {
      world.server.plays(answers(200, '<h1>Thank you</h1>', HTML));
      const call = once.fetch(URL_, { method: 'POST', body: new URLSearchParams({ a: 'b' }), headers: headers as Record<string, string>, once: NAME });
      expect(await world.end(tab, call)).toMatchObject({ status: 200, outcome: { type: 'fresh', effect: 'done' } });
    },
  );

  test.for([
    ['a string', () => [URL_, { body: JSON.stringify(CART) }] as const],
    ['bytes', () => [URL_, { body: new TextEncoder().encode(JSON.stringify(CART)) }] as const],
    ['a Request', () => [new Request(URL_, { method: 'POST', body: JSON.stringify(CART) }), {}] as const],
    ['a Blob', () => [URL_, { body: new Blob([JSON.stringify(CART)], { type: 'application/json' }) }] as const],
  ] as const)('A17: HTML is no answer to JSON that was sent as %s, even without a content-type header', async ([_, call], { world, tab, once }) => {
    world.server.plays(answers(200, '<h1>Log in</h1>', HTML));
    const [input, init] = call();
    expect((await world.end(tab, watched(once.fetch(input, { method: 'POST', ...init, once: NAME })))).outcome).toMatchObject({ effect: 'unknown' });
  });

  test('A17: HTML is no answer to a JSON string, which only its content type shows to be JSON', async ({ world, tab, once }) => {
    world.server.plays(answers(200, '<h1>Log in</h1>', HTML));
    expect((await world.end(tab, pay(once, { body: '"cart-1"' }))).outcome).toMatchObject({ effect: 'unknown', reason: 'not-a-verdict' });
  });

  test('A17: a redirect with the replay marker is the stored answer', async ({ world, tab, once }) => {
    world.server.plays(charged(lost()), answers(303, '', { location: '/receipt', 'idempotent-replayed': 'true' }));
    expect(await world.end(tab, pay(once, { init: { redirect: 'manual' } }))).toMatchObject({ status: 303, outcome: { type: 'replayed', effect: 'done' } });
  });

  test('A17: the caller may declare redirect-after-post a success', async ({ world, tab, once }) => {
    world.server.plays(charged(answers(303, '', { location: '/receipt' })));
    const verdict = ({ status }: { status: number }) => (status === 303 ? ('fresh' as const) : undefined);
    expect(await world.end(tab, pay(once, { verdict, init: { redirect: 'manual' } }))).toMatchObject({ status: 303, outcome: { type: 'fresh' } });
  });
});

describe('A18: the order of the rules', () => {
  test("A18: a replayed 202 under 'poll' is polled", async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll' });
    world.server.plays(charged(lost()), answers(202, '', { location: '/jobs/1', 'idempotent-replayed': 'true' }), answers(200, { status: 'paid' }));
    const end = await world.end(tab, pay(once));
    expect(await end.response?.json()).toEqual({ status: 'paid' });
  });

  test("A18: the dialect's own codes come before the common rules, and the caller's verdict before both", async () => {
    const dialect: Dialect = { ...GENERIC, name: 'own', read: ({ status }) => (status === 200 ? { kind: 'refused', ambiguous: false } : undefined) };
    const { world, tab, once } = newWorld().open({ dialect });
    world.server.plays(idle(answers(200, { declined: true })), answers(200, { declined: false }));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { type: 'rejected' } });
    expect(await world.end(tab, pay(once, { verdict: () => 'fresh' }))).toMatchObject({ status: 200, outcome: { type: 'fresh' } });
  });
});

describe('A19: a 202', () => {
  test('A19: is the final answer by default, and its body is given to the caller', async ({ world, tab, once }) => {
    const end = await world.end(tab, pay(once), answers(202, { job: 1 }, { location: '/jobs/1', 'retry-after': '5' }));
    expect(end).toMatchObject({ status: 202, outcome: { type: 'fresh', effect: 'done' } });
    expect(await end.response?.json()).toEqual({ job: 1 });
  });

  const ACCEPTED = answers(202, '', { location: '/jobs/1' });

  test("A19: under 'poll', its link is polled until the work is done, and nothing is sent twice", async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll' });
    world.server.plays(ACCEPTED, answers(202), answers(404), answers(401), answers(503), answers(429), answers(200, { status: 'paid' }));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { effect: 'done' } });
    expect(world.server.arrivals.map(({ method }) => method)).toEqual(['POST', ...Array<string>(6).fill('GET')]);
    expect(new Set(world.server.arrivals.slice(1).map(({ url }) => url))).toEqual(new Set(['https://shop.example/jobs/1']));
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test.for([
    ['the only attempt was accepted: for certain', [], {}, { type: 'fresh', certain: true }],
    ['a lost attempt came before: it may be what had the effect', [charged(lost())], {}, { type: 'fresh', certain: false }],
    ['a lost attempt came before, and the server marks replays', [charged(lost())], { 'idempotent-replayed': 'true' }, { type: 'replayed' }],
  ] as const)('A19: done behind a link; %s', async ([_, before, marker, outcome], { world }) => {
    const { tab, once } = world.open({ accepted: 'poll' });
    world.server.plays(...before, answers(202, '', { location: '/jobs/1', ...marker }), answers(200, { status: 'paid' }));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', ...outcome });
  });

  test('A19: done behind a link that is marked as a replay, at a server that compares payloads: for certain, although an attempt was lost', async ({
    world,
  }) => {
    const { tab, once } = world.open({ accepted: 'poll', dialect: { ...GENERIC, answersMismatch: true }, limits: { attempts: 2 } });
    await world.end(tab, pay(once, ONE), lost());
    const marked = answers(202, '', { location: '/jobs/1', 'idempotent-replayed': 'true' });
    const edited = await world.end(tab, pay(once, { body: { ...CART, amount: 20 } }), charged(lost()), marked, answers(200, { status: 'paid' }));
    expect(edited.outcome).toMatchObject({ type: 'fresh', effect: 'done', certain: true, changed: true });
  });

  test('A19: done behind a link, after another page lost its attempt: not for certain', async ({ world }) => {
    const first = world.open({ accepted: 'poll' });
    world.server.plays(during(() => first.tab.kill(), charged(lost())));
    void pay(first.once);
    await world.clock.advance(SECOND);
    const { tab, once } = world.open({ accepted: 'poll' });
    const { outcome } = await world.end(tab, pay(once), ACCEPTED, answers(200, { status: 'paid' }));
    expect(outcome).toMatchObject({ type: 'fresh', effect: 'done', certain: false, resumed: true });
  });

  test('A19: if a page dies while it polls, the next one goes on polling, and sends nothing', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll' });
    world.server.plays(
      ACCEPTED,
      during(() => tab.kill(), answers(202)),
    );
    void pay(once);
    await world.clock.advance(5 * SECOND);
    const next = world.open({ accepted: 'poll' });
    const end = await world.end(next.tab, pay(next.once), answers(200, { status: 'paid' }));
    expect(end).toMatchObject({ status: 200, outcome: { effect: 'done', resumed: true } });
    expect(world.server.arrivals.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  test('A19: a link to another origin is not followed, and gets no credential', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll', headers: () => ({ authorization: 'Bearer s3cret' }) });
    expect((await world.end(tab, pay(once), answers(202, '', { location: 'https://evil.example/jobs/1' }))).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test.for([
    ['done, but not certain, because it may be about the earlier payload', GENERIC, false],
    ['done for certain, if the server would have answered a mismatch', { ...GENERIC, answersMismatch: true }, true],
  ] as const)('A19: after another payload was sent: %s', async ([_, dialect, certain], { world }) => {
    const { tab, once } = world.open({ accepted: 'poll', dialect });
    await world.end(tab, pay(once, ONE), charged(lost()));
    const edited = await world.end(tab, pay(once, { body: { ...CART, amount: 20 } }), ACCEPTED, answers(200, { status: 'paid' }));
    expect(edited.outcome).toMatchObject({ type: 'fresh', effect: 'done', certain, changed: true });
  });

  test('A19: the link that an earlier payload left behind tells of that payload, not of the next one', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll', dialect: { ...GENERIC, answersMismatch: true }, limits: { inProgressMs: 0 } });
    await world.end(tab, pay(once), ACCEPTED, answers(202));
    const edited = await world.end(tab, pay(once, { body: { ...CART, amount: 20 } }), answers(200, { status: 'paid' }));
    expect(edited).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', type: 'replayed' } });
  });
});

describe('A37: DELETE and PUT', () => {
  test.for([404, 410])('A37: a named DELETE that may have worked, then a %i: only a 2xx would prove it', async (status, { world, tab, once }) => {
    const end = await world.end(tab, watched(once.fetch(URL_, { method: 'DELETE', once: NAME })), charged(lost()), answers(status));
    expect(end).toMatchObject({ status, outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
    world.server.plays(charged(answers(204, undefined, { 'idempotent-replayed': 'true' })));
    expect(await world.end(tab, watched(once.fetch(URL_, { method: 'DELETE', once: NAME })))).toMatchObject({ outcome: { effect: 'done' } });
  });
});

describe('A39: streams and large bodies', () => {
  const stream = (text: string) => new Blob([text]).stream();

  test('A39: an event stream settles at its headers, and is handed over as it comes', async ({ world, tab, once }) => {
    world.server.plays(charged(stalls(200, 'text/event-stream')));
    const begun = world.clock.now();
    const end = await world.end(tab, pay(once));
    expect(end).toMatchObject({ status: 200, outcome: { type: 'fresh' } });
    expect(world.clock.now()).toBe(begun);
    const { value } = await end.response!.body!.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('{"id":');
  });

  test('A39: a Blob is sent as it is, on every attempt, however large', async ({ world }) => {
    const { tab, once } = world.open({ limits: { bodyBytes: 10 } });
    const body = new Blob(['x'.repeat(5000)], { type: 'application/octet-stream' });
    expect(await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body, once: NAME })), lost(), answers(201))).toMatchObject({ status: 201 });
    expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual(['x'.repeat(5000), 'x'.repeat(5000)]);
  });

  test('A39: a stream is buffered up to the limit, and then sent any number of times', async ({ world, tab, once }) => {
    world.server.plays(lost(), answers(201));
    const init = { method: 'POST', body: stream('payload'), duplex: 'half', once: NAME } as RequestInit;
    expect(await world.end(tab, watched(once.fetch(URL_, init)))).toMatchObject({ status: 201 });
    expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual(['payload', 'payload']);
  });

  test.for([
    ['before anything is sent or stored', false, { type: 'unsent', reason: 'unreplayable-body', sent: 'no' }],
    ['and if an earlier outcome was unknown, it is not told as unsent', true, { effect: 'unknown', sent: 'maybe' }],
  ] as const)('A39, A50: a stream that is too long is refused, %s', async ([_, unknown, outcome], { world }) => {
    if (unknown) await world.interrupted(charged(lost()));
    const { tab, once } = world.open({ limits: { bodyBytes: 3 } });
    const init = { method: 'POST', body: stream('payload'), duplex: 'half', once: NAME } as RequestInit;
    expect(await world.end(tab, watched(once.fetch(URL_, init)))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome });
    expect(world.record()?.state).toBe(unknown ? 'pending' : undefined);
  });
});

describe('A40: in progress for ever', () => {
  test('A40: a call within the next minute makes one attempt, on another page, too; a later one waits again', async ({ world, tab, once }) => {
    world.server.otherwise = answers(409);
    await world.end(tab, pay(once, { limits: { inProgressMs: 5 * SECOND } }));
    const spent = world.server.arrivals.length;
    tab.kill();
    const next = world.open();
    await world.clock.advance(30 * SECOND);
    expect(await world.end(next.tab, pay(next.once))).toMatchObject({ status: 409, outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(spent + 1);
    await world.clock.advance(2 * MINUTE);
    await world.end(next.tab, pay(next.once, { limits: { inProgressMs: 5 * SECOND } }));
    expect(world.server.arrivals.length).toBeGreaterThan(spent + 2);
  });

  test('A46: waiting for work in progress does not count as an attempt against the limit', async ({ world, tab, once }) => {
    world.server.plays(...Array<Entry>(8).fill(answers(409, '', { 'retry-after': '1' })), replays());
    expect(await world.end(tab, pay(once, ONE))).toMatchObject({ status: 201, outcome: { attempts: 9 } });
  });
});
