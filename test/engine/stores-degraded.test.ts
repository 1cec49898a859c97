/**
 * Goal: a record that could be kept only in memory, beside a store that works again or another tab, causes no second effect, and no record is overlooked.
 * Method: the first write of one tab fails, and once more when it is tried again.
 */
import { describe, expect } from 'vitest';
import { clear, firstAvailable, forget, move, pending, run, settle } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import type { RunOptions, StandardSchema } from '../../src/option-types.js';
import { answers, charged, delayed, during, type Entry, lost, replays, unreachable } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, type End, NAME, newWorld, ONE, pay, SECOND, test, type World, watched } from '../support/world.js';

/** A payment with one attempt. Its first write fails, so that its record goes to memory. */
async function degraded(world: World, tab: Tab, once: Once, options: Parameters<typeof pay>[1] = {}): Promise<End> {
  tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
  const end = await world.end(tab, pay(once, { ...ONE, ...options }));
  expect(end.outcome).toMatchObject({ storedIn: 'memory' });
  return end;
}

describe('a first write that fails', () => {
  test.for([6, 9])('after %i seconds, and the next one, too: the record goes to memory, and the call is sent', async (seconds, { world, tab }) => {
    const { update } = tab.store;
    const slow: typeof update = (...given) =>
      update(...given).catch(async (cause: unknown) => {
        await new Promise<void>((after) => world.clock.timer(seconds * SECOND, after));
        throw cause;
      });
    world.server.plays(answers(201));
    await degraded(world, tab, tab.once({ store: { ...tab.store, update: slow } }));
  });

  test.for([2, 3, 4, 5])('while the page sleeps (at crossing %i), and another one pays, and the user logs in: nothing is sent', async (crossing, { world }) => {
    const guest = () => world.open({ ...ONE, namespace: 'guest' }, { locks: false });
    const [sleeper, quick] = [guest(), guest()];
    sleeper.tab.faults.next('fail-before-commit');
    sleeper.tab.at(crossing, () => sleeper.tab.freeze());
    const [press] = await world.begin(pay(sleeper.once));
    expect((await world.end(quick.tab, pay(quick.once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
    await world.run(move(world.open({ namespace: 'ann' }, { locks: false }).once, 'guest'));
    await world.clock.advance(11 * SECOND);
    sleeper.tab.thaw();
    expect((await world.end(sleeper.tab, press)).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('move', () => {
  test.for<[string, Entry, Entry[]]>([
    ['may have charged', charged(lost()), [replays()]],
    ['is done', charged(answers(201)), []],
  ])("a guest's operation in memory does not hide the user's own on the disk, which %s", async ([_, before, after], { world, tab }) => {
    const own = await world.end(tab, pay(tab.once({ namespace: 'ann' }), ONE), before);
    world.server.plays(lost());
    await degraded(world, tab, tab.once({ namespace: 'guest' }));
    const ann = tab.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    expect((await world.end(tab, pay(ann), ...after)).outcome).toMatchObject({ effect: 'done', key: own.outcome?.key });
  });

  test("a user's operation in memory that ended as none does not hide a guest's payment on the disk that may have charged", async ({ world, tab }) => {
    world.server.plays(answers(402, { code: 'card_declined' }), charged(lost()));
    await degraded(world, tab, tab.once({ namespace: 'ann' }));
    const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' }), ONE));
    const ann = tab.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });
});

describe('pending', () => {
  test('lists what is in memory in the order of names, page by page', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(lost(), lost(), lost());
    for (const cart of ['a', 'c']) await world.end(tab, pay(once, { ...ONE, operation: ['pay', cart] }));
    await degraded(world, tab, once, { operation: ['pay', 'b'] });
    const names: unknown[] = [];
    let after: string | undefined;
    for (let page = 0; page < 6; page++) {
      const [one] = await world.run(pending(once, { limit: 1, after }));
      if (!one) break;
      names.push(one.name[1]);
      after = one.cursor;
    }
    expect(names).toEqual(['a', 'b', 'c']);
  });

  test('lists only the record that this page goes on with if another tab has one on the disk under the same name', async ({ world, one, two }) => {
    world.server.plays(lost(), lost());
    const { outcome } = await degraded(world, one.tab, one.once);
    await world.end(two.tab, pay(two.once, ONE));
    expect(await world.run(pending(one.once))).toMatchObject([{ key: outcome?.key }]);
  });
});

test('clear leaves nothing to read in the record that another tab has on the disk under a name that is in memory here', async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann' });
  world.server.plays(lost(), lost());
  await degraded(world, tab, once);
  const other = world.open({ namespace: 'ann' });
  const { outcome } = await world.end(other.tab, pay(other.once, { ...ONE, meta: { note: 'secret' }, keep: { request: true } }));
  expect(world.record()).toMatchObject({ meta: { note: 'secret' } });
  await world.run(clear(once));
  const left = world.record();
  expect(left).toMatchObject({ state: 'pending', key: outcome?.key });
  expect([left?.meta, left?.request]).toEqual([undefined, undefined]);
});

describe('a name whose record in memory is gone', () => {
  test('is stored on the disk by the next call', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(unreachable());
    expect((await degraded(world, tab, once)).outcome).toMatchObject({ type: 'unsent' });
    const { outcome } = await world.end(tab, pay(once, ONE), charged(lost()));
    expect(outcome).toMatchObject({ effect: 'unknown', storedIn: 'disk' });
    const next = tab.reload();
    expect((await world.end(next, pay(next.once({ namespace: 'ann' })), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });

  test("is not refused with durability: 'required'", async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(unreachable());
    await degraded(world, tab, once);
    world.server.plays(charged(answers(201)));
    const required = tab.once({ namespace: 'ann', durability: 'required' });
    expect((await world.end(tab, pay(required, ONE))).outcome).toMatchObject({ effect: 'done', storedIn: 'disk' });
  });

  test.for([false, true])('can be used again after it was forgotten (by a log-out: %s)', async (byClear, { world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(lost());
    await degraded(world, tab, once);
    if (byClear) await world.run(clear(once, { unsettled: 'forget' }));
    else await world.run(forget(once, ['pay', 'c1'], { evenIfUnknown: true }));
    expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ effect: 'done', storedIn: byClear ? 'disk' : 'memory' });
  });

  test('does not hide from forget and settle what another tab has sent since', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(unreachable());
    await degraded(world, tab, once);
    const other = world.open({ namespace: 'ann' });
    const { outcome } = await world.end(other.tab, pay(other.once, ONE), charged(lost()));
    await expect(world.run(forget(once, NAME))).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    await world.run(settle(once, NAME, 'done'));
    expect(world.record()).toMatchObject({ state: 'settled', key: outcome?.key });
  });
});

describe('a record in memory beside another feature', () => {
  const EDITED = { ...CART, amount: 20 };
  const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' });
  const MEMORY = { storedIn: 'memory' } as const;

  /** A tab whose next first write fails. */
  function open(options: Parameters<ReturnType<typeof newWorld>['open']>[0] = {}) {
    const world = newWorld();
    const opened = world.open({ namespace: 'ann', limits: { attempts: 1 }, ...options });
    opened.tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
    return opened;
  }

  describe('if-changed', () => {
    const CHANGED = { repeat: 'if-changed' } as const;

    test('the same payload is answered, another one is sent under a new key, and then that one is answered', async () => {
      const { world, tab, once } = open(CHANGED);
      expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ type: 'fresh', ...MEMORY });
      expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ type: 'replayed', from: 'memory' });
      expect((await world.end(tab, pay(once, { body: EDITED }))).outcome).toMatchObject({ type: 'fresh', ...MEMORY });
      expect((await world.end(tab, pay(once, { body: EDITED }))).outcome).toMatchObject({ type: 'replayed', from: 'memory' });
      expect(new Set(world.server.keys).size).toBe(2);
      expect(world.record()).toBeUndefined();
    });

    test.each([
      ['repeats its answer', [replays()]],
      ['compares payloads', [MISMATCH, replays()]],
    ] as const)('the first answer was lost, and the server %s: the change goes on under a new key', async (_, told) => {
      const { world, tab, once } = open(CHANGED);
      const first = await world.end(tab, pay(once), charged(lost()), ...told, charged(answers(201)));
      expect(first.outcome).toMatchObject({ effect: 'unknown', storedIn: 'memory' });
      const changed = await world.end(tab, pay(once, { body: EDITED }));
      expect(changed.outcome).toMatchObject({ type: 'fresh', effect: 'done', ...MEMORY });
      expect(changed.outcome?.key).not.toBe(first.outcome?.key);
      expect(world.server.charged.size).toBe(2);
    });

    test('a record that another tab has stored under that name since does not change what this tab says of its own', async () => {
      const { world, tab, once } = open(CHANGED);
      const first = await world.end(tab, pay(once), charged(lost()));
      const other = world.open({ namespace: 'ann', ...CHANGED });
      expect((await world.end(other.tab, pay(other.once, { body: EDITED }), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh', storedIn: 'disk' });
      // This tab asks for the outcome of its first payload under its own key.
      expect((await world.end(tab, pay(once), replays(), charged(answers(201)))).outcome).toMatchObject({
        type: 'replayed',
        key: first.outcome?.key,
        ...MEMORY,
      });
      expect((await world.end(tab, pay(once, { body: { ...CART, amount: 30 } }))).outcome).toMatchObject({ type: 'fresh', ...MEMORY });
    });
  });

  describe('run with a schema', () => {
    const schemaOf = (validate: StandardSchema<string>['~standard']['validate']): StandardSchema<string> => ({
      '~standard': { version: 1, vendor: 'test', validate },
    });
    const text = schemaOf((value) => (typeof value === 'string' ? { value } : { issues: [{ message: 'no text' }] }));
    const attempt = (once: Once, effect: () => Promise<unknown>, result: StandardSchema<string>) =>
      watched(run(once, NAME, effect as () => Promise<string>, { result } as RunOptions<string>)) as Promise<never>;

    test('a value that is remembered in memory also fits the schema, and the function runs once', async () => {
      const { world, tab, once } = open();
      let runs = 0;
      const effect = async () => `paid ${++runs}`;
      expect(await world.run(attempt(once, effect, text))).toBe('paid 1');
      expect(await world.run(attempt(once, effect, text))).toBe('paid 1');
      expect(world.record()).toBeUndefined();
      expect(tab.degraded.size).toBe(1);
    });

    test.each<[string, StandardSchema<string>]>([
      ['does not fit', schemaOf(() => ({ issues: [{ message: 'no' }] }))],
      [
        'makes the schema throw',
        schemaOf(() => {
          throw new Error('broken');
        }),
      ],
    ])('a value that %s: the outcome is done all the same, and the function does not run again', async (_, schema) => {
      const { world, once } = open();
      let runs = 0;
      const effect = async () => ++runs;
      for (let press = 0; press < 2; press++)
        await expect(world.run(attempt(once, effect, schema))).rejects.toMatchObject({
          code: 'ERR_ONCE_ALREADY_SETTLED',
          outcome: { effect: 'done', ...MEMORY },
        });
      expect(runs).toBe(1);
    });

    test('a function whose outcome is unknown runs again under the same key, and its value is validated', async () => {
      const { world, tab, once } = open();
      const keys: string[] = [];
      const effect = async ({ key }: { readonly key: string }) => {
        keys.push(key);
        if (keys.length === 1) throw new Error('socket hang up');
        return 'paid';
      };
      const go = () => watched(run(once, NAME, effect, { result: text })) as Promise<never>;
      expect(await world.end(tab, go())).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', ...MEMORY } });
      expect(await world.run(go())).toBe('paid');
      expect(new Set(keys).size).toBe(1);
    });
  });

  test('a log-in that moves the record while its request is under way does not change where the key was stored', async () => {
    let user = 'guest';
    const { world, tab, once } = open({ namespace: () => user });
    const logIn = (): void => {
      user = 'ann';
      void move(once, 'guest');
    };
    expect((await world.end(tab, pay(once), during(logIn, charged(delayed(SECOND, answers(201)))))).outcome).toMatchObject({ effect: 'done', ...MEMORY });
  });
});

describe('where contexts race (not atomic)', () => {
  test('after a decline, a corrected card that is kept in memory gets the next derived key, and the reloaded page derives the same one', async ({ world }) => {
    const decline = { code: 'card_declined' };
    const { tab, once } = world.open({}, { locks: false, claims: { atomic: false } });
    world.server.plays(answers(402, decline));
    const { outcome } = await degraded(world, tab, once);
    expect((await world.end(tab, pay(once), replays(402, decline))).outcome).toMatchObject({ type: 'rejected', key: outcome?.key });
    const corrected = { body: { ...CART, card: 'B' } };
    await world.end(tab, pay(once, { ...ONE, ...corrected }), charged(lost()));
    const next = tab.reload();
    await world.end(next, pay(next.once(), corrected), replays(402, decline), replays());
    expect((await world.end(next, pay(next.once(), corrected))).outcome).toMatchObject({ effect: 'done', key: world.server.keys[2] });
  });

  test("beside a guest's operation that move took over in memory, the user's next key is derived, too: the reloaded page arrives at it", async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'guest' }, { locks: false, claims: { atomic: false } });
    world.server.plays(lost());
    await degraded(world, tab, once);
    const ann = tab.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    await world.run(settle(ann, NAME, 'none'));
    const { outcome } = await world.end(tab, pay(ann, ONE), charged(lost()));
    const next = tab.reload();
    expect((await world.end(next, pay(next.once({ namespace: 'ann' })), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });
});

test('a second client of the page, whose automatic store has not been asked yet, goes on with what the first one keeps in memory', async ({ world, tab }) => {
  const client = () => tab.once({ store: firstAvailable([tab.store]), use: [], limits: { attempts: 1 } });
  const [one, two] = [client(), client()];
  tab.faults.rate('full', 1);
  const { outcome } = await world.end(tab, pay(one), charged(lost()));
  expect(outcome).toMatchObject({ effect: 'unknown', storedIn: 'memory' });
  expect((await world.end(tab, pay(two), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
});
