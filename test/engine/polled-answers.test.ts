/**
 * Goal: the answer behind the link of a 202 is read like any other answer: by the caller's hook, by the dialect, and by the state that the document itself
 * gives. Only a 2xx that names no other state proves that the work is done. Method: status documents of real services, after a charge that took place and
 * after one that did not.
 */
import { describe, expect } from 'vitest';
import { defineDialect, generic, inHeader } from '../../src/entries/dialects.js';
import {
  clear,
  type Evidence,
  memoryStore,
  type Once,
  type OnceOptions,
  pending,
  polling as pollingFeature,
  resumeOne,
  type Verdict,
} from '../../src/entries/index.js';
import { createOn } from '../../src/once.js';
import { nodePlatform } from '../../src/platform/node/index.js';
import { answers, charged, type Entry, idle, lost, shaped, textOf } from '../support/server.js';
import { CART, NAME, newWorld, pay, SECOND, saying, test, watched } from '../support/world.js';

const ACCEPTED = answers(202, '', { location: '/jobs/1' });
const MIB = 1_048_576;
const REPLAYED = { 'idempotent-replayed': 'true' };

function polling(options: OnceOptions, accepted: Entry, ...then: readonly Entry[]) {
  const { world, tab, once } = newWorld().open({ accepted: 'poll', limits: { inProgressMs: 5 * SECOND }, ...options });
  world.server.plays(accepted, ...then);
  return { world, tab, once };
}

describe('a status document', () => {
  test.each<[string, unknown]>([
    ['a plain job', { status: 'FAILED' }],
    ['Azure', { id: '/operations/1', status: 'Canceled' }],
    ['Google', { name: 'operations/1', done: true, error: { code: 3 } }],
    ['JSON:API', { data: { attributes: { status: 'failed' } } }],
    ['an API that says when to ask again', answers(200, { status: 'failed' }, { 'retry-after': '1' })],
    ['one word', 'Failed\n'],
    ['one word as JSON', '"CANCELLED"'],
  ])('of %s that reports a failure ends the operation as none, and the next press has another key', async (_, json) => {
    const { world, tab, once } = polling({}, idle(ACCEPTED), idle(typeof json === 'function' ? (json as Entry) : answers(200, json)), answers(201));
    const end = await world.end(tab, pay(once));
    expect(end).toMatchObject({ status: 200, outcome: { type: 'rejected', effect: 'none' } });
    const next = await world.end(tab, pay(once));
    expect(next).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(next.outcome?.key).not.toBe(end.outcome?.key);
  });

  test.each<[string, unknown]>([
    ['a plain job', { state: 'processing' }],
    ['Azure', { status: 'Running' }],
    ['Google', { name: 'operations/1', metadata: {} }],
    ['JSON:API', { data: { attributes: { status: 'queued' } } }],
    ['one word', 'In progress'],
    ['one word as JSON', '"PENDING_REVIEW"'],
    ['false', 'false'],
    ['null', 'null'],
    ['None, as Python writes null', 'None'],
    ['one word with dots', 'Processing...'],
    ['a sentence about a failure', 'The payment failed.'],
    ['the word Error, which may be about the poll itself', 'Error'],
    ['the word error as JSON', '"error"'],
  ])('of %s that does not say that the work has ended is fetched again', async (_, json) => {
    const { world, tab, once } = polling({}, charged(ACCEPTED), answers(200, json, REPLAYED), answers(200, { status: 'succeeded' }, REPLAYED));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals).toHaveLength(3);
  });

  test.each<[string, Entry]>([
    ['without a state, with Retry-After', answers(200, { progress: 40 }, { 'retry-after': '1' })],
    ['that was not found', answers(404, { status: 'failed' })],
    ['behind a login', answers(401, { state: 'failed' })],
    ['of a server in trouble', answers(503, { status: 'error' })],
    ['with 202', answers(202, { status: 'failed' })],
    ['behind a redirect that was not followed', answers(303, '', { location: '/login' })],
    ['in an event stream', answers(200, 'data: {"state":"running"}\n\n', { 'content-type': 'text/event-stream' })],
    ['that is too long to be read', answers(200, { state: 'failed', log: 'x'.repeat(MIB) })],
    ['of a type of its own that is too long to be read', answers(200, { log: 'x'.repeat(MIB) }, { 'content-type': 'application/hal+json' })],
  ])('%s proves nothing about the work', async (_, entry) => {
    const { world, tab, once } = polling({}, charged(ACCEPTED), idle(entry), answers(200, { status: 'done' }, REPLAYED));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals).toHaveLength(3);
  });

  test.each([
    ['a file', 'text/csv'],
    ['a list of lines', 'application/x-ndjson'],
    ['a film', 'video/mp4'],
  ])('is never %s: such a body that is too long to be read is the result of the work', async (_, type) => {
    const { world, tab, once } = polling({}, charged(ACCEPTED), idle(answers(200, 'x'.repeat(MIB + 1), { 'content-type': type })));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { effect: 'done' } });
  });

  test('is never a body behind a redirect of the link that is too long to be read: such a body is the result of the work', async () => {
    const long = answers(200, { rows: 'x'.repeat(MIB) }, { 'content-type': 'application/json' });
    const { world, tab, once } = polling({}, charged(ACCEPTED), idle(shaped(long, { redirected: true })));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { effect: 'done' } });
  });

  test('in an event stream is not held open while the work goes on: a page has six connections to a server', async () => {
    const { world, tab, once } = polling({}, charged(ACCEPTED));
    const streams: string[] = [];
    world.server.plays(
      idle(() => {
        const body = new ReadableStream({ cancel: () => void streams.push('closed') });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      }),
      answers(200, { status: 'done' }, REPLAYED),
    );
    await world.end(tab, pay(once));
    expect(streams).toEqual(['closed']);
  });
});

