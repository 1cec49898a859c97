/**
 * Goal: an operation that may have charged the customer never gets another key, and is never told as "none" (attacks 1 to 4, 25).
 * Method: the sequences that broke earlier drafts, played step by step against the real engine.
 */
import { describe, expect } from 'vitest';
import { nodePlatform } from '../../src/platform/node/index.js';
import { answers, charged, cut, hangs, lost, replays, stalls, unreachable } from '../support/server.js';
import { CART, NAME, pay, saying, test } from '../support/world.js';

/** Ends of an attempt behind which a charge may be hidden. */
const UNSURE = {
  'no answer': lost(),
  'a cut body': cut(201),
  'a 500': answers(500),
  'a 502': answers(502),
  'a 503': answers(503),
  'a 504': answers(504),
  'a 511': answers(511),
  'a 599': answers(599),
  'a 408': answers(408),
  'a 460': answers(460),
  'a 499': answers(499),
  'a 409 in progress': answers(409, '', { 'retry-after': '1' }),
  'a 423 in progress': answers(423),
} as const;

describe('A1: after an attempt that may have charged, a refusal keeps the key', () => {
  test.for(Object.entries(UNSURE))('A1: %s, then a 401, keeps the key', async ([_, unsure], { world, tab, once }) => {
    const refused = await world.end(tab, pay(once), charged(unsure), answers(401));
    expect(refused).toMatchObject({ status: 401, outcome: { type: 'unknown', effect: 'unknown', reason: 'refused-after-ambiguity', sent: 'yes' } });
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: true });
    expect(await world.end(tab, pay(once), replays())).toMatchObject({ status: 201, outcome: { type: 'replayed', effect: 'done', key: refused.outcome?.key } });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('A1: a 504, a reload, then a 401, keeps the key', async ({ world }) => {
    const key = await world.interrupted(charged(answers(504)));
    const { tab, once } = world.open();
    expect(await world.end(tab, pay(once), answers(401))).toMatchObject({ status: 401, outcome: { effect: 'unknown', key, resumed: true } });
    expect(world.record()).toMatchObject({ state: 'pending', key });
  });

  test.for([425, 429, 421])('a %i leaves no ambiguity: a 401 after it is a clean refusal', async (status, { world, tab, once }) => {
    world.server.plays(answers(status), answers(401));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 401, outcome: { type: 'rejected', effect: 'none', attempts: 2 } });
    expect(world.record()).toMatchObject({ state: 'retired' });
  });

  test('ambiguity never goes away: a timeout, then 429s, then a 401, keeps the key', async ({ world, tab, once }) => {
    world.server.plays(charged(lost()), answers(429), answers(425), answers(401));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 401, outcome: { effect: 'unknown', attempts: 4 } });
    expect(world.record()).toMatchObject({ state: 'pending' });
  });
});

describe('A2: a refusal after ambiguity settles only when the server keeps it', () => {
  test('A2: after a first attempt that hangs, and a 402, the next card is sent under the same key', async ({ world, tab, once }) => {
    expect(await world.end(tab, pay(once), hangs(), answers(402, { error: 'declined' }))).toMatchObject({ status: 402, outcome: { effect: 'unknown' } });
    // The first attempt may still arrive. Both cards have one key, so only one of them can be charged.
    const paid = await world.end(tab, pay(once, { body: { ...CART, card: 'B' } }), answers(201));
    expect(paid).toMatchObject({ status: 201, outcome: { effect: 'done', changed: true, certain: false } });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('A2: a replayed refusal after a timeout is rejected, because a late copy gets it too', async ({ world, tab, once }) => {
    const declined = await world.end(tab, pay(once), lost(), replays(402, { error: 'declined' }));
    expect(declined).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none', replayed: true } });
    const paid = await world.end(tab, pay(once, { body: { ...CART, card: 'B' } }), answers(201));
    expect(paid.outcome).toMatchObject({ type: 'fresh', certain: true, changed: false });
    expect(paid.outcome?.key).not.toBe(declined.outcome?.key);
  });
});

describe('A3: a replayed 5xx is burnt, not rejected', () => {
  test.for([
    ['done', 'ERR_ONCE_ALREADY_DONE', 'done'],
    ['unknown', undefined, 'unknown'],
  ] as const)('A3: asks reconcile, which may say %s', async ([said, code, effect], { world, tab, once }) => {
    world.server.plays(charged(replays(500)));
    const asked: unknown[] = [];
    const reconcile = saying(asked, said);
    expect(await world.end(tab, pay(once, { reconcile }))).toMatchObject({ code, outcome: { effect } });
    expect(asked).toMatchObject([{ operation: NAME, key: world.server.keys[0], reason: 'burnt', response: { status: 500 } }]);
  });
});

describe('A4: an error alone does not tell whether a request left', () => {
  test.for([true, false, undefined])('A4: in a browser a rejected fetch is ambiguous, with onLine %s', async (online, { world, tab, once }) => {
    tab.online = online;
    // A device that is offline makes no second attempt.
    const end = await world.end(tab, pay(once), charged(lost()), ...(online === false ? [] : [answers(401)]));
    expect(end.outcome).toMatchObject({ effect: 'unknown', sent: online === false ? 'maybe' : 'yes' });
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('A4: if the platform knows that nothing left, there is no ambiguity', async ({ world, tab, once }) => {
    world.server.plays(unreachable(), unreachable(), answers(401));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 401, outcome: { type: 'rejected', effect: 'none', attempts: 3 } });
  });

  const refusal = (code: string) => Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) });
  test.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])(
    'A4: in Node %s proves that nothing left only if no redirect can have been followed',
    (code) => {
      const transport = nodePlatform().transport(undefined);
      expect(transport.neverSent(refusal(code), { redirect: 'manual' })).toBe(true);
      expect(transport.neverSent(refusal(code), {})).toBe(false);
      expect(transport.neverSent(refusal(code), { redirect: 'follow' })).toBe(false);
      expect(transport.neverSent(refusal(code), { redirect: 'error' })).toBe(false);
    },
  );

  test.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT'])('A4: in Node %s never proves that nothing left', (code) => {
    expect(nodePlatform().transport(undefined).neverSent(refusal(code), { redirect: 'manual' })).toBe(false);
  });

  test('A4: the errors of another fetch prove nothing', () => {
    expect(nodePlatform().transport(fetch).neverSent(refusal('ECONNREFUSED'), { redirect: 'manual' })).toBe(false);
  });
});

