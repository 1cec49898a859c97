/**
 * Goal: every error says what happened, to which operation and what to do next, can be recognized across copies of the package, and carries no secret. Method:
 * the real engine produces each code; `isOnceError` and `outcomeOf` get what HTTP clients make of the errors.
 */
import { describe, expect, vi } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { registry } from '../../src/engine/registry.js';
import { clear, explain, isOnceError, type OnceErrorCode, type Outcome, outcomeOf, pending, settle } from '../../src/entries/index.js';
import { OnceError, printName } from '../../src/errors.js';
import { readPage } from '../docs/support/markdown.js';
import { answers, charged, delayed, during, lost } from '../support/server.js';
import { LEAN } from '../support/texts.js';
import { CART, type End, HOUR, NAME, newWorld, ONE, pay, SECOND, test, URL_, watched } from '../support/world.js';

const OUTCOME: Outcome = {
  operation: ['pay', 1],
  key: 'k',
  attempts: 1,
  firstSentAt: 1,
  sent: 'yes',
  resumed: false,
  joined: false,
  storedIn: 'disk',
  type: 'unknown',
  effect: 'unknown',
  reason: 'no-answer',
  retryAt: undefined,
};

const WAYS: Record<OnceErrorCode, () => Promise<End>> = {
  async ERR_ONCE_UNKNOWN() {
    const { world, tab, once } = newWorld().open();
    return world.end(tab, pay(once, ONE), charged(lost()));
  },
  async ERR_ONCE_UNSENT() {
    const { world, tab, once } = newWorld().open({ limits: { totalMs: SECOND } });
    tab.online = false;
    return world.end(tab, pay(once));
  },
  async ERR_ONCE_MISMATCH() {
    const { world, tab, once } = newWorld().open({ whenChanged: 'refuse' });
    await world.end(tab, pay(once, ONE), charged(lost()));
    return world.end(tab, pay(once, { body: { ...CART, amount: 20 } }));
  },
  async ERR_ONCE_ALREADY_SETTLED() {
    const { world, tab, once } = newWorld().open();
    await world.end(tab, pay(once), answers(201));
    return world.end(tab, pay(once, { body: { ...CART, amount: 20 } }));
  },
  async ERR_ONCE_KEY_EXPIRED() {
    const world = newWorld();
    await world.interrupted(charged(lost()));
    await world.clock.advance(25 * HOUR);
    const { tab, once } = world.open();
    return world.end(tab, pay(once));
  },
  async ERR_ONCE_KEY_BURNT() {
    const { world, tab, once } = newWorld().open();
    await world.end(tab, pay(once, { key: 'mine' }), answers(402, '', { 'idempotent-replayed': 'true' }));
    return world.end(tab, pay(once, { key: 'mine' }));
  },
  async ERR_ONCE_ALREADY_DONE() {
    const { world, tab, once } = newWorld().open({ dialect: { ...GENERIC, read: () => ({ kind: 'done-elsewhere', ambiguous: false }) } });
    return world.end(tab, pay(once), charged(answers(409)));
  },
  async ERR_ONCE_BUSY() {
    const { world, tab, once } = newWorld().open({ whenBusy: 'reject' });
    world.server.plays(delayed(SECOND, answers(201)));
    const first = pay(once);
    const busy = await world.end(tab, pay(once));
    await world.end(tab, first);
    return busy;
  },
  async ERR_ONCE_CLAIM_LOST() {
    const world = newWorld();
    const { tab, once } = world.open();
    world.server.plays(during(() => clear(once), charged(lost())));
    return world.end(tab, pay(once));
  },
  async ERR_ONCE_BODY() {
    const { world, tab, once } = newWorld().open({ limits: { bodyBytes: 1 } });
    return world.end(tab, pay(once, { init: { body: new Blob(['xx']).stream(), duplex: 'half' } as RequestInit }));
  },
  async ERR_ONCE_STORE() {
    const { world, tab, once } = newWorld().open();
    tab.faults.next('look-fails');
    return world.end(tab, pay(once));
  },
  async ERR_ONCE_RECORD() {
    const world = newWorld();
    await world.interrupted(charged(lost()));
    world.damage(() => 'torn');
    const { tab, once } = world.open();
    return world.end(tab, pay(once));
  },
};

test('a damaged record is not listed: the call with its name tells of it, and the guide says so', async () => {
  const world = newWorld();
  await world.interrupted(charged(lost()));
  world.damage(() => 'torn');
  const { tab, once } = world.open();
  expect(await world.run(pending(once))).toEqual([]);
  expect(isOnceError((await world.end(tab, pay(once))).error, 'ERR_ONCE_RECORD')).toBe(true);
  expect(
    readPage('docs/errors.md')
      .text.split('## ')
      .find((section) => section.startsWith('ERR_ONCE_RECORD')),
  ).toContain('`pending` omits it');
});

