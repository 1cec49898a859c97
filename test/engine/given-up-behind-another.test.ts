/**
 * Goal: "nothing was sent, and nothing will be" is said of the operation, not of the call alone. If another context is about to
 * send the same operation, a call that gives up, or whose body can't be read, is told that the effect is unknown.
 */
import { describe, expect } from 'vitest';
import { defineDialect, inBody } from '../../src/entries/dialects.js';
import { clear, close, move, type Once, type OnceOptions } from '../../src/entries/index.js';
import { answers, charged, delayed, type Entry, lost, unreachable } from '../support/server.js';
import { DAY, HOUR, MINUTE, NAME, newWorld, ONE, type Page, pay, rest, SECOND, test, URL_, watched } from '../support/world.js';

const REASON = () => new Error('the user pressed cancel');
type World = ReturnType<typeof newWorld>;
type Press = (once: Once, signal?: AbortSignal) => ReturnType<typeof pay>;
const streams = (body: () => ReadableStream): Press => {
  return (once, signal) => watched(once.fetch(URL_, { method: 'POST', body: body(), duplex: 'half', ...(signal && { signal }), once: NAME } as never));
};
const payNow: Press = (once, signal) => pay(once, { signal });
/** A payment whose body never comes to its end. */
const slowly = streams(() => new ReadableStream({ start() {} }));
/** A payment whose body is longer than the limit. */
const endlessly = streams(() => new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(100)) }));
const LIMITS = { totalMs: 2 * SECOND, bodyBytes: 1000 };

/** Presses and cancels. Returns the outcome that `outcomeOf` finds for the reason of the abort. */
async function cancelled(world: World, { tab, once }: Page, press: Press) {
  const [controller, reason] = [new AbortController(), REASON()];
  const [call] = await world.begin(press(once, controller.signal));
  controller.abort(reason);
  await world.end(tab, call);
  await rest();
  return tab.outcomeOf(reason);
}

describe.each([
  ['tabs with locks', {}],
  ['tabs without locks', { locks: false }],
  ['processes', { server: true, locks: false }],
])('while a press in another context waits for the network, %s', (_, of) => {
  async function scene() {
    const world = newWorld();
    const first = world.open({}, of);
    first.tab.online = false;
    const [call] = await world.begin(pay(first.once));
    world.server.plays(answers(201));
    /** The press in the other context goes on, and charges. */
    const charge = async () => {
      first.tab.connect(true);
      expect((await world.end(first.tab, call)).outcome).toMatchObject({ effect: 'done' });
    };
    return { charge, ...world.open({ limits: LIMITS }, of) };
  }

  test.each<[string, Press]>([
    ['while it waits', payNow],
    ['while its body is read', slowly],
  ])('an abort %s is not told as none', async (_, press) => {
    const { world, charge, ...mine } = await scene();
    expect(await cancelled(world, mine, press)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await charge();
  });

  test('closing the client is not told as none either', async () => {
    const { world, tab, once, charge } = await scene();
    const [call] = await world.begin(pay(once));
    const closed = close(once);
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await closed;
    await charge();
  });

  test.each([
    ['does not end', slowly],
    ['is too long', endlessly],
  ])('a body that %s is not told as none either', async (_, press) => {
    const { world, tab, once, charge } = await scene();
    expect(await world.end(tab, press(once))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'unknown' } });
    await charge();
  });
});

describe('while another tab has the lock and asks its key strategy, with nothing stored yet', () => {
  async function scene() {
    const world = newWorld();
    let give: (key: string) => void = () => {};
    const key = () => new Promise<string>((resolve) => void (give = resolve));
    const first = world.open();
    const [call] = await world.begin(pay(first.once, { key }));
    world.server.plays(answers(201));
    const charge = async () => {
      give('order-1');
      expect((await world.end(first.tab, call)).outcome).toMatchObject({ effect: 'done' });
    };
    return { charge, ...world.open({ limits: LIMITS }) };
  }

  test('an abort while the body is read is not told as none', async () => {
    const { world, charge, ...mine } = await scene();
    expect(await cancelled(world, mine, slowly)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await charge();
  });

  test('a body that cannot be read is not told as none either', async () => {
    const { world, tab, once, charge } = await scene();
    expect(await world.end(tab, slowly(once))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'unknown' } });
    await charge();
  });
});