test('a stream that is not a web stream, like that of node-fetch, does not end the polling', async () => {
  const { world, tab, once } = polling({}, charged(ACCEPTED));
  const stream = new Response('data: {"state":"running"}\n\n', { headers: { 'content-type': 'text/event-stream' } });
  Object.defineProperty(stream, 'body', { value: { pipe: () => {} } });
  world.server.plays(
    idle(() => stream),
    answers(200, { status: 'done' }, REPLAYED),
  );
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
});

describe('work that goes on past the key window', () => {
  const WINDOW = 60 * SECOND;
  const running = (): Entry => idle(answers(202, { state: 'running' }));

  test('is polled at its link by the next press, and nothing is sent under the key', async () => {
    const { world, tab, once } = polling({ limits: { inProgressMs: 5 * SECOND, keyWindowMs: WINDOW } }, charged(ACCEPTED));
    world.server.otherwise = running();
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    await world.clock.advance(2 * WINDOW);
    expect((await pending(once))[0]?.expiresAt).toBeGreaterThan(world.clock.now());
    world.server.otherwise = answers(200, { state: 'done' }, REPLAYED);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('is polled until it ends, by a call whose limits allow that', async () => {
    const { world, tab, once } = polling({ limits: { inProgressMs: 5 * WINDOW, totalMs: 5 * WINDOW, keyWindowMs: WINDOW } }, charged(ACCEPTED));
    const ends = world.clock.now() + 2 * WINDOW;
    world.server.otherwise = idle((arrival, server) => (arrival.at < ends ? running() : answers(200, { state: 'done' }, REPLAYED))(arrival, server));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test.each([404, 410])('is not known to be done if its link is gone (%i): the next press sends nothing, and says that the key has expired', async (gone) => {
    const { world, tab, once } = polling({ limits: { inProgressMs: 5 * SECOND, keyWindowMs: WINDOW } }, charged(ACCEPTED));
    world.server.otherwise = idle(answers(gone, ''));
    // A link may begin to answer a little later than its 202.
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    await world.clock.advance(2 * WINDOW);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown', reason: 'key-expired' } });
    const reconcile = saying([], 'done' as const);
    expect((await world.end(tab, pay(once, { reconcile }))).outcome).toMatchObject({ type: 'replayed', from: 'reconcile' });
    expect(world.server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test.each([401, 403, 500])('counts as in progress while the link answers %i', async (status) => {
    const { world, tab, once } = polling({ limits: { inProgressMs: 5 * SECOND, keyWindowMs: WINDOW } }, charged(ACCEPTED));
    world.server.otherwise = idle(answers(status, ''));
    await world.end(tab, pay(once));
    await world.clock.advance(2 * WINDOW);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
  });
});

describe('work of an earlier payload', () => {
  const EDITED = { cart: 'c1', amount: 20 };
  const running = (): Entry => idle(answers(202, { state: 'running' }));

  test('that ends is not attributed to an edited payload that was never sent', async () => {
    const { world, tab, once } = polling({}, charged(ACCEPTED));
    world.server.otherwise = running();
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    world.server.otherwise = answers(200, { state: 'done' }, REPLAYED);
    const edited = await world.end(tab, pay(once, { body: EDITED }));
    expect(edited).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', from: 'server', effect: 'done' } });
    expect((await world.end(tab, pay(once, { body: EDITED }))).code).toBe('ERR_ONCE_ALREADY_SETTLED');
    expect(world.server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test("that ends lets an edited payload be sent with repeat: 'if-changed'", async () => {
    const { world, tab, once } = polling({ repeat: 'if-changed' }, charged(ACCEPTED));
    world.server.otherwise = running();
    await world.end(tab, pay(once));
    world.server.plays(answers(200, { state: 'done' }, REPLAYED), charged(answers(201)));
    expect(await world.end(tab, pay(once, { body: EDITED }))).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
    expect(world.server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  test("that a probe found does not make an edited payload that met a mismatch count as sent: with repeat: 'if-changed' it is sent once the work is done", async () => {
    const mismatch = answers(422, { title: 'Idempotency-Key was used with a different payload' });
    const { world, tab, once } = polling({ repeat: 'if-changed', limits: { attempts: 1, inProgressMs: 5 * SECOND } }, charged(lost()));
    await world.end(tab, pay(once));
    world.server.otherwise = running();
    expect(await world.end(tab, pay(once, { body: EDITED }), mismatch, ACCEPTED)).toMatchObject({ code: 'ERR_ONCE_MISMATCH' });
    expect(world.record()?.payloads).toHaveLength(1);
    world.server.otherwise = answers(200, { state: 'done' });
    expect((await world.end(tab, pay(once), answers(201, {}, REPLAYED))).outcome).toMatchObject({ type: 'replayed', from: 'server', effect: 'done' });
    expect(await world.end(tab, pay(once, { body: EDITED }), charged(answers(201)))).toMatchObject({ status: 201, outcome: { type: 'fresh', changed: false } });
    expect(world.server.charged.size).toBe(2);
  });

  test("does not make an edited payload that was accepted itself count as unsent: with repeat: 'if-changed' its link stays, and is asked", async () => {
    const { world, tab, once } = polling({ repeat: 'if-changed', limits: { attempts: 1, inProgressMs: 5 * SECOND } }, charged(lost()));
    await world.end(tab, pay(once));
    world.server.otherwise = running();
    expect((await world.end(tab, pay(once, { body: EDITED }), ACCEPTED)).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    expect(world.record()).toMatchObject({ link: 'https://shop.example/jobs/1', payloads: { length: 2 } });
    world.server.otherwise = answers(200, { state: 'done' });
    expect((await world.end(tab, pay(once, { body: EDITED }))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  test.each(['never', 'if-changed'] as const)('stays what a resume asks after, if the edited payload only polled it: repeat %s', async (repeat) => {
    const { world, tab, once } = polling({ namespace: 'ann', repeat, keep: { request: true } }, charged(ACCEPTED));
    world.server.otherwise = running();
    await world.end(tab, pay(once));
    await world.end(tab, pay(once, { body: EDITED }));
    expect(world.record()?.request?.body).toBe(JSON.stringify(CART));
    world.server.otherwise = answers(200, { state: 'done' });
    expect((await world.end(tab, watched(resumeOne(once, NAME)))).outcome).toMatchObject({ type: 'fresh', effect: 'done', certain: true });
    expect(world.record()?.state).toBe('settled');
  });
});

describe('a 202 marked as a replay, at the first attempt of an edited form', () => {
  const EDITED = { cart: 'c1', amount: 20 };
  const ACCEPTED_BEFORE = idle(answers(202, '', { location: '/jobs/1', ...REPLAYED }));
  const lostThen = async (options: OnceOptions, ...then: readonly Entry[]) => {
    const { world, tab, once } = polling(options, charged(lost()));
    await world.end(tab, pay(once, { limits: { attempts: 1 } }));
    return { world, end: await world.end(tab, pay(once, { body: EDITED }), ACCEPTED_BEFORE, ...then) };
  };

  test('answers the first form: its work proves nothing about the edited one', async () => {
    const { end } = await lostThen({}, answers(200, { state: 'done' }, REPLAYED));
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', from: 'server', effect: 'done' } });
  });

  test.each(['done', 'failed'])("with repeat: 'if-changed', lets the edited form be sent once that work is %s", async (state) => {
    const { world, end } = await lostThen({ repeat: 'if-changed' }, idle(answers(200, { state }, REPLAYED)), charged(answers(201)));
    expect(end).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
    expect(new Set(world.server.keys.filter(Boolean)).size).toBe(2);
  });

  test('after a lost attempt of the same form, is about the work of the lost attempt', async () => {
    const { world, tab, once } = polling({}, charged(lost()), ACCEPTED_BEFORE, answers(200, { state: 'done' }, REPLAYED));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'replayed', from: 'server', effect: 'done' });
  });

  test('may answer a lost attempt of the edited form itself, so that the outcome is not certain', async () => {
    const { world, tab, once } = polling({ limits: { attempts: 2 } }, charged(lost()));
    await world.end(tab, pay(once, { limits: { attempts: 1 } }));
    const end = await world.end(tab, pay(once, { body: EDITED }), idle(lost()), ACCEPTED_BEFORE, answers(200, { state: 'done' }, REPLAYED));
    expect(end).toMatchObject({ status: 200, outcome: { type: 'fresh', certain: false, changed: true } });
  });
});

describe('the verdict hook', () => {
  test('is asked about a polled answer, and gets polled: true', async () => {
    const heard: Evidence[] = [];
    const { world, tab, once } = polling({ verdict: (evidence) => void heard.push(evidence) }, charged(ACCEPTED), answers(200, { a: 1 }, REPLAYED));
    await world.end(tab, pay(once));
    expect(heard).toMatchObject([
      { status: 202, polled: false },
      { status: 200, polled: true, ambiguous: true, json: { a: 1 } },
    ]);
  });

  test.each<[Verdict | 'nonsense', number, unknown, string]>([
    ['fresh', 200, { phase: 1 }, 'done'],
    ['replayed', 200, { phase: 1 }, 'done'],
    ['rejected', 200, { phase: 1 }, 'none'],
    ['rejected-for-good', 200, { phase: 1 }, 'none'],
    ['rejected-for-good', 402, { phase: 1 }, 'none'],
    ['fresh', 303, {}, 'done'],
    ['fresh', 200, { log: 'x'.repeat(MIB) }, 'done'],
    ['rejected', 404, {}, 'unknown'],
    ['rejected', 202, {}, 'unknown'],
    ['rejected', 200, { status: 'running' }, 'unknown'],
    ['rejected', 200, { status: 'pending_review' }, 'unknown'],
    ['rejected', 200, { status: 'payment_failed' }, 'none'],
    ['rejected', 200, { status: 'completed', success: false }, 'none'],
    ['fresh', 200, { status: 'notification_failed' }, 'done'],
    ['not-sent', 200, {}, 'unknown'],
    ['ambiguous', 200, { status: 'done' }, 'unknown'],
    ['in-progress', 200, { status: 'done' }, 'unknown'],
    ['transient', 200, { status: 'failed' }, 'unknown'],
    ['nonsense', 200, { status: 'done' }, 'unknown'],
  ])('that says %s of a %i %j makes the effect %s', async (said, status, json, effect) => {
    const accepted = effect === 'none' ? idle(ACCEPTED) : charged(ACCEPTED);
    const { world, tab, once } = polling({ verdict: ({ polled }) => (polled ? (said as Verdict) : undefined) }, accepted);
    world.server.otherwise = idle(answers(status, json));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect });
  });

  test('that throws settles nothing', async () => {
    const broken = new Error('hook');
    const { world, tab, once } = polling(
      {
        verdict: ({ polled }) => {
          if (polled) throw broken;
          return undefined;
        },
      },
      charged(ACCEPTED),
    );
    world.server.otherwise = idle(answers(200, { status: 'failed' }));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    expect(tab.reported).toContain(broken);
  });
});

describe('a dialect', () => {
  const dialect = defineDialect({
    name: 'shop',
    place: inHeader('Idempotency-Key'),
    answers: [
      { status: 200, at: { result: 'Refused' }, means: 'refused' },
      { status: 200, at: { result: 'Received' }, means: 'in-progress' },
      { status: 402, means: 'refused', sticky: true },
    ],
  });

  test.each<[string, 'refused' | 'fresh', string]>([
    ['payment_failed', 'refused', 'none'],
    ['pending_settlement', 'fresh', 'done'],
    ['processing', 'fresh', 'done'],
  ])('with a rule for the word %s overrides the common reading of it', async (status, means, effect) => {
    const bank = defineDialect({ name: 'bank', place: inHeader('Idempotency-Key'), answers: [{ status: 200, at: { status }, means }] });
    const accepted = effect === 'none' ? idle(ACCEPTED) : charged(ACCEPTED);
    const { world, tab, once } = polling({ dialect: bank }, accepted, idle(answers(200, { status })));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect });
  });

  test('reads a polled answer by its own codes', async () => {
    const { world, tab, once } = polling({ dialect }, idle(ACCEPTED), idle(answers(200, { result: 'Received' })), idle(answers(200, { result: 'Refused' })));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    expect(world.server.arrivals).toHaveLength(3);
  });

  test('does not take a refusal of the poll itself for a refusal of the work', async () => {
    const { world, tab, once } = polling({ dialect }, charged(ACCEPTED), idle(answers(402)), answers(200, { id: 'ch_1' }, REPLAYED));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
  });

  test('whose `polled` throws settles nothing, and the error is reported', async () => {
    const broken = new Error('a bug of the dialect');
    const polled = () => {
      throw broken;
    };
    const own = defineDialect({ name: 'shop', place: inHeader('Idempotency-Key'), polled });
    const { world, tab, once } = polling({ dialect: own, limits: { inProgressMs: 0 } }, charged(ACCEPTED), idle(answers(200, { status: 'done' })));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    expect(tab.reported).toEqual([broken]);
  });
});

describe('the work behind a stored link is polled and read by the rules of its own request', () => {
  const ACCEPTED = answers(202, '', { location: 'https://shop.example/jobs/1' });
  const RUNNING = idle(answers(200, { state: 'running' }));
  const POLLS = { accepted: 'poll', limits: { inProgressMs: 1 } } as const;

  const bank = defineDialect({
    name: 'bank',
    place: inHeader('Idempotency-Key'),
    polled: ({ json }) => ((json as { result?: string }).result === 'DECLINED' ? 'failed' : undefined),
  });

  describe('a dialect that depends on the request', () => {
    const options = { ...POLLS, dialect: ({ url }: { url: string }) => (url.includes('/payments') ? bank : generic()) } as const;

    test('reads the document behind the link even after a reload, when nothing but the link is stored', async ({ world }) => {
      const { tab, once } = world.open(options);
      await world.end(tab, pay(once), idle(ACCEPTED), RUNNING);
      const next = tab.reload();
      const end = await world.end(next, watched(resumeOne(next.once(options), NAME)), idle(answers(200, { result: 'DECLINED' })));
      expect(end.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    });
  });

  describe('a server that knows no keys', () => {
    const options = { ...POLLS, dialect: 'none' } as const;

    test.for(['press', 'resume'] as const)('is polled at the link of its 202 after a reload (%s), and gets the request once', async (how, { world }) => {
      const { tab, once } = world.open(options);
      await world.end(tab, pay(once), charged(ACCEPTED), RUNNING);
      const next = tab.reload();
      const again = next.once(options);
      const end = await world.end(next, how === 'press' ? pay(again) : watched(resumeOne(again, NAME)), idle(answers(200, { state: 'done' })));
      expect(end.outcome).toMatchObject({ effect: 'done' });
      expect(world.server.arrivals.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
    });
  });
});

describe('a page that knows only the link does not mistake the poll for the request', () => {
  const OPTIONS = { namespace: 'ann', accepted: 'poll', limits: { inProgressMs: 5 * SECOND } } as const;
  const EDITED = { ...CART, amount: 20 };

  /** The work goes on, in the page that sent the request and in the next one. Then another tab logs out. */
  async function asked(how: 'resume' | 'press') {
    const { world, tab, once } = newWorld().open(OPTIONS);
    world.server.plays(charged(answers(202, '', { location: '/jobs/1' })));
    world.server.otherwise = idle(answers(200, { state: 'running' }));
    await world.end(tab, pay(once));
    const next = tab.reload();
    const later = next.once(OPTIONS);
    await world.end(next, how === 'press' ? pay(later) : watched(resumeOne(later, NAME)));
    await world.run(clear(world.open(OPTIONS).once));
    world.server.otherwise = undefined;
    return { world, next, later };
  }

  describe.each(['resume', 'press'] as const)('after a %s that only polled the work', (how) => {
    test('the same press sends the request with its body', async () => {
      const { world, next, later } = await asked(how);
      await world.end(next, pay(later), answers(201, '{}', { 'idempotent-replayed': 'true' }));
      expect(await textOf(world.server.arrivals.at(-1) as never)).toBe(JSON.stringify(CART));
    });

    test('an edited press is not told that the earlier one is done because the link gave a document', async () => {
      const { world, next, later } = await asked(how);
      world.server.plays(answers(422, { title: 'Idempotency-Key is already used' }));
      // If the page sent the request to the link, the document behind the link would pass for the answer.
      world.server.otherwise = (arrival, server) =>
        (arrival.method === 'GET' ? idle(answers(200, { state: 'failed' })) : answers(422, { title: 'Idempotency-Key is already used' }))(arrival, server);
      expect(await world.end(next, pay(later, { body: EDITED }))).toMatchObject({ outcome: { effect: 'unknown', reason: 'mismatch' } });
    });
  });
});

describe('an edited form after a lost 202, at a server that compares payloads', () => {
  /** The server keeps the first payload of each key, and its work ends in `state`. The answer to the very first request is lost. */
  function scene(repeat: OnceOptions['repeat'], state: string, options: OnceOptions = {}, base = '/jobs/') {
    const { world, tab, once } = newWorld().open({ repeat, accepted: 'poll', limits: { attempts: 1, inProgressMs: 5 * SECOND }, ...options });
    const first = new Map<string | null, string>();
    world.server.otherwise = async (arrival, server) => {
      const { key, method, url } = arrival;
      if (method === 'GET') return answers(200, { state: url.endsWith('/1') ? state : 'done' }, REPLAYED)(arrival, server);
      const text = await textOf(arrival);
      const known = first.get(key);
      if (known === undefined) first.set(key, text);
      if (first.size > 1 || state === 'done') server.charged.add(key);
      const entry =
        (known ?? text) === text ? answers(202, '', { location: `${base}${first.size}` }) : answers(422, { title: 'Idempotency-Key is already used' });
      return idle(first.size === 1 && known === undefined ? lost() : entry)(arrival, server);
    };
    const press = (amount: number, url?: string) => world.end(tab, pay(once, { body: { amount }, url }));
    return { world, press, once };
  }

  test.each([
    ['never', 'done', { code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed' } }, 1],
    ['if-changed', 'done', { outcome: { type: 'fresh', certain: true } }, 2],
    ['never', 'failed', { outcome: { type: 'fresh', certain: true } }, 2],
  ] as const)('with repeat %s: the work of the first form is polled, and ends as %s', async (repeat, state, told, keys) => {
    const { world, press } = scene(repeat, state);
    expect((await press(10)).outcome).toMatchObject({ effect: 'unknown' });
    const end = await press(11);
    expect(end).toMatchObject(told);
    expect(end.outcome).toMatchObject({ effect: 'done' });
    expect(new Set(world.server.keys.filter((key) => key !== null)).size).toBe(keys);
    expect(world.record()?.link).toBeUndefined();
  });

  test('an edited form sent to another path: a relative link is resolved against the URL of the first form', async () => {
    const dialect = defineDialect({ name: 'shop', place: inHeader('Idempotency-Key'), scope: ['account'] });
    const { world, press } = scene('never', 'running', { dialect }, 'jobs/');
    await press(10, 'https://shop.example/v1/payments');
    expect((await press(11, 'https://shop.example/v2/payments')).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
    const polled = world.server.arrivals.filter(({ method }) => method === 'GET').map(({ url }) => url);
    expect(new Set(polled)).toEqual(new Set(['https://shop.example/v1/jobs/1']));
  });

  describe('where the work of the first form cannot be polled', () => {
    let user = 'ann';
    const leaves = () => void (user = 'bob');
    const KNOWN = 'https://shop.example/jobs/';
    test.each<[string, string, OnceOptions, meets: Record<string, (once: Once) => unknown>, code: string, polls: number]>([
      ['because its link leads to another origin', 'https://jobs.example/', {}, {}, 'ERR_ONCE_MISMATCH', 0],
      ['because another user has logged in', KNOWN, {}, { POST: leaves }, 'ERR_ONCE_UNKNOWN', 0],
      ['because another user logs in meanwhile', KNOWN, {}, { GET: leaves }, 'ERR_ONCE_UNKNOWN', 1],
      ['because of a log-out meanwhile', KNOWN, {}, { GET: clear }, 'ERR_ONCE_CLAIM_LOST', 1],
      ['because the time of the call is over', KNOWN, { limits: { attempts: 1, totalMs: 100 } }, {}, 'ERR_ONCE_MISMATCH', 1],
    ])('%s, the outcome is unknown, and no other key is sent', async (_, base, options, meets, code, polls) => {
      user = 'ann';
      const { world, press, once } = scene('never', 'running', { namespace: () => user, ...options }, base);
      await press(10);
      const { otherwise } = world.server;
      let probed = false;
      world.server.otherwise = async (arrival, server) => {
        const answer = await otherwise?.(arrival, server);
        probed ||= answer?.status === 202;
        if (probed) await meets[arrival.method]?.(once);
        return answer as Response;
      };
      expect(await press(11)).toMatchObject({ code, outcome: { effect: 'unknown' } });
      expect(world.server.arrivals.filter(({ method }) => method === 'GET')).toHaveLength(polls);
      expect(new Set(world.server.keys.filter((key) => key !== null)).size).toBe(1);
    });
  });

  test('while the work of the first form goes on, its link is not stored with the edited form', async () => {
    const { world, press } = scene('if-changed', 'running');
    await press(10);
    expect((await press(11)).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
    expect([world.record()?.state, world.record()?.link]).toEqual(['pending', undefined]);
  });
});

test.each([
  ['is polled past the cache, which may hold the document of an earlier key', {}, 'no-store'],
  ['is polled without that option in Workers, whose older rules do not know it', { isolated: true }, undefined],
])('the link %s', async (_, platform, cache) => {
  const asked: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    if (init?.method === 'POST') return new Response(null, { status: 202, headers: { location: '/jobs/1' } });
    asked.push(init?.cache);
    return Response.json({ status: 'succeeded' });
  };
  const once = createOn({ ...nodePlatform(), ...platform }, { store: memoryStore(), fetch, accepted: 'poll', use: [pollingFeature()] });
  await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
  expect(asked).toEqual([cache]);
});

test('a refusal of an earlier payload says nothing behind its Location, whatever is there', async () => {
  const { world, tab, once } = polling({}, charged(lost()));
  await world.end(tab, pay(once, { limits: { attempts: 1 } }));
  const mismatch = answers(422, { title: 'Idempotency-Key is already used' });
  const end = await world.end(tab, pay(once, { body: { cart: 'c1', amount: 20 } }), mismatch, answers(400, { code: 'bad_card' }, { location: '/jobs/1' }));
  expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
  expect(world.server.arrivals.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
});

test('the link of an edited form ends: a press of the first form, which was sent before, is not told that the end is certainly its own', async () => {
  const dialect = { ...generic(), answersMismatch: true };
  const { world, tab, once } = polling({ dialect }, lost());
  await world.end(tab, pay(once, { limits: { attempts: 1 } }));
  world.server.otherwise = idle(answers(202, { state: 'running' }, { location: '/jobs/1' }));
  expect((await world.end(tab, pay(once, { body: { cart: 'c1', amount: 20 } }))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
  world.server.otherwise = charged(answers(200, { state: 'done' }));
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'fresh', certain: false, changed: true });
});

test('a gateway may send the keyed PUT of an edited form again unseen: the end of the work is not told as that of the first form', async ({ world }) => {
  const tab = world.tab();
  const { transport } = tab.platform;
  Object.assign(tab.platform, {
    transport: (...given: Parameters<typeof transport>) => ({
      ...transport(...given),
      mayResend: ({ method }: RequestInit, carrier = '') => method === 'PUT' && carrier !== '',
    }),
  });
  const once = tab.once({ accepted: 'poll', limits: { attempts: 1 } });
  const init = { method: 'PUT' };
  await world.end(tab, pay(once, { init }), charged(lost()));
  const accepted = idle(answers(202, '', { location: '/jobs/1', ...REPLAYED }));
  const edited = pay(once, { init, body: { cart: 'c1', amount: 20 } });
  expect((await world.end(tab, edited, accepted, answers(200, { state: 'done' }, REPLAYED))).outcome).toMatchObject({ effect: 'done', certain: false });
});