const EFFECTS: Record<OnceErrorCode, Outcome['effect']> = {
  ERR_ONCE_UNKNOWN: 'unknown',
  ERR_ONCE_UNSENT: 'none',
  ERR_ONCE_MISMATCH: 'unknown',
  ERR_ONCE_ALREADY_SETTLED: 'done',
  ERR_ONCE_KEY_EXPIRED: 'unknown',
  ERR_ONCE_KEY_BURNT: 'none',
  ERR_ONCE_ALREADY_DONE: 'done',
  ERR_ONCE_BUSY: 'unknown',
  ERR_ONCE_CLAIM_LOST: 'unknown',
  ERR_ONCE_BODY: 'none',
  ERR_ONCE_STORE: 'unknown',
  ERR_ONCE_RECORD: 'unknown',
};

describe('every code', () => {
  test.each(Object.keys(WAYS) as OnceErrorCode[])('%s is reached, names the operation, and is recognized by its brand', async (code) => {
    const { error, outcome } = await WAYS[code]();
    expect(error).toBeInstanceOf(Error);
    expect(isOnceError(error)).toBe(true);
    expect(isOnceError(error, code)).toBe(true);
    expect(isOnceError(error, code === 'ERR_ONCE_BUSY' ? 'ERR_ONCE_BODY' : 'ERR_ONCE_BUSY')).toBe(false);
    expect(outcome).toMatchObject({ operation: NAME, effect: EFFECTS[code] });
    const { message } = error as Error;
    expect(message).toMatch(/^once: \["pay","c1"\]: .+\.$/);
    // Only long texts contain what `explain` says.
    const { summary, steps, guide } = explain(outcome as Outcome);
    for (const known of [summary.slice(1), ...steps, guide]) expect(message.includes(known), known).toBe(!LEAN);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name: 'OnceError', code, message, outcome: { effect: EFFECTS[code] } });
  });

  test('ERR_ONCE_STORE after an attempt does not say that nothing was sent', async () => {
    const { world, tab, once } = newWorld().open();
    tab.faults.next('none', 'look-fails');
    const { error, outcome } = await world.end(tab, pay(once), charged(lost()));
    expect(isOnceError(error, 'ERR_ONCE_STORE')).toBe(true);
    expect(outcome).toMatchObject({ effect: 'unknown', reason: 'store', attempts: 1 });
    expect((error as Error).message).not.toContain('nothing was sent');
  });

  test('ERR_ONCE_ALREADY_SETTLED after an attempt, which may have been the one that took effect, does not say that this call changed nothing', async () => {
    const world = newWorld();
    const [{ tab, once }, other] = [world.open(), world.open()];
    const [call] = await world.begin(pay(once), charged(lost()));
    tab.freeze();
    world.locks.die(tab);
    await world.run(settle(other.once, NAME, 'done'));
    tab.thaw();
    const { error, outcome } = await world.end(tab, call);
    expect(isOnceError(error, 'ERR_ONCE_ALREADY_SETTLED')).toBe(true);
    expect(outcome).toMatchObject({ effect: 'done', attempts: 1 });
    expect((error as Error).message).not.toContain('changed nothing');
  });

  test('each code has a message of its own', () => {
    const codes = Object.keys(WAYS) as OnceErrorCode[];
    const outcomeOfCode = (code: OnceErrorCode): Outcome =>
      code === 'ERR_ONCE_UNSENT' ? { ...OUTCOME, type: 'unsent', effect: 'none', reason: 'offline' } : OUTCOME;
    const messages = codes.map((code) => new OnceError(code, outcomeOfCode(code)).message);
    expect(new Set(messages).size).toBe(codes.length);
  });
});

describe('cause and response', () => {
  test('the native cause is what the transport threw', async ({ world, tab, once }) => {
    const cause = new TypeError('Failed to fetch');
    const { error } = await world.end(tab, pay(once, ONE), () => Promise.reject(cause));
    expect((error as Error).cause).toBe(cause);
  });

  test('the response is there, but it is no enumerable field of the error', () => {
    const response = new Response('body');
    const error = new OnceError('ERR_ONCE_UNKNOWN', OUTCOME, { response });
    expect(error.response).toBe(response);
    expect(Object.keys(error)).not.toContain('response');
    expect({ ...error }).not.toHaveProperty('response');
  });

  test('an error has no cause if there was none', () => expect('cause' in new OnceError('ERR_ONCE_UNKNOWN', OUTCOME)).toBe(false));
});

