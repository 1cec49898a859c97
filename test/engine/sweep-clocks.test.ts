/**
 * Goal: no wrong clock makes a sweep remove a key or a tombstone too early, because each could be a second effect; what is no longer needed goes all the same.
 * Method: processes and pages over shared records, whose clocks are fast, slow, or wrong for one call.
 */
import { describe, expect, vi } from 'vitest';
import { seal } from '../../src/core/record.js';
import { run } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { answers, charged, delayed, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { DAY, HOUR, NAME, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

const ONE = { limits: { attempts: 1, keyWindowMs: 365 * DAY } } as const;
/** A process on a store with a clock of its own, and a page on one without. */
const SITES = [
  ['a process', { server: true, locks: false }],
  ['a page', {}],
] as const;
const PAID = ['pay', 'c2'] as const;

/** One operation whose outcome is unknown, and one that is done. */
async function two(world: World, { tab, once }: { tab: Tab; once: Once }): Promise<{ readonly open: string; readonly done: string }> {
  const open = await world.end(tab, pay(once, ONE), charged(lost()));
  const done = await world.end(tab, pay(once, { operation: [...PAID] }), charged(answers(201)));
  return { open: open.outcome?.key ?? '', done: done.outcome?.key ?? '' };
}

let others = 0;
/** A new client settles one operation, after which it sweeps once. */
async function sweep(world: World, tab: Tab): Promise<void> {
  await world.end(tab, pay(tab.once({ namespace: 'shop' }), { operation: ['other', others++] }), answers(201));
  await rest();
}

/** What a later call finds: the key is still pending, and the done operation is not sent again. */
async function stillThere(world: World, tab: Tab, keys: { readonly open: string }): Promise<void> {
  const once = tab.once({ namespace: 'shop' });
  expect(world.record()).toMatchObject({ state: 'pending', key: keys.open });
  const sent = world.server.arrivals.length;
  expect((await world.end(tab, pay(once, { operation: [...PAID] }))).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.arrivals).toHaveLength(sent);
}

describe.each(SITES)('%s', (_, of) => {
  const open = (world: World) => world.open({ namespace: 'shop' }, of);

  test.for([31 * DAY, 400 * DAY])('whose clock is fast by %i ms for two sweeps removes nothing that matters', async (skewMs, { world }) => {
    const keys = await two(world, open(world));
    const fast = open(world).tab;
    fast.skewMs = skewMs;
    await sweep(world, fast);
    await sweep(world, fast);
    fast.skewMs = 0;
    await sweep(world, fast);
    await stillThere(world, open(world).tab, keys);
  });

  test("whose clock is fast for a sweep does not forget the operation before a refused change (repeat: 'if-changed')", async ({ world }) => {
    const { tab, once } = open(world);
    const save = (amount: number, by = once) => pay(by, { operation: [...PAID], repeat: 'if-changed', body: { amount } });
    await world.end(tab, save(1), charged(answers(201)));
    await world.end(tab, save(2), answers(402, { code: 'card_declined' }));
    const fast = open(world).tab;
    fast.skewMs = 60 * DAY;
    await sweep(world, fast);
    const next = open(world);
    expect((await world.end(next.tab, save(1, next.once))).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
  });

  test('whose clock was fast once does not keep others from removing records in the end', async ({ world }) => {
    await two(world, open(world));
    const fast = open(world).tab;
    fast.skewMs = 31 * DAY;
    await sweep(world, fast);
    fast.skewMs = 0;
    for (const days of [31, 8]) {
      await world.clock.advance(days * DAY);
      await sweep(world, open(world).tab);
    }
    expect([world.record(), world.record([...PAID])]).toEqual([undefined, undefined]);
  });

  test('that goes on with an operation cancels what the first sweep has found', async ({ world }) => {
    const first = open(world);
    const { open: key } = await two(world, first);
    await world.clock.advance(30 * DAY + HOUR);
    await sweep(world, first.tab);
    expect(world.record()?.dueAt).toBeDefined();
    await world.end(first.tab, pay(first.once, ONE), charged(lost()));
    expect(world.record()?.dueAt).toBeUndefined();
    await world.clock.advance(8 * DAY);
    await sweep(world, open(world).tab);
    expect(world.record()?.key).toBe(key);
  });

  test('may use a name again once `keep.forMs` is over; a second sweep removes the old record after at most another `keep.forMs`', async ({ world }) => {
    const { tab, once } = open(world);
    const brief = { keep: { forMs: HOUR } };
    await world.end(tab, pay(once, brief), charged(answers(201)));
    await world.clock.advance(HOUR + SECOND);
    await sweep(world, tab);
    expect(world.record()).toMatchObject({ state: 'settled' });
    expect((await world.end(tab, pay(once, brief), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
    for (const ms of [HOUR + SECOND, HOUR + SECOND]) {
      await world.clock.advance(ms);
      await sweep(world, open(world).tab);
    }
    expect(world.record()).toBeUndefined();
  });
});

describe('a process on a store with a clock of its own', () => {
  const [, of] = SITES[0];
  const open = (world: World) => world.open({ namespace: 'shop' }, of);

  test('whose clock stays fast for ever removes nothing too early, and does not use a name anew', async ({ world }) => {
    const keys = await two(world, open(world));
    const fast = open(world);
    fast.tab.skewMs = 31 * DAY;
    for (let day = 0; day < 12; day++) {
      await sweep(world, fast.tab);
      await world.clock.advance(DAY);
    }
    await stillThere(world, fast.tab, keys);
    await stillThere(world, open(world).tab, keys);
  });

  test('whose clock is slow by a month writes nothing that others remove too early', async ({ world }) => {
    const slow = open(world);
    slow.tab.skewMs = -31 * DAY;
    const keys = await two(world, slow);
    for (let day = 0; day < 20; day++) {
      await sweep(world, open(world).tab);
      await world.clock.advance(DAY);
    }
    await stillThere(world, open(world).tab, keys);
  });

  test('leaves the record of an operation that is being driven, whatever its time', async ({ world }) => {
    const driver = open(world);
    const [call] = await world.begin(pay(driver.once, ONE), delayed(20 * SECOND, charged(lost())), answers(201), replays());
    world.damage((record) => seal({ ...record, forgetAt: 1, dueAt: 1 }));
    const key = world.record()?.key;
    const other = open(world);
    await world.end(other.tab, pay(other.once, { operation: ['other'] }));
    await rest();
    expect(world.record()?.key).toBe(key);
    await world.end(driver.tab, call);
    const next = open(world);
    expect((await world.end(next.tab, pay(next.once))).outcome).toMatchObject({ type: 'replayed' });
  });
});

describe('an unknown outcome is remembered as long as a done one', () => {
  test.for([365 * DAY, Number.POSITIVE_INFINITY])(
    'a message whose first delivery ended unknown is not run again under a new key after 40 days, with keep.forMs: %s',
    async (forMs, { world }) => {
      const options = { keep: { forMs }, limits: { attempts: 1 } };
      const first = world.open(options, { server: true });
      const effect = vi.fn(() => Promise.reject(new TypeError('socket hang up')));
      const deliver = ({ tab, once }: typeof first) => world.end(tab, watched(run(once, NAME, effect)) as Promise<never>);
      expect((await deliver(first)).outcome).toMatchObject({ effect: 'unknown' });
      first.tab.kill();
      // A client sweeps after the first operation that it settles.
      for (const days of [31, 8]) {
        await world.clock.advance(days * DAY);
        const other = world.open(options, { server: true });
        await world.end(other.tab, pay(other.once, { operation: ['other', days] }), answers(201));
        await rest();
      }
      await world.clock.advance(DAY);
      expect(await deliver(world.open(options, { server: true }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
      expect(effect).toHaveBeenCalledTimes(1);
    },
  );
});
