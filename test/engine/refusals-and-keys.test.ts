/**
 * Goal: only the application uses up a key. A refusal that may come from in front of it (a log-in, a proxy, a rate limit) leaves the key in use. Where the
 * platform may send a request again unseen, such a refusal does not prove that nothing happened.
 */
import { describe, expect } from 'vitest';
import { stripe } from '../../src/dialects/stripe.js';
import { type Outcome, pending, resumeOne, settle } from '../../src/entries/index.js';
import { answers, charged, during, lost, replays, unreachable } from '../support/server.js';
import { CART, DAY, MINUTE, NAME, newWorld, ONE, pay, saying, test, watched } from '../support/world.js';

const IN_FRONT = [401, 403, 404, 405, 407, 413, 415, 418, 419, 420, 421, 425, 426, 428, 429, 430, 431, 440, 451, 463, 494, 498, 501, 505];
const OF_THE_APPLICATION = [400, 406, 409, 410, 411, 412, 414, 416, 417, 422, 423, 424];
const code = (status: number) => answers(status, { code: 'not_so' });

const CARD_B = { ...CART, card: 'B' };

describe('in a browser, which may have sent a copy unseen', () => {
  const browser = () => {
    const world = newWorld();
    return { ...world.open({ limits: { attempts: 1 } }, { resends: true }) };
  };

  test.each(IN_FRONT)('an unseen copy charges, the other copy gets a %i from in front: unknown, and the next press sends the same key', async (status) => {
    const { world, tab, once } = browser();
    const refused = await world.end(tab, pay(once), charged(code(status)));
    expect(refused).toMatchObject({ status, outcome: { type: 'unknown', effect: 'unknown', reason: 'refused' } });
    expect(await pending(once)).toMatchObject([{ name: NAME, sent: 'maybe' }]);
    expect(await world.end(tab, pay(once), replays())).toMatchObject({ status: 201, outcome: { type: 'replayed', key: refused.outcome?.key } });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('an unseen copy charges, the other copy gets an HTML page of a proxy: after a reload, another card goes out under the same key', async () => {
    const { world, tab, once } = browser();
    const refused = await world.end(tab, pay(once), charged(answers(400, '<html>Bad Request</html>', { 'content-type': 'text/html' })));
    expect(refused.outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
    const next = tab.reload();
    const paid = await world.end(next, pay(next.once(), { body: CARD_B }), replays());
    // The replay may answer a copy of this very request, so nobody knows which payload took effect.
    expect(paid).toMatchObject({ status: 201, outcome: { effect: 'done', certain: false, changed: true, key: refused.outcome?.key } });
  });

  test('a refusal of the application is none, because the key layer in front of it has looked the key up', async () => {
    const { world, tab, once } = browser();
    const declined = await world.end(tab, pay(once), answers(402, { error: 'declined' }));
    expect(declined.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    const paid = await world.end(tab, pay(once, { body: CARD_B }), answers(201));
    expect(paid.outcome).toMatchObject({ type: 'fresh', certain: true, changed: false });
    expect(paid.outcome?.key).not.toBe(declined.outcome?.key);
  });

  test('an unseen copy charges, the other copy hears that the key is in use for another request: unknown, and no press goes on under a new key', async () => {
    const { world, tab } = browser();
    const once = tab.once({ dialect: stripe(), limits: { attempts: 1 } });
    const used = answers(400, { error: { type: 'idempotency_error' } });
    expect((await world.end(tab, pay(once), charged(used))).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
    expect((await world.end(tab, pay(once), used)).outcome).toMatchObject({ effect: 'unknown' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('a refusal from in front, then a decline by the application: none', async () => {
    const { world, tab, once } = browser();
    await world.end(tab, pay(once), answers(401));
    expect(await world.end(tab, pay(once), answers(402))).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none' } });
  });

  test.each([
    ['in the same press', 2, [[lost(), answers(402)]]],
    ['in the next one', 1, [[lost()], [answers(402)]]],
  ])(
    'a refusal from in front, a lost answer, and a decline %s: unknown, because a repetition may be declined after the effect',
    async (_, attempts, presses) => {
      const { world, tab } = browser();
      const once = tab.once({ limits: { attempts } });
      await world.end(tab, pay(once), answers(401));
      let outcome: Outcome | undefined;
      for (const answered of presses) ({ outcome } = await world.end(tab, pay(once), ...answered));
      expect(outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
      await world.end(tab, pay(once), replays());
      expect(new Set(world.server.keys).size).toBe(1);
    },
  );

  test('a refusal from in front that the server replays with its mark: the call goes on under a new key', async () => {
    const { world, tab, once } = browser();
    const first = await world.end(tab, pay(once), answers(401));
    const paid = await world.end(tab, pay(once), replays(401), answers(201));
    expect(paid).toMatchObject({ status: 201, outcome: { type: 'fresh', effect: 'done' } });
    expect(paid.outcome?.key).not.toBe(first.outcome?.key);
  });

  test('a refusal from in front that the server replays with its mark to a resume, which cannot store that: unknown', async () => {
    const world = newWorld();
    const options = { namespace: 'ann', keep: { request: true }, limits: { attempts: 1 } };
    const { tab, once } = world.open(options, { resends: true });
    await world.end(tab, pay(once), answers(401));
    world.server.plays(during(() => tab.faults.rate('fail-before-commit', 1), replays(401)));
    expect((await world.end(tab, watched(resumeOne(once, NAME)) as Promise<never>)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
  });

  test('a refusal from in front, then a press without a connection: still unknown', async () => {
    const { world, tab, once } = browser();
    await world.end(tab, pay(once), charged(answers(401)));
    expect((await world.end(tab, pay(once), unreachable())).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test("reconcile is asked, and its 'none' settles", async () => {
    const { world, tab, once } = browser();
    const asked: unknown[] = [];
    const end = await world.end(tab, pay(once, { reconcile: saying(asked, 'none') }), answers(403));
    expect(end).toMatchObject({ status: 403, outcome: { type: 'rejected', effect: 'none' } });
    expect(asked).toMatchObject([{ reason: 'refused' }]);
  });

  test('an abort while a 429 is waited out does not prove that nothing happened', async ({ world }) => {
    const { tab, once } = world.open({}, { resends: true });
    const abort = new AbortController();
    let told: unknown;
    world.server.plays(charged(answers(429, '', { 'retry-after': '20' })));
    const call = pay(once, { signal: abort.signal, onOutcome: (outcome) => void (told = outcome) });
    await world.clock.advance(5000);
    abort.abort();
    await world.run(call.catch(() => {}));
    expect(told).toMatchObject({ effect: 'unknown' });
    expect(tab.outcomeOf(abort.signal.reason)).toMatchObject({ effect: 'unknown' });
  });
});

describe('on a platform that sends nothing unseen', () => {
  test.for([...IN_FRONT, ...OF_THE_APPLICATION])('a %i is none, and the next call sends the same key', async (status, { world }) => {
    const { tab, once } = world.open(ONE);
    const refused = await world.end(tab, pay(once), code(status));
    expect(refused).toMatchObject({ status, outcome: { type: 'rejected', effect: 'none', sent: 'yes' } });
    expect(await pending(once)).toEqual([]);
    const paid = await world.end(tab, pay(once, { body: CARD_B }), answers(201));
    expect(paid).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true, resumed: false } });
    expect(paid.outcome?.key).toBe(refused.outcome?.key);
  });

  test('a refusal that the server replays with its mark gives way to a new key within the call', async ({ world, tab, once }) => {
    const refused = await world.end(tab, pay(once), answers(422, { code: 'no_stock' }));
    const paid = await world.end(tab, pay(once), replays(422, { code: 'no_stock' }), answers(201));
    expect(paid).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
    expect(paid.outcome?.key).not.toBe(refused.outcome?.key);
  });

  test('a refusal that the server keeps without a mark: when the same refusal comes again, the call goes on under a new key', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(422, { code: 'no_stock' }));
    expect(await world.end(tab, pay(once, { body: CARD_B }), answers(422, { code: 'no_stock' }), answers(201))).toMatchObject({
      status: 201,
      outcome: { type: 'fresh' },
    });
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('a server that compares payloads and keeps its refusals: the corrected form goes on under a new key', async ({ world, tab, once }) => {
    const refusal = answers(422, { code: 'bad_address' });
    // The first form is not sent again: its caller was told none.
    await world.end(tab, pay(once), refusal);
    expect(await world.end(tab, pay(once, { body: CARD_B }), answers(422, { title: 'Idempotency-Key is already used' }), answers(201))).toMatchObject({
      status: 201,
      outcome: { type: 'fresh' },
    });
  });

  test('a refused key is not sent again past its window', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(422, { code: 'no' }));
    await world.clock.advance(DAY);
    await world.end(tab, pay(once), answers(201));
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test("two tabs press at once under a key that stayed in use: with repeat: 'always', too, they have one effect", async ({ world }) => {
    const [one, two] = [world.tab(), world.tab()];
    const first = one.once();
    await world.end(one, pay(first), code(422));
    const calls = [pay(first, { repeat: 'always' }), pay(two.once(), { repeat: 'always' })] as const;
    expect((await world.end(one, calls[0], answers(201))).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.end(two, calls[1])).outcome).toMatchObject({ type: 'replayed', effect: 'done' });
    expect(world.server.charged.size).toBe(1);
  });

  test('a call that is aborted before it leaves restores the refused record', async ({ world, tab, once }) => {
    const refused = await world.end(tab, pay(once), code(422));
    tab.connect(false);
    const abort = new AbortController();
    const call = pay(once, { signal: abort.signal });
    await world.clock.advance(100);
    abort.abort();
    await world.run(call.catch(() => {}));
    expect(world.record()).toMatchObject({ state: 'retired', key: refused.outcome?.key, keyInUse: true });
  });
});

test("settling by hand as 'none' uses up a key that stayed in use: a press in another tab sends a new key", async ({ world, tab, once }) => {
  await world.end(tab, pay(once), answers(401));
  expect(world.record()).toMatchObject({ state: 'retired', keyInUse: true });
  await world.run(settle(once, NAME, 'none'));
  const other = world.open();
  expect(await world.end(other.tab, pay(other.once, { body: CARD_B }), answers(201))).toMatchObject({ outcome: { type: 'fresh' } });
  expect(new Set(world.server.keys).size).toBe(2);
});

describe('pressed offline under a key that stayed in use, and the page closed before anything left', () => {
  test.for([
    ['the same payload', CART],
    ['another payload', CARD_B],
  ] as const)('%s: the next press sends that key', async ([_, body], { world, tab, once }) => {
    const refused = await world.end(tab, pay(once), code(422));
    tab.connect(false);
    void pay(once);
    await world.clock.advance(100);
    expect(world.record()).toMatchObject({ state: 'pending', key: refused.outcome?.key, ambiguous: false });
    const next = tab.reload();
    next.connect(true);
    world.server.plays(code(422), answers(201));
    // The server keeps its refusal and does not mark it: the call goes on under a new key, as it does without the reload.
    expect(await world.end(next, pay(next.once(), { body }))).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(world.server.keys[1]).toBe(refused.outcome?.key);
    expect(world.server.keys[2]).not.toBe(refused.outcome?.key);
  });
});

describe('a decline whose answer was lost, at a server that marks no replay', () => {
  test('two minutes later the same decline proves that nothing was charged: none', async ({ world, tab, once }) => {
    const decline = answers(402, { error: 'declined' });
    const unsure = await world.end(tab, pay(once), lost(), decline);
    expect(unsure.outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
    expect((unsure.outcome as { retryAt?: number }).retryAt).toBe(world.clock.now() + 2 * MINUTE);
    // A copy of the lost attempt may still be under way.
    expect((await world.end(tab, pay(once), decline)).outcome).toMatchObject({ effect: 'unknown' });
    await world.clock.advance(2 * MINUTE);
    expect((await world.end(tab, pay(once), decline)).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
  });

  test('a press with another card does not wait for the two minutes', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), lost(), answers(402));
    expect(await world.end(tab, pay(once, { body: CARD_B }), answers(201))).toMatchObject({ outcome: { effect: 'done' }, ms: 0 });
  });

  test.for([401, 404, 422])('a %i proves nothing, however often it comes', async (status, { world, tab, once }) => {
    await world.end(tab, pay(once), charged(lost()), code(status));
    await world.clock.advance(10 * MINUTE);
    expect((await world.end(tab, pay(once), code(status))).outcome).toMatchObject({ effect: 'unknown' });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done' });
  });

  describe('another card, at a server that compares payloads', () => {
    const DECLINE = answers(402, { error: 'declined' });
    const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' });
    const declinedUnseen = async () => {
      const { world, tab, once } = newWorld().open();
      await world.end(tab, pay(once), lost(), DECLINE);
      return { world, tab, once, twoMinutesLater: world.clock.now() + 2 * MINUTE };
    };

    test('is told how long to wait, and goes on under a new key then', async () => {
      const { world, tab, once, twoMinutesLater } = await declinedUnseen();
      await world.clock.advance(1000);
      const early = await world.end(tab, pay(once, { body: CARD_B }), MISMATCH, DECLINE);
      expect(early).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { reason: 'mismatch', retryAt: twoMinutesLater } });
      await world.clock.advance(2 * MINUTE);
      const paid = await world.end(tab, pay(once, { body: CARD_B }), MISMATCH, DECLINE, charged(answers(201)));
      expect(paid).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
      expect(paid.outcome?.key).not.toBe(early.outcome?.key);
      expect(world.server.charged.size).toBe(1);
    });

    test('does not wait for that time by itself: the next press sends at once', async () => {
      const { world, tab, once } = await declinedUnseen();
      await world.end(tab, pay(once, { body: CARD_B }), MISMATCH, DECLINE);
      const before = world.clock.now();
      expect(await world.end(tab, pay(once, { body: CARD_B }), MISMATCH, charged(replays()))).toMatchObject({
        code: 'ERR_ONCE_ALREADY_SETTLED',
        outcome: { effect: 'done' },
      });
      expect(world.clock.now()).toBe(before);
    });

    test.each([
      ['another refusal', answers(402, { error: 'declined otherwise' })],
      ['a refusal that may come from in front', answers(401)],
      ['no answer', lost()],
    ])('%s ten minutes later proves nothing about the first card', async (_, answer) => {
      const { world, tab, once } = await declinedUnseen();
      await world.clock.advance(10 * MINUTE);
      expect(await world.end(tab, pay(once, { body: CARD_B }), MISMATCH, answer)).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown' } });
      expect(new Set(world.server.keys).size).toBe(1);
    });

    test('an attempt for the second card that got no answer starts the two minutes again', async () => {
      const { world, tab, once } = await declinedUnseen();
      await world.clock.advance(10 * MINUTE);
      const end = await world.end(tab, pay(once, { body: CARD_B }), lost(), MISMATCH, DECLINE);
      expect(end).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { retryAt: world.clock.now() + 2 * MINUTE } });
      await world.clock.advance(2 * MINUTE);
      expect(await world.end(tab, pay(once, { body: CARD_B }), MISMATCH, DECLINE, answers(201))).toMatchObject({ outcome: { type: 'fresh' } });
    });
  });
});

test('a 402 whose page is too long to be read may come from a hosting company: after a lost answer it proves nothing, however often it comes', async ({
  world,
  tab,
}) => {
  const once = tab.once({ limits: { bodyBytes: 500 } });
  const suspended = () => answers(402, `<!doctype html><title>Account suspended</title>${' '.repeat(500)}`, { 'content-type': 'text/html' });
  await world.end(tab, pay(once), charged(lost()), suspended());
  await world.clock.advance(3 * MINUTE);
  expect(await world.end(tab, pay(once), suspended())).toMatchObject({ outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
});