test("two copies of the package know each other's errors, outcomes and operations under way", async () => {
  vi.resetModules();
  const other = await import('../../src/entries/index.js');
  expect(other.isOnceError).not.toBe(isOnceError);
  const error = new OnceError('ERR_ONCE_BUSY', OUTCOME);
  expect(other.isOnceError(error, 'ERR_ONCE_BUSY')).toBe(true);
  expect(other.outcomeOf(error)).toBe(OUTCOME);
  const response = new Response();
  registry().outcomes.set(response, OUTCOME);
  expect(other.outcomeOf(response)).toBe(OUTCOME);
});

test.each([undefined, null, 0, '', 'ERR_ONCE_BUSY', {}, { code: 'ERR_ONCE_BUSY' }, new Error('once'), () => {}])('isOnceError: %s is no OnceError', (value) => {
  expect(isOnceError(value)).toBe(false);
});

describe('outcomeOf', () => {
  const error = new OnceError('ERR_ONCE_UNKNOWN', OUTCOME);
  const wrap = (depth: number, name: string): unknown => (depth === 0 ? error : { [name]: wrap(depth - 1, name) });

  test.each(['request', 'response', 'cause', 'detail', 'networkError', 'originalError', 'meta', 'context', 'error'])(
    'walks %s, four levels deep and no deeper',
    (name) => {
      for (const depth of [0, 1, 2, 3, 4]) expect(outcomeOf(wrap(depth, name))).toBe(OUTCOME);
      expect(outcomeOf(wrap(5, name))).toBeUndefined();
    },
  );

  test('of an unrelated value is undefined', () => {
    for (const value of [undefined, null, 1, 'x', Symbol('x'), {}, new Response(), new Error('x'), () => {}]) expect(outcomeOf(value)).toBeUndefined();
  });

  // It is called in catch blocks, where React's Suspense, for one, throws promises. It must not hide what was thrown.
  test('of a promise is undefined, and does not throw', () => expect(outcomeOf(Promise.resolve(new Response()) as unknown)).toBeUndefined());

  test('of something thenable that carries an outcome is that outcome', () => {
    expect(outcomeOf(Object.assign(Promise.resolve(), { response: error }))).toBe(OUTCOME);
  });

  test('survives circular references and getters that throw', () => {
    const circle: Record<string, unknown> = {};
    circle['cause'] = circle;
    circle['response'] = circle;
    expect(outcomeOf(circle)).toBeUndefined();
    const hostile = {
      get request() {
        throw new Error('not yet');
      },
      cause: error,
    };
    expect(outcomeOf(hostile)).toBe(OUTCOME);
  });

  test('survives a revoked Proxy, such as Immer leaves behind, even inside an error; so does isOnceError', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect([outcomeOf(proxy), isOnceError(proxy)]).toEqual([undefined, false]);
    expect(outcomeOf({ request: proxy, cause: error })).toBe(OUTCOME);
  });

  test('prefers the nearest error', () => {
    const other = { ...OUTCOME, key: 'nearer' };
    expect(outcomeOf({ cause: new OnceError('ERR_ONCE_BUSY', other), response: { cause: error } })).toBe(other);
  });

  test('is plain data: it survives structuredClone and JSON', async ({ world, tab, once }) => {
    const { outcome } = await world.end(tab, pay(once), answers(201));
    expect(structuredClone(outcome)).toEqual(outcome);
    expect(JSON.parse(JSON.stringify(outcome))).toMatchObject({ type: 'fresh', key: outcome?.key });
  });

  test("of a plain fetch's answer is undefined", async ({ world, tab }) => {
    const once = tab.once({ fetch: tab.fetch });
    expect((await world.end(tab, watched(once.fetch(URL_)), answers(200))).outcome).toBeUndefined();
    expect((await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: '{}', once: false })), answers(201))).outcome).toBeUndefined();
    expect(world.server.keys).toEqual([null, null]);
  });
});

test('printName is short, whatever the name', () => {
  expect(printName(['x'.repeat(5000)]).length).toBeLessThanOrEqual(100);
  expect(printName(undefined)).toBe('unnamed operation');
  expect(printName([])).toBe('unnamed operation');
  expect(printName(['pay', 12n])).toContain('12');
});

test('the error of a call that joined says so, and that of the first call does not', async ({ world, tab, once }) => {
  world.server.plays(delayed(SECOND, charged(lost())));
  const [first, second] = await world.all(tab, pay(once, ONE), pay(once, ONE));
  expect([first?.error, second?.error]).toMatchObject([{ outcome: { joined: false } }, { outcome: { joined: true } }]);
});