test('if no other context drives the operation, it is told as none', async ({ world }) => {
  const { tab, once } = world.open({ limits: LIMITS });
  expect(await world.end(tab, slowly(once))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'none' } });
  expect(await cancelled(world, { tab, once }, slowly)).toMatchObject({ type: 'unsent', effect: 'none' });
});

test('nor is an abort while the first write of another tab is slow, after an earlier press that was refused', async ({ world, one, two }) => {
  expect((await world.end(two.tab, pay(two.once), answers(400, { code: 'bad_card' }))).outcome).toMatchObject({ effect: 'none' });
  one.tab.faults.next({ name: 'slow', ms: SECOND });
  const [call] = await world.begin(pay(one.once), answers(201));
  expect(await cancelled(world, two, payNow)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  expect((await world.end(one.tab, call)).outcome).toMatchObject({ effect: 'done' });
});

test('a page that has kept an earlier call in memory looks into the store, where another tab has sent the operation since', async ({ world }) => {
  const [mine, other] = [world.open({ limits: { ...LIMITS, ...ONE.limits } }), world.open(ONE)];
  mine.tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
  expect((await world.end(mine.tab, pay(mine.once), unreachable())).outcome).toMatchObject({ type: 'unsent', storedIn: 'memory' });
  expect((await world.end(other.tab, pay(other.once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
  expect(await cancelled(world, mine, slowly)).toMatchObject({ effect: 'unknown' });
});

describe("a call that is cancelled while its payload is read, and may belong to an earlier call's operation, is unknown", () => {
  const HEADERS = { 'idempotency-key': 'order-42' };

  describe.each([
    ['in a page', {}],
    ['in a process', { server: true, locks: false }],
  ])('%s:', (_, of) => {
    test.for([
      ['a name, with its key in a header, whose record was lost', true, NAME, HEADERS],
      ['a call without a name, with its key in a header', false, undefined, HEADERS],
      ['a call without a name, with the option key', false, { key: 'order-42' }, {}],
      ['a call without a name, with a key strategy', false, { key: () => 'order-42' }, {}],
      ['a call that is named by its content', false, true, {}],
    ] as const)('%s', async ([_, isLost, named, headers], { world }) => {
      const press: Press = (once, signal) =>
        watched(once.fetch(URL_, { method: 'POST', body: '{}', headers, ...(signal && { signal }), once: named as never }));
      const { tab, once } = world.open({ limits: { attempts: 1 } }, of);
      expect((await world.end(tab, press(once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
      if (isLost) world.medium.set(world.record()?.id ?? '', undefined);
      const slow = tab.once({ fingerprint: () => new Promise(() => {}) });
      expect(await cancelled(world, { tab, once: slow }, press)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    });

    test('a call without a name, with its key in the body', async ({ world }) => {
      const dialect = defineDialect({ name: 'in-body', place: inBody('key') });
      const press: Press = (once, signal) => watched(once.fetch(URL_, { method: 'POST', body: '{"key":"order-42"}', ...(signal && { signal }) }));
      const { tab, once } = world.open({ dialect, limits: { attempts: 1 } }, of);
      expect((await world.end(tab, press(once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown', key: 'order-42' });
      const slow = tab.once({ dialect, fingerprint: () => new Promise(() => {}) });
      expect(await cancelled(world, { tab, once: slow }, press)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    });
  });

  test('a call without a name, in a page, which goes on with a lost call of its content', async ({ world }) => {
    const press: Press = (once, signal) => watched(once.fetch(URL_, { method: 'POST', body: '{}', ...(signal && { signal }) }));
    const { tab, once } = world.open({ limits: { attempts: 1 } });
    await world.end(tab, press(once), charged(lost()));
    const slow = tab.once({ fingerprint: () => new Promise(() => {}) });
    expect(await cancelled(world, { tab, once: slow }, press)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  });

  test('a call without a name that is cancelled while the page looks for a lost call with the same content is unknown', async ({ world }) => {
    const press: Press = (once, signal) => watched(once.fetch(URL_, { method: 'POST', body: '{}', ...(signal && { signal }) }));
    const { tab, once } = world.open({ limits: { attempts: 1 } });
    await world.end(tab, press(once), charged(lost()));
    tab.faults.next('hang');
    expect(await cancelled(world, { tab, once }, press)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  });

  test("a call whose body can't be read, with its key in a header, is unknown if its record was lost", async ({ world }) => {
    const { tab, once } = world.open({ limits: LIMITS });
    const body = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(100)) });
    const call = watched(once.fetch(URL_, { method: 'POST', headers: HEADERS, body, duplex: 'half', once: NAME } as never));
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'unknown' } });
  });
});

test('without locks, a call that goes on with a clean record of a closed page gives its lease back when it is cancelled', async ({ world }) => {
  const offline = () => {
    const opened = world.open({}, { locks: false });
    opened.tab.online = false;
    return opened;
  };
  const gone = offline();
  await world.begin(pay(gone.once));
  gone.tab.kill();
  await world.clock.advance(20 * SECOND);
  expect(await cancelled(world, offline(), payNow)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  expect(world.record()?.lease).toBeUndefined();
  const next = world.open({}, { locks: false });
  expect(await world.end(next.tab, pay(next.once), answers(201))).toMatchObject({ outcome: { type: 'fresh' }, ms: 0 });
});

describe('a call that waits for a press which is never sent is not told how an earlier operation ended', () => {
  const CONTEXTS = [
    ['under a lock', {}],
    ['with leases', { locks: false }],
    ['in processes', { server: true, locks: false }],
  ] as const;
  const BEFORE: readonly [string, OnceOptions, Entry][] = [
    ['done', { repeat: 'always' }, charged(answers(201))],
    ['done, and its time is over', { keep: { forMs: HOUR } }, charged(answers(201))],
    ['declined', {}, answers(402, { code: 'card_declined' })],
  ];
  /** The promise of a token rejects in the end. */
  const NEVER_SENT: readonly [string, (token: Promise<never>) => OnceOptions, readonly Entry[]][] = [
    ['gets no token', (token) => ({ headers: () => token }), []],
    ['does not reach the server', () => ({}), [delayed(5 * SECOND, unreachable())]],
  ];
  const ALL = CONTEXTS.flatMap(([where, of]) => BEFORE.flatMap((before) => NEVER_SENT.map((never) => [where, ...before, ...never, of] as const)));

  test.each(ALL)('a press that waits %s, where the earlier operation was %s and the press that it waits for %s', async (...row) => {
    const [where, ended, options, before, , never, entries, of] = row;
    const world = newWorld();
    let refuse = (_: Error): void => {};
    const token = watched(new Promise<never>((_, reject) => (refuse = reject)));
    const one = world.open({ namespace: 'ann', ...options, ...never(token) }, of);
    const other = world.open({ namespace: 'ann', ...options }, of);
    await world.end(other.tab, pay(other.once), before, ...entries, charged(answers(201)));
    await world.clock.advance(DAY);
    const [given] = await world.begin(pay(one.once, { limits: { attempts: 1 } }));
    const [waits] = await world.begin(pay(other.once));
    refuse(new Error('no token'));
    expect((await world.end(one.tab, given)).outcome).toMatchObject({ type: 'unsent' });
    // Where no record is left, `move` may have taken it with what was sent: only the next press sends. Elsewhere the earlier operation's record is back.
    const isGone = ended === 'declined' && where !== 'under a lock';
    if (isGone) expect(await world.end(other.tab, waits)).toMatchObject({ outcome: { effect: 'unknown', reason: 'record', attempts: 0 } });
    expect((await world.end(other.tab, isGone ? pay(other.once) : waits)).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
  });

  test('a call waits for a second press, which took over from a closed page and was never sent either: the call is sent', async ({ world }) => {
    const [gone, two, three] = [world.open(), world.open(), world.open()];
    const { outcome } = await world.end(two.tab, pay(two.once), answers(422, { code: 'no_such_address' }));
    expect(outcome).toMatchObject({ type: 'rejected' });
    gone.tab.online = two.tab.online = false;
    await world.begin(pay(gone.once));
    const cancel = new AbortController();
    const [given] = await world.begin(pay(two.once, { signal: cancel.signal }));
    const [waits] = await world.begin(pay(three.once));
    gone.tab.kill();
    await rest();
    world.server.plays(answers(201));
    cancel.abort(new Error('cancelled'));
    const { error } = await world.end(two.tab, given);
    expect(two.tab.outcomeOf(error)).toMatchObject({ type: 'unsent' });
    expect((await world.end(three.tab, waits)).outcome).toMatchObject({ type: 'fresh', attempts: 1, key: outcome?.key });
  });
});

describe('a press that finds nothing stored any more does not say that nothing took effect', () => {
  describe('a tab waits for the press of another tab, and sleeps until that press is done', () => {
    const OWN = { operation: undefined, key: 'a-key-of-its-own' } as const;

    test.each([
      ['the user has logged out and in again', true, 'ann', {}],
      ['the user has logged out and in again, and tabs share no locks', false, 'ann', {}],
      ['the user has logged out and in again, and the call has a key and no name', true, 'ann', OWN],
      ['the user has logged out, and nobody is logged in', true, undefined, {}],
    ] as const)('%s: unknown', async (_, locks, atTheEnd, options) => {
      const world = newWorld();
      let user: string | undefined = 'ann';
      const [paying, sleeping] = [world.tab({ locks }), world.tab({ locks })];
      const [first, second] = [paying, sleeping].map((tab) => tab.once({ namespace: () => user as string })) as [never, never];
      const [done] = await world.begin(pay(first, options), delayed(5 * SECOND, answers(201)));
      const [waits] = await world.begin(pay(second, options));
      sleeping.freeze();
      expect((await world.end(paying, done)).outcome).toMatchObject({ effect: 'done' });
      await world.run(clear(first));
      await world.clock.advance(10 * MINUTE);
      await world.run(clear(first));
      expect(world.records).toEqual([]);
      user = atTheEnd;
      sleeping.thaw();
      expect((await world.end(sleeping, waits)).outcome).toMatchObject({ effect: 'unknown', reason: 'record' });
      expect(world.server.arrivals).toHaveLength(1);
      expect(world.records).toEqual([]);
    });

    test('the user has logged out and in again, and the call is aborted at any moment after the tab wakes up: never none', async () => {
      for (let turns = 0; turns < 60; turns++) {
        const world = newWorld();
        const [paying, sleeping] = [world.open({ namespace: 'ann' }), world.open({ namespace: 'ann' })];
        const [done] = await world.begin(pay(paying.once), delayed(5 * SECOND, answers(201)));
        const controller = new AbortController();
        const [waits] = await world.begin(pay(sleeping.once, { signal: controller.signal }));
        sleeping.tab.freeze();
        await world.end(paying.tab, done);
        for (let time = 0; time < 2; time++) {
          await world.run(clear(paying.once));
          await world.clock.advance(10 * MINUTE);
        }
        expect(world.records).toEqual([]);
        sleeping.tab.thaw();
        for (let turn = 0; turn < turns; turn++) await undefined;
        const reason = REASON();
        controller.abort(reason);
        const { outcome } = await world.end(sleeping.tab, waits);
        await rest();
        expect(outcome ?? sleeping.tab.outcomeOf(reason), `after ${turns} turns`).toMatchObject({ effect: 'unknown' });
      }
    });

    test('the record is still there: the tab tells what the record says', async ({ world }) => {
      const [paying, sleeping] = [world.open(), world.open()];
      const [done] = await world.begin(pay(paying.once), delayed(5 * SECOND, answers(201)));
      const [waits] = await world.begin(pay(sleeping.once));
      sleeping.tab.freeze();
      await world.end(paying.tab, done);
      await world.clock.advance(10 * MINUTE);
      sleeping.tab.thaw();
      expect((await world.end(sleeping.tab, waits)).outcome).toMatchObject({ effect: 'done' });
    });
  });

  test("a guest logs in while the fingerprint of the guest's press is awaited: an earlier press may have charged, and its record was moved", async () => {
    const world = newWorld();
    let user = 'guest';
    const { tab, once } = world.open({ namespace: () => user, limits: { attempts: 1 } });
    expect((await world.end(tab, pay(once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
    let answer: () => void = () => {};
    const [again] = await world.begin(pay(once, { fingerprint: ({ body }) => new Promise((resolve) => (answer = () => resolve(body))) }));
    user = 'ann';
    await world.run(move(once, 'guest'));
    answer();
    expect((await world.end(tab, again)).outcome).toMatchObject({ effect: 'unknown', reason: 'record' });
    expect(world.server.arrivals).toHaveLength(1);
  });
});
