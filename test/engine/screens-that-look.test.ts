/**
 * Goal: a screen shows what is stored now, in whatever order its reads of the store end. Method: a slow read ends after a later one, while the screen shows,
 * before and after, that there is nothing.
 */
import { describe, expect, onTestFinished, vi } from 'vitest';
import { stripe } from '../../src/entries/dialects.js';
import { clear, close, extend, forget, move, namespace, type OnceOptions, operation, pending, refresh, watch } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import type { ScanQuery, TabChannel, Tabs } from '../../src/ports.js';
import { memoryStore } from '../../src/stores/memory.js';
import { wrong } from '../../src/texts/full.js';
import { answers, charged, delayed, hangs, lost, replays } from '../support/server.js';
import { NAME, newWorld, ONE, onScreen, type Page, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

test.for(['before there was any screen', 'while another screen is open', 'after the last screen was closed'])(
  'a call that found the operation busy, %s: who reads the state and does not subscribe sees what is stored',
  async (when, { world }) => {
    const [here, there] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
    const off = when.startsWith('before') ? undefined : here.tab.in(() => watch(here.once, () => {}));
    if (when.startsWith('after')) off?.();
    await world.begin(watched(pay(there.once)), hangs());
    expect(
      await world.end(
        here.tab,
        here.tab.in(() => pay(here.once, { limits: { totalMs: SECOND } })),
      ),
    ).toMatchObject({ code: 'ERR_ONCE_BUSY' });
    const look = () => here.tab.in(() => operation(here.once, NAME).state.phase);
    expect(look()).toBe('loading');
    await rest();
    expect(look()).toBe('unsettled');
  },
);

test('another tab settles what is unsettled here: who reads the state and does not subscribe sees that at the next look, and reads once for each', async ({
  world,
}) => {
  const [here, there] = [world.open(), world.open()];
  const look = () => here.tab.in(() => operation(here.once, NAME).state);
  await world.end(there.tab, pay(there.once, ONE), charged(lost()));
  expect(look()).toEqual({ phase: 'loading' });
  await rest();
  const shown = look();
  expect(shown).toMatchObject({ phase: 'unsettled' });
  await rest();
  expect(look()).toBe(shown);
  await rest();
  await world.end(there.tab, pay(there.once, ONE), replays());
  const read = vi.spyOn(here.tab.store, 'read');
  const told = vi.fn();
  here.tab.in(() => watch(here.once, told));
  for (let looks = 0; looks < 10; looks++) expect(look()).toBe(shown);
  await rest();
  expect(read).toHaveBeenCalledOnce();
  expect(told).toHaveBeenCalledOnce();
  expect(look()).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
});

/** A page that shows an unsettled operation, and does not subscribe. */
async function looked(world: World) {
  const page = world.open(ONE);
  await world.end(page.tab, pay(page.once), charged(lost()));
  const look = () => page.tab.in(() => operation(page.once, NAME).state);
  look();
  await rest();
  const shown = look();
  expect(shown).toMatchObject({ phase: 'unsettled' });
  await rest();
  return { ...page, look, shown };
}

test('the store fails at such a look: the state stays', async ({ world }) => {
  const { tab, look, shown } = await looked(world);
  const read = vi.spyOn(tab.store, 'read').mockRejectedValue(new Error('denied'));
  for (let looks = 0; looks < 3; looks++) {
    expect(look()).toBe(shown);
    await rest();
  }
  expect(read).toHaveBeenCalledTimes(3);
});

test('a store that is slower than the looks come: one read at a time', async ({ world }) => {
  const { tab, look, shown } = await looked(world);
  const { read } = tab.store;
  const reads = vi.spyOn(tab.store, 'read').mockImplementation(async (id) => {
    await new Promise<void>((resolve) => void tab.platform.clock.timer(SECOND, resolve));
    return read(id);
  });
  for (let looks = 0; looks < 59; looks++) {
    expect(look()).toBe(shown);
    await world.clock.advance(16);
  }
  expect(reads).toHaveBeenCalledOnce();
  await world.clock.advance(SECOND);
  look();
  await rest();
  expect(reads).toHaveBeenCalledTimes(2);
});

test('two clients that disagree on whether it is resumable: screens that look whenever they are told to come to rest', async ({ world }) => {
  const { tab, once, look, shown } = await looked(world);
  const other = tab.once({ ...ONE, dialect: stripe() });
  const states = () => [look(), tab.in(() => operation(other, NAME).state)];
  expect(shown).toMatchObject({ pending: { resumable: true } });
  let renders = 0;
  const render = () => {
    if (++renders < 50) states();
  };
  tab.in(() => watch(once, render));
  tab.in(() => watch(other, render));
  render();
  await rest();
  expect(renders).toBeLessThan(10);
});

test('an operation begins, and is gone before the read that has seen it ends: the screen shows nothing', async ({ world }) => {
  const plain = memoryStore();
  let held: Promise<void> | undefined;
  const store = {
    ...plain,
    scope: plain.scope,
    read: async (id: Parameters<typeof plain.read>[0]) => {
      const wait = held;
      const found = await plain.read(id);
      await wait;
      return found;
    },
  };
  const here = world.open({ store });
  const there = world.open({ store: { ...plain, scope: plain.scope } });
  const screen = onScreen(here.once);
  await rest();
  expect(screen.state).toEqual({ phase: 'idle' });
  there.tab.online = false;
  const cancel = new AbortController();
  const [press] = await world.begin(watched(pay(there.once, { signal: cancel.signal })));
  let comes = (): void => {};
  held = new Promise((resolve) => void (comes = resolve));
  refresh(here.once);
  await rest();
  held = undefined;
  cancel.abort(new Error('cancelled'));
  await world.end(there.tab, press);
  refresh(here.once);
  await rest();
  expect(screen.state).toEqual({ phase: 'idle' });
  comes();
  await rest();
  expect(screen.state).toEqual({ phase: 'idle' });
});

test('a read that finds nothing again leaves the screen the same object: nothing has changed', async ({ once }) => {
  const screen = onScreen(once);
  await rest();
  const { state } = screen;
  expect(state).toEqual({ phase: 'idle' });
  refresh(once);
  await rest();
  expect(screen.state).toBe(state);
});

test('ten screens of one operation look again: one read, and each is told once', async ({ world }) => {
  await world.interrupted(charged(lost()));
  const { tab, once } = world.open();
  const screen = operation(once, NAME);
  let told = 0;
  for (let n = 0; n < 10; n++) screen.subscribe(() => told++);
  await rest();
  expect(screen.state).toMatchObject({ phase: 'unsettled' });
  const looks = vi.spyOn(tab.store, 'read');
  told = 0;
  refresh(once);
  await rest();
  expect([looks.mock.calls.length, told]).toEqual([1, 10]);
});

describe("a screen's read that fails", () => {
  const open = async () => {
    const world = newWorld();
    await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    let looks = 0;
    const read = tab.store.read;
    const counting: typeof read = (id) => {
      looks++;
      return read(id);
    };
    Object.assign(tab.store, { read: counting });
    const screen = operation(once, NAME);
    return { world, tab, once, screen, looks: () => looks };
  };

  test('is repeated until it succeeds: a pending payment is shown', async () => {
    const { world, tab, screen, looks } = await open();
    tab.faults.next('look-fails', 'look-fails');
    screen.subscribe(() => {});
    await rest();
    expect(screen.state).toEqual({ phase: 'loading' });
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toEqual({ phase: 'loading' });
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toMatchObject({ phase: 'unsettled' });
    await world.clock.advance(10 * SECOND);
    expect(looks()).toBe(3);
  });

  test('is also repeated if another tab was the reason for it', async () => {
    const { world, tab, once, screen } = await open();
    screen.subscribe(() => {});
    await rest();
    const other = world.open();
    await world.end(other.tab, pay(other.once), replays());
    tab.faults.next('look-fails');
    refresh(once);
    await rest();
    expect(screen.state).toMatchObject({ phase: 'unsettled' });
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toMatchObject({ phase: 'settled' });
  });

  test('is repeated by the next client if its own is closed', async () => {
    const { world, tab, once, screen } = await open();
    tab.faults.next('look-fails', 'look-fails');
    const before = extend(once, {});
    const off = operation(before, NAME).subscribe(() => {});
    await rest();
    off();
    await close(before);
    screen.subscribe(() => {});
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toMatchObject({ phase: 'unsettled' });
  });

  test.each([
    ['is repeated no more than once in two seconds, however often the screen is told to look', 4, () => {}],
    ['is not repeated for a screen that is gone', 3, ({ off }: { off: () => void }) => off()],
    ['is not repeated by a client that is closed', 3, ({ once }: { once: Once }) => close(once)],
  ])('%s', async (_, expected, act) => {
    const { world, tab, once, screen, looks } = await open();
    tab.faults.rate('look-fails', 1);
    const off = screen.subscribe(() => {});
    await rest();
    refresh(once);
    await rest();
    refresh(once);
    await rest();
    await act({ once, off });
    await world.clock.advance(2 * SECOND);
    expect(looks()).toBe(expected);
    off();
  });
});

test('a read failed, and the user logs out before the next one: the screen of the next user shows nothing of it', async ({ world, tab }) => {
  let user = 'ann';
  const namespace = () => user;
  const gone = world.open({ namespace, limits: { attempts: 1 } });
  await world.end(gone.tab, pay(gone.once), charged(lost()));
  gone.tab.kill();
  const screen = operation(tab.once({ namespace }), NAME);
  tab.faults.next('look-fails');
  screen.subscribe(() => {});
  await rest();
  expect(screen.state).toEqual({ phase: 'loading' });
  user = 'bob';
  await world.clock.advance(3 * SECOND);
  expect(screen.state).toEqual({ phase: 'idle' });
  user = 'ann';
  await world.clock.advance(3 * SECOND);
  expect(screen.state).toMatchObject({ phase: 'unsettled' });
});

describe('a screen that read the store during a call, or a change by hand, shows what is stored once that is over', () => {
  test.for([
    ['a forget that is refused', (once: Once) => forget(once, NAME), 'none'],
    ['a call whose record cannot be written', (once: Once) => pay(once), 'fail-before-commit'],
  ] as const)('%s: the screen shows unsettled', async ([_, act, fault], { world }) => {
    await world.interrupted(lost());
    const { tab, once } = world.open();
    const screen = onScreen(once);
    tab.faults.next(fault);
    const ended = watched(act(once) as Promise<unknown>);
    expect(screen.state).toEqual({ phase: 'loading' });
    await expect(world.run(ended)).rejects.toThrow();
    await rest();
    expect(screen.state).toMatchObject({ phase: 'unsettled' });
  });

  describe('after a call has lost its record, the screen shows what is stored by then', () => {
    /** A call waits for its second attempt, and a screen shows it. Meanwhile another tab acts. */
    const loses = async (act: (world: World, other: Page) => Promise<unknown>) => {
      const world = newWorld();
      const [here, there] = [world.open(), world.open()];
      const screen = onScreen(here.once);
      const [call] = await world.begin(pay(here.once), answers(503, '', { 'retry-after': '60' }));
      await act(world, there);
      expect(await world.end(here.tab, call)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
      await rest();
      return screen.state;
    };

    test('nothing, after a log-out that forgets the operation', async () => {
      expect(await loses((world, { once }) => world.run(clear(once, { unsettled: 'forget' })))).toEqual({ phase: 'idle' });
    });

    test('unsettled, after a log-out that keeps the operation', async () => {
      expect(await loses((world, { once }) => world.run(clear(once)))).toMatchObject({ phase: 'unsettled' });
    });

    test('unsettled, after something has damaged the record, because an attempt of this page may have arrived', async () => {
      expect(await loses(async (world) => world.damage((record) => ({ ...record, key: 'x' })))).toMatchObject({
        phase: 'unsettled',
        pending: { sent: 'maybe', resumable: false },
      });
    });

    test('done, after another tab has taken the operation over and ended it under the next key', async () => {
      const state = await loses(async (world, { tab, once }) => {
        world.server.plays(replays(402), answers(201));
        world.locks.die(world.tabs[0] as object);
        expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'none' });
        expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
      });
      expect(state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
    });
  });
});

describe('no screen goes on saying "not paid" while another tab pays', () => {
  /** Tabs of one world, each of which hears all the others. */
  function scene(options: OnceOptions = {}) {
    const world = newWorld();
    const channels = new Set<TabChannel>();
    const open = () => {
      const tab = world.tab();
      const tabs: Tabs = {
        open: () => {
          const own: TabChannel = {
            onmessage: null,
            postMessage: () => {
              for (const { onmessage } of channels) if (onmessage !== own.onmessage) (onmessage as (() => void) | null)?.();
            },
            close: () => channels.delete(own),
          };
          channels.add(own);
          return own;
        },
        listening: () => () => {},
      };
      Object.assign(tab.platform, { tabs });
      return { tab, once: tab.once(options) };
    };
    return { world, one: open(), two: open() };
  }

  test('a call that ends unknown makes its own screen read the store, but not every other screen', async () => {
    const { world, one } = scene();
    const names = ['c1', 'c2', 'c3', 'c4'].map((cart) => ['pay', cart] as const);
    for (const name of names) operation(one.once, name).subscribe(() => {});
    await rest();
    let reads = 0;
    const { read } = one.tab.store;
    Object.assign(one.tab.store, {
      read: (id: never) => {
        reads++;
        return read(id);
      },
    });
    await world.end(one.tab, pay(one.once, ONE), lost());
    await rest();
    expect(reads).toBeLessThanOrEqual(2);
  });

  describe('while another tab sends', () => {
    test('the screen no longer shows that this tab was refused before, and then shows the end', async () => {
      const { world, one, two } = scene();
      const screen = onScreen(one.once);
      await world.end(one.tab, pay(one.once), answers(402, { code: 'card_declined' }));
      expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'none' } });
      const [paying] = await world.begin(pay(two.once), delayed(5 * SECOND, charged(answers(201))));
      expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { sent: 'maybe' } });
      await world.end(two.tab, paying);
      await rest();
      expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
    });

    test('`watch` calls back at its begin and at its end, and `pending` lists it in between', async () => {
      const { world, one, two } = scene();
      const seen: boolean[][] = [];
      watch(one.once, async () => seen.push((await pending(one.once)).map(({ sent }) => sent === 'maybe')));
      const [paying] = await world.begin(pay(two.once), delayed(5 * SECOND, charged(answers(201))));
      expect(seen).toEqual([[true]]);
      await world.end(two.tab, paying);
      await rest();
      expect(seen).toEqual([[true], []]);
    });
  });

  describe('the store changes under a page', () => {
    test('another tab stores again what the store has lost, for a call that it refuses: the screen shows it', async () => {
      const { world, one, two } = scene({ namespace: 'ann', whenChanged: 'refuse' });
      const screen = onScreen(two.once);
      await world.end(one.tab, pay(one.once, ONE), charged(lost()));
      world.empty();
      refresh(two.once);
      await rest();
      expect(screen.state).toEqual({ phase: 'idle' });
      expect((await world.end(one.tab, pay(one.once, { body: { cart: 'c1', amount: 12 } }))).error).toMatchObject({ code: 'ERR_ONCE_MISMATCH' });
      await rest();
      expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { sent: 'maybe' } });
    });

    test.each([
      ['open', lost(), { phase: 'unsettled', pending: { sent: 'maybe', resumable: false } }],
      ['done', answers(201), { phase: 'settled', outcome: { effect: 'done' } }],
    ] as const)(
      'something damages the record of what is %s: no screen that has shown it says that there is nothing, or offers a resume',
      async (_, answer, state) => {
        const { world, one, two } = scene({ keep: { request: true } });
        const screens = [onScreen(one.once), two.tab.in(() => onScreen(two.once))];
        const shown = () => screens.map((screen) => screen.state);
        await world.end(one.tab, pay(one.once, ONE), charged(answer));
        await rest();
        world.damage((record) => ({ ...record, key: 'x' }));
        refresh(one.once);
        two.tab.in(() => refresh(two.once));
        await rest();
        expect(shown()).toMatchObject([state, state]);
        expect(await world.end(one.tab, pay(one.once, ONE))).toMatchObject({ code: 'ERR_ONCE_RECORD' });
        await rest();
        expect(shown()).toMatchObject([state, state]);
        expect(world.server.arrivals).toHaveLength(1);
      },
    );

    test('something damages the record of what another tab has done for a page: its screen, which has shown that, goes on saying so', async () => {
      const { world, one, two } = scene();
      const screen = onScreen(one.once);
      await world.end(one.tab, pay(one.once, ONE), lost());
      await world.end(two.tab, pay(two.once, ONE), charged(answers(201)));
      await rest();
      const done = { phase: 'settled', outcome: { effect: 'done' } };
      expect(screen.state).toMatchObject(done);
      world.damage((record) => ({ ...record, key: 'x' }));
      refresh(one.once);
      await rest();
      expect(screen.state).toMatchObject(done);
    });

    test('something damages what another tab has begun after this one was refused: the screen no longer shows the refusal', async ({ world }) => {
      const [one, two] = [world.open(), world.open()];
      const screen = onScreen(one.once);
      await world.end(one.tab, pay(one.once, ONE), answers(402, { code: 'card_declined' }));
      expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'none' } });
      await world.end(two.tab, pay(two.once, ONE), charged(lost()));
      world.damage((record) => ({ ...record, key: 'x' }));
      refresh(one.once);
      await rest();
      expect(screen.state).toEqual({ phase: 'idle' });
    });

    test('a log-out: the screen of a damaged record shows nothing of the user any more', async () => {
      const { world, one } = scene({ namespace: 'ann' });
      const screen = onScreen(one.once);
      await world.end(one.tab, pay(one.once, { ...ONE, meta: 'to Ann' }), charged(lost()));
      await rest();
      expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { meta: 'to Ann' } });
      world.damage((record) => ({ ...record, key: 'x' }));
      await world.run(clear(one.once));
      await rest();
      expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { meta: undefined, resumable: false } });
    });

    test("a log-out with unsettled: 'forget' during a call: after its end, the screen shows that nothing is stored", async () => {
      const { world, one } = scene();
      const screen = onScreen(one.once);
      const [paying] = await world.begin(pay(one.once, ONE), delayed(5 * SECOND, charged(lost())));
      await world.run(clear(one.once, { unsettled: 'forget' }));
      expect((await world.end(one.tab, paying)).outcome).toMatchObject({ effect: 'unknown' });
      await rest();
      expect(world.records).toEqual([]);
      expect(screen.state).toEqual({ phase: 'idle' });
    });

    test.each([
      ['clear', (once: Once) => clear(once, { unsettled: 'forget' }), 'settled'],
      ['move', (once: Once) => move(once, 'guest'), 'retired'],
    ] as const)('%s that fails in the middle: other tabs read the store all the same', async (_, change, failing) => {
      const { world, one, two } = scene({ namespace: 'ann' });
      await world.end(one.tab, pay(one.once, ONE), charged(lost()));
      const seen: number[] = [];
      await world.run(pending(two.once));
      watch(two.once, async () => seen.push((await pending(two.once)).length));
      const { scan } = one.tab.store;
      Object.assign(one.tab.store, {
        scan: (query: ScanQuery) => ('state' in query && query.state === failing ? Promise.reject(new Error('down')) : scan(query)),
      });
      await expect(world.run<unknown>(change(one.once))).rejects.toThrow('down');
      await rest();
      expect(seen).toHaveLength(1);
    });
  });
});

