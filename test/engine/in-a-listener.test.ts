/**
 * Goal: an app may settle, forget, press or close at the moment it hears of an end, and that opens no gap for a second effect: a
 * press that came first still goes first, in this tab and in another one.
 */
import { describe, expect } from 'vitest';
import { close, extend, forget, type Once, operation, settle, subscribe } from '../../src/entries/index.js';
import { answers, charged, delayed, hangs, idle, lost } from '../support/server.js';
import { CART, NAME, ONE, pay, SECOND, test } from '../support/world.js';

const CARD_B = { ...CART, card: 'B' };
const BUSY = { code: 'ERR_ONCE_BUSY' };

/** Calls `act` once, at the first event of this kind; gives its result. */
function at(once: Once, type: 'attempt' | 'wait' | 'unknown', act: () => Promise<unknown>): { readonly done: Promise<unknown> } {
  let resolve: (value: unknown) => void = () => {};
  const done = new Promise<unknown>((told) => void (resolve = told));
  const off = subscribe(once, (event) => {
    if (event.type !== type) return;
    off();
    resolve(act().catch((error: unknown) => error));
  });
  return { done };
}

describe('in a listener of the unknown end', () => {
  test.for([
    ['settled as none', (once: Once) => settle(once, NAME, 'none'), lost(), answers(201)],
    ['forgotten', (once: Once) => forget(once, NAME, { evenIfUnknown: true }), lost(), answers(201)],
  ] as const)('the operation can be %s, and the next press has another key', async ([_, act, first, next], { world }) => {
    const { tab, once } = world.open(ONE);
    world.server.plays(first, next);
    const heard = at(once, 'unknown', () => act(once));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown' });
    expect(await heard.done).toBeUndefined();
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'fresh' });
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('the operation can be settled as done, and the next press sends nothing', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    world.server.plays(charged(lost()));
    const heard = at(once, 'unknown', () => settle(once, NAME, 'done'));
    await world.end(tab, pay(once));
    expect(await heard.done).toBeUndefined();
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(operation(once, NAME).state).toMatchObject({ phase: 'settled' });
  });

  test('the operation can be settled in the listener of a screen, too, and after the call was given up', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    const handle = operation(once, NAME);
    let told: Promise<void> | undefined;
    handle.subscribe(() => {
      if (handle.state.phase === 'unsettled') told ??= settle(once, NAME, 'done');
    });
    const abort = new AbortController();
    const [call] = await world.begin(pay(once, { signal: abort.signal }), delayed(5 * SECOND, charged(lost())));
    abort.abort();
    await world.end(tab, call);
    await world.clock.advance(10 * SECOND);
    await expect(world.run(told as Promise<void>)).resolves.toBeUndefined();
  });

  test('a press with another card that waited for this end comes before or after the settle: one of the two is refused or waits', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    world.server.plays(lost(), answers(201));
    const heard = at(once, 'unknown', () => settle(once, NAME, 'none'));
    const [first, second] = [pay(once), pay(once, { body: CARD_B })];
    expect((await world.end(tab, first)).outcome).toMatchObject({ effect: 'unknown' });
    expect((await world.end(tab, second)).outcome).toMatchObject({ effect: 'done' });
    const refused = (await heard.done) !== undefined;
    expect(new Set(world.server.keys).size).toBe(refused ? 1 : 2);
  });

  test('a second press shares the end that is being told, and sends nothing', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    world.server.plays(lost());
    const heard = at(once, 'unknown', async () => {
      const again = pay(once).catch((error: { outcome: unknown }) => error.outcome);
      await settle(once, NAME, 'none');
      return again;
    });
    await world.end(tab, pay(once));
    expect(await world.run(heard.done)).toMatchObject({ effect: 'unknown', joined: true });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test.for(['attempt', 'wait'] as const)('while the call goes on, settle is refused: in a listener of %s', async (type, { world }) => {
  const { tab, once } = world.open({ limits: { attempts: 2 } });
  world.server.plays(charged(lost()), answers(200, {}, { 'idempotent-replayed': 'true' }));
  const heard = at(once, type, () => settle(once, NAME, 'none'));
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
  expect(await heard.done).toMatchObject(BUSY);
});

describe.each([true, false])('two tabs, with locks: %s', (locks) => {
  test('a press waits in the other tab: whether it or the listener comes first, no key is sent after its operation was settled', async ({ world }) => {
    const [one, other] = [world.open(ONE, { locks }), world.open(ONE, { locks })];
    world.server.plays(idle(delayed(5 * SECOND, lost())));
    world.server.otherwise = answers(201);
    const heard = at(one.once, 'unknown', () => settle(one.once, NAME, 'none'));
    const [first] = await world.begin(pay(one.once));
    const second = pay(other.once);
    expect((await world.end(one.tab, first)).outcome).toMatchObject({ effect: 'unknown' });
    const end = await world.end(other.tab, second);
    const refused = await world.run(heard.done);
    if (refused) expect(refused).toMatchObject(BUSY);
    // With leases, the press that waited shares the end that settle has stored.
    const sent = world.server.arrivals.length - 1;
    expect(end.outcome).toMatchObject({ effect: sent ? 'done' : 'none' });
    expect(new Set(world.server.keys).size).toBe(refused || !sent ? 1 : 2);
  });

  test('the listener settles as done: the other tab, which waits, sends nothing more, or went on before that', async ({ world }) => {
    const [one, other] = [world.open(ONE, { locks }), world.open(ONE, { locks })];
    world.server.plays(delayed(5 * SECOND, charged(lost())));
    world.server.otherwise = answers(200, {}, { 'idempotent-replayed': 'true' });
    const heard = at(one.once, 'unknown', () => settle(one.once, NAME, 'done'));
    const [first] = await world.begin(pay(one.once));
    const second = pay(other.once);
    await world.end(one.tab, first);
    expect((await world.end(other.tab, second)).outcome).toMatchObject({ effect: 'done' });
    await world.run(heard.done);
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

describe('a press in a listener that has heard of the end is a press after the end', () => {
  const ALWAYS = { repeat: 'always' } as const;

  const heardBy: readonly (readonly [string, (once: Once, press: () => void) => unknown])[] = [
    ['a listener of events', (once, press) => subscribe(once, ({ type }) => type === 'settled' && press())],
    [
      'a screen that draws the end',
      (once, press) => {
        const screen = operation(once, NAME);
        screen.subscribe(() => screen.state.phase === 'settled' && press());
      },
    ],
  ];

  test.for(heardBy)("in %s, with repeat: 'always', the press is a new operation", async ([_, listen], { world }) => {
    const { tab, once } = world.open(ALWAYS);
    world.server.plays(answers(201), answers(201));
    let next: Promise<Response> | undefined;
    listen(once, () => void (next ??= pay(once)));
    await world.end(tab, pay(once));
    expect((await world.end(tab, next as Promise<Response>)).outcome).toMatchObject({ type: 'fresh', joined: false });
    expect(new Set(world.server.keys).size).toBe(2);
  });
});

describe('a listener of the end that close causes', () => {
  /** Settles the operation with the client `by` as soon as `once` tells that it is unknown; gives the result. */
  function settling(once: Once, effect: 'done' | 'none', also?: () => void, by = once): Promise<unknown> {
    return new Promise((resolve) => {
      subscribe(once, ({ type }) => {
        if (type !== 'unknown') return;
        also?.();
        settle(by, NAME, effect).then(() => resolve('stored'), resolve);
      });
    });
  }

  describe('can settle the operation', () => {
    test.for(['done', 'none'] as const)('as %s: the end is stored before the store is closed', async (effect, { world, tab, once }) => {
      const word = settling(once, effect);
      const [call] = await world.begin(pay(once), effect === 'done' ? charged(lost()) : lost());
      const closed = close(once);
      expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
      await world.run(closed);
      expect(await word).toBe('stored');
      expect(world.record()).toMatchObject({ state: effect === 'done' ? 'settled' : 'retired', ending: { effect } });
    });

    test.for([
      ['in a listener of its own', true],
      ['in a listener of the client that it was extended from', false],
    ] as const)('with an extended client that is closed together with the owner of its store, %s', async ([_, own], { world, tab, once }) => {
      const child = tab.in(() => extend(once, {}));
      const paying = own ? child : once;
      const word = settling(paying, 'done', undefined, child);
      const [call] = await world.begin(pay(paying), charged(lost()));
      const closed = close(once);
      await world.end(tab, call);
      await world.run(closed);
      expect(await word).toBe('stored');
    });
  });

  test('can close the client and settle at the same time', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    let closed: Promise<void> | undefined;
    const word = settling(once, 'done', () => void (closed = close(once)));
    await world.end(tab, pay(once), charged(lost()));
    await world.run(closed as Promise<void>);
    expect(await word).toBe('stored');
  });

  test('close waits no longer than the attempt under way', async ({ world }) => {
    const { tab, once } = world.open({ limits: { attemptMs: 5 * SECOND } });
    const [call] = await world.begin(pay(once), hangs());
    const at = world.clock.now();
    await world.run(close(once));
    expect(world.clock.now() - at).toBe(5 * SECOND);
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown' });
  });
});