describe('A25: the ways in which the last attempt ends', () => {
  test('A25: if the last attempt has no answer, the call rejects, whatever came before', async ({ world, tab, once }) => {
    expect(await world.end(tab, pay(once, { limits: { attempts: 2 } }), answers(503), lost())).toMatchObject({ status: undefined, code: 'ERR_ONCE_UNKNOWN' });
  });

  test('A25: if nothing ever left, the outcome is unsent, and the record is gone before the caller hears of it', async ({ world, tab, once }) => {
    world.server.plays(...[1, 2, 3, 4, 5].map(() => unreachable()));
    const call = pay(once);
    let recordThen: unknown = 'not looked';
    call.catch(() => (recordThen = world.record()));
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', effect: 'none', sent: 'no' } });
    expect(recordThen).toBeUndefined();
  });

  test('A25: if the headers hook throws, nothing is sent, and the outcome is unsent', async ({ world, tab, once }) => {
    const cause = new Error('no token');
    const end = await world.end(tab, pay(once, { headers: () => Promise.reject(cause) }));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', sent: 'no', attempts: 0 } });
    expect((end.error as Error).cause).toBe(cause);
    expect(world.record()).toBeUndefined();
  });

  test('A25: a reconcile that throws or never answers leaves the effect unknown', async ({ world, tab, once }) => {
    const cause = new Error('order page is down');
    world.server.plays(charged(lost()), answers(401), answers(401));
    expect(await world.end(tab, pay(once, { reconcile: () => Promise.reject(cause) }))).toMatchObject({ status: 401, outcome: { effect: 'unknown' } });
    expect(tab.reported).toEqual([cause]);
    expect(await world.end(tab, pay(once, { reconcile: () => new Promise(() => {}) }))).toMatchObject({ status: 401, outcome: { effect: 'unknown' } });
  });

  test('A25: a fresh 2xx after ambiguity on a server without a marker is done, but not certain', async ({ world, tab, once }) => {
    expect((await world.end(tab, pay(once), charged(lost()), answers(201))).outcome).toMatchObject({ type: 'fresh', effect: 'done', certain: false });
  });

  test('A52: a body that never ends is cut by the timer, which covers the body', async ({ world, tab, once }) => {
    expect(await world.end(tab, pay(once), charged(stalls(201)), replays())).toMatchObject({ status: 201, outcome: { type: 'replayed', attempts: 2 } });
    expect(world.server.gaps[0]).toBeGreaterThanOrEqual(30_000);
  });
});

test('a platform that throws while it judges the error of an attempt does not make that attempt "nothing was sent"', async ({ world, tab }) => {
  const { transport } = tab.platform;
  const neverSent = (): never => {
    throw new Error('no such property');
  };
  Object.assign(tab.platform, { transport: (fetch: typeof globalThis.fetch | undefined) => ({ ...transport(fetch), neverSent }) });
  const end = await world.end(tab, pay(tab.once(), { limits: { attempts: 1 } }), charged(lost()));
  expect(end.outcome).toMatchObject({ effect: 'unknown', sent: 'maybe' });
});