describe('if `namespace` returns another user at each call, such as a random id', () => {
  test.for<[string, (once: Once) => unknown]>([
    ['a list', (once) => pending(once)],
    ['the screen of an operation', (once) => operation(once, NAME).subscribe(() => {})],
    ['a screen', (once) => watch(once, () => void namespace(once))],
  ])('%s does not read for ever', async ([, looks], { tab }) => {
    let asked = 0;
    const once = tab.once({ namespace: () => (++asked > 1000 ? undefined : `visitor-${asked}`) });
    await tab.in(() => looks(once));
    refresh(once);
    await rest();
    expect(asked).toBeLessThan(100);
  });

  test('a payment is refused with an error that says why, and nothing is sent', async ({ world, tab }) => {
    let asked = 0;
    const { error } = await world.end(tab, pay(tab.once({ namespace: () => `visitor-${++asked}` })));
    expect(error).toEqual(new TypeError(wrong('namespace', 'steady')));
    expect(world.server.arrivals).toEqual([]);
  });
});

test('a call that waited for another tab and then failed shows no wait any more', async ({ world }) => {
  const [one, two] = [world.open(), world.open()];
  const [driving] = await world.begin(pay(one.once), delayed(SECOND, charged(answers(201))));
  const handle = operation(two.once, NAME);
  onTestFinished(handle.subscribe(() => {}));
  const [waiting] = await world.begin(pay(two.once));
  expect(handle.state.phase).toBe('waiting');
  two.tab.faults.rate('fail-before-commit', 1);
  await world.end(one.tab, driving);
  expect((await world.end(two.tab, waiting)).code).toBe('ERR_ONCE_STORE');
  await rest();
  expect(handle.state.phase).toBe('settled');
});
