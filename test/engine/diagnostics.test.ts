/**
 * Goal: each sign of a wrong set-up is reported with its code, a sentence and a link. This file has the signs that need no
 * browser; the others are in `test/browser/engine`.
 */
import { describe, expect } from 'vitest';
import { registry } from '../../src/engine/registry.js';
import { createOnce, memoryStore, move, type Once, type OnceEvent, pending, polling, subscribe } from '../../src/entries/index.js';
import { answers, charged, during, type Entry, lost, replays, shaped } from '../support/server.js';
import { DAY, NAME, newWorld, ONE, pay, rest, SECOND, test, URL_ } from '../support/world.js';

function listening(once: Once): Extract<OnceEvent, { type: 'diagnostic' }>[] {
  const told: Extract<OnceEvent, { type: 'diagnostic' }>[] = [];
  subscribe(once, (event) => event.type === 'diagnostic' && told.push(event));
  return told;
}

describe('a diagnostic', () => {
  test('move-conflict: both namespaces have an unsettled operation of one name', async ({ world, tab }) => {
    const [guest, user] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    await world.end(tab, pay(guest, ONE), charged(lost()));
    await world.end(tab, pay(user, ONE), lost());
    const told = listening(user);
    await world.run(move(user, 'guest'));
    expect(told).toMatchObject([{ code: 'move-conflict', operation: NAME, foreign: false }]);
  });

  test.each([
    ['none, or none that the page can read', {}],
    ['one on another origin', { location: 'https://jobs.example/1' }],
  ])('poll-link: a 202 that is to be polled has %s', async (_, link) => {
    const { world, tab, once } = newWorld().open({ use: [polling()], accepted: 'poll', limits: { attempts: 1 } });
    const told = listening(once);
    const end = await world.end(tab, pay(once, ONE), charged(answers(202, '', link)));
    expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    expect(told).toMatchObject([{ code: 'poll-link', operation: NAME }]);
  });

  test('unsettled-forgotten: nobody settled it for thirty days', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, ONE), charged(lost()));
    await world.clock.advance(32 * DAY);
    await world.end(tab, pay(once, { operation: ['pay', 'another'] }), answers(201, { id: 'ch_2' }));
    await world.clock.advance(8 * DAY);
    const later = tab.once();
    const told = listening(later);
    await world.end(tab, pay(later, { operation: ['pay', 'a third'] }), answers(201, { id: 'ch_3' }));
    await rest();
    expect(told).toMatchObject([{ code: 'unsettled-forgotten', operation: NAME }]);
    expect(await world.run(pending(once))).toEqual([]);
  });

  test('unsettled-forgotten: one of another user is foreign, one of the present user is not', async ({ world, tab }) => {
    const [ann, bert] = ['ann', 'bert'].map((namespace) => tab.once({ namespace })) as [Once, Once];
    for (const once of [ann, bert]) await world.end(tab, pay(once, ONE), charged(lost()));
    await world.clock.advance(32 * DAY);
    await world.end(tab, pay(ann, { operation: ['pay', 'another'] }), answers(201, { id: 'ch_2' }));
    await world.clock.advance(8 * DAY);
    const later = tab.once({ namespace: 'ann' });
    const told = listening(later);
    await world.end(tab, pay(later, { operation: ['pay', 'a third'] }), answers(201, { id: 'ch_3' }));
    await rest();
    expect(told.map(({ code, key, foreign }) => [code, key, foreign]).sort()).toEqual(
      [
        ['unsettled-forgotten', world.server.keys[0], false],
        ['unsettled-forgotten', world.server.keys[1], true],
      ].sort(),
    );
  });

  test('unsettled-forgotten: each is foreign once nobody is logged in any more', async ({ world, tab }) => {
    for (const namespace of ['ann', 'bert']) await world.end(tab, pay(tab.once({ namespace }), ONE), charged(lost()));
    await world.clock.advance(32 * DAY);
    await world.end(tab, pay(tab.once({ namespace: 'ann' }), { operation: ['pay', 'another'] }), answers(201, { id: 'ch_2' }));
    await world.clock.advance(8 * DAY);
    let user: string | undefined = 'ann';
    const logsOut = () => void (user = undefined);
    const last = tab.once({ namespace: () => user as string, onOutcome: logsOut });
    const told = listening(last);
    await world.end(tab, pay(last, { operation: ['pay', 'a third'] }), answers(201, { id: 'ch_3' }));
    await rest();
    expect(told.map(({ code, foreign }) => [code, foreign])).toEqual(Array(2).fill(['unsettled-forgotten', true]));
  });

  test('is reported once for each endpoint, with a sentence and a link', async ({ world, tab, once }) => {
    const told = listening(once);
    world.server.otherwise = answers(201, {}, { 'idempotency-status': 'ignored' });
    await world.end(tab, pay(once, { operation: ['pay', 1] }));
    await world.end(tab, pay(once, { operation: ['pay', 2] }));
    expect(told).toMatchObject([{ code: 'key-ignored', message: expect.stringMatching(/^[a-z].* \(docs\/diagnostics\.md#key-ignored; .*\)$/) }]);
  });
});

test('a diagnostic that nobody listened to is reported when it occurs again', async ({ world, tab, once }) => {
  world.server.otherwise = answers(201, {}, { 'idempotency-status': 'ignored' });
  await world.end(tab, pay(once, { operation: ['pay', 1] }));
  const told = listening(once);
  await world.end(tab, pay(once, { operation: ['pay', 2] }));
  expect(told).toMatchObject([{ code: 'key-ignored', operation: ['pay', 2] }]);
});

test('a server that ignores the key, with an endpoint for each order, does not fill the memory, and its latest endpoint is known', async () => {
  const { ignored, noticed } = registry();
  const before = Array.from({ length: 1000 }, (_, order) => `POST https://ignores.example/orders/${order}/pay`);
  for (const endpoint of before) {
    ignored.set(endpoint, true);
    noticed.set(`key-ignored ${endpoint}`, true);
  }
  const shop: typeof globalThis.fetch = async () => Response.json({}, { headers: { 'idempotency-status': 'ignored' } });
  const once = createOnce({ store: memoryStore(), fetch: shop });
  await once.fetch('https://ignores.example/orders/1000/pay', { method: 'POST', once: ['ignored', 1000] });
  expect([ignored.size, noticed.size]).toEqual([1000, 1000]);
  expect(ignored.has('POST https://ignores.example/orders/1000/pay')).toBe(true);
  for (const endpoint of before) {
    ignored.delete(endpoint);
    noticed.delete(`key-ignored ${endpoint}`);
  }
});

describe('diagnostics of answers, or of their absence', () => {
  const ELSEWHERE = 'https://api.example/payments';
  const cors = (entry: Entry): Entry => shaped(entry, { type: 'cors' });
  const ASKED = { 'retry-after': '1' };

  async function codes(url: string, entries: readonly Entry[]): Promise<unknown[]> {
    const { world, tab, once } = newWorld().open({ limits: { attempts: entries.length, inProgressMs: 1 } });
    const told = listening(once);
    await world.end(tab, pay(once, { url }), ...entries);
    return told.map(({ code, key }) => [code, key === world.server.keys[0]]);
  }

  test.each<[string, string, readonly Entry[], readonly string[]]>([
    ['asks for a retry, and does not show when', ELSEWHERE, [cors(answers(503)), cors(answers(201))], ['retry-after-hidden', 'replay-hidden']],
    ['says too many requests, and does not show for how long', ELSEWHERE, [cors(answers(429)), cors(answers(201))], ['retry-after-hidden']],
    ['says in progress, and does not show for how long', ELSEWHERE, [cors(answers(409))], ['retry-after-hidden']],
    ['says locked, and does not show for how long', ELSEWHERE, [cors(answers(423))], ['retry-after-hidden']],
    ['shows when to retry', ELSEWHERE, [cors(answers(429, '', ASKED)), cors(answers(201))], []],
    ['is a failure of another kind', ELSEWHERE, [cors(answers(500))], []],
    ['comes from the same origin', URL_, [answers(503), answers(201)], []],
    ['follows a lost one, without a marker', ELSEWHERE, [charged(lost()), cors(answers(201))], ['replay-hidden']],
    ['follows a lost one, with its marker', ELSEWHERE, [charged(lost()), cors(replays())], []],
    ['follows a lost one, and is no 2xx', ELSEWHERE, [charged(lost()), cors(answers(303, ''))], []],
    ['is the first one, and needs no marker', ELSEWHERE, [cors(answers(201))], []],
    ['does not come, twice', ELSEWHERE, [lost(), lost()], ['preflight-suspected']],
    ['does not come, once', ELSEWHERE, [lost()], []],
    ['does not come from the own origin, twice', URL_, [lost(), lost()], []],
    ['says that the key was ignored', URL_, [answers(201, {}, { 'idempotency-status': ' Ignored ' })], ['key-ignored']],
    ['says so in an older header', URL_, [answers(201, {}, { 'x-idempotency-status': 'ignored' })], ['key-ignored']],
    ['says anything else about the key', URL_, [answers(201, {}, { 'idempotency-status': 'not ignored' })], []],
    ['says more about the key', URL_, [answers(201, {}, { 'idempotency-status': 'ignored-not' })], []],
    ['says another word about the key', URL_, [answers(201, {}, { 'idempotency-status': 'unignored' })], []],
  ])('an answer that %s', async (_, url, entries, expected) => expect(await codes(url, entries)).toEqual(expected.map((code) => [code, true])));

  test('no answer leads to no diagnostic while the device is offline', async ({ world }) => {
    const { tab, once } = world.open({ limits: { attempts: 2 } });
    const told = listening(once);
    world.server.plays(
      during(() => tab.connect(false), lost()),
      lost(),
    );
    // The page is shown again, so the next attempt is made although the device is still offline.
    world.clock.timer(2 * SECOND, () => tab.wake());
    await world.end(tab, pay(once, { url: ELSEWHERE }));
    expect(world.server.arrivals).toHaveLength(2);
    expect(told).toEqual([]);
  });

  test('no answer leads to no diagnostic if there is no page whose origin could be refused', async ({ world, tab }) => {
    Object.assign(tab.platform, { origin: undefined });
    const once = tab.once({ limits: { attempts: 2 } });
    const told = listening(once);
    await world.end(tab, pay(once), lost(), lost());
    expect(told).toEqual([]);
  });

  test('an endpoint is reported once, whatever its query; another method is another endpoint', async ({ world, tab, once }) => {
    const told = listening(once);
    world.server.otherwise = answers(201, {}, { 'idempotency-status': 'ignored' });
    for (const [id, query, method] of [
      [1, '?a', 'POST'],
      [2, '?b', 'POST'],
      [3, '?b', 'PATCH'],
    ] as const)
      await world.end(tab, pay(once, { operation: ['pay', id], url: `${URL_}${query}`, init: { method } }));
    expect(told.map(({ message }) => /(?:POST|PATCH) https:\S+/.exec(message)?.[0])).toEqual([`POST ${URL_})`, `PATCH ${URL_})`]);
  });
});
