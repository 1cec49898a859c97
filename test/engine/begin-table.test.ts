/**
 * Goal: a call does the right thing with the record that it finds, in every cell of the table. Method: the engine itself brings
 * each state about, then a reloaded page or a second tab calls. The expectation of each cell is worked out here from the words of
 * the table, not from the code.
 */
import { describe, expect } from 'vitest';
import { type KeyStrategy, type OperationOptions, settle } from '../../src/entries/index.js';
import { answers, charged, lost } from '../support/server.js';
import { CART, HOUR, NAME, newWorld, pay, test, type World } from '../support/world.js';

const OTHER = { ...CART, amount: 20 };

const STATES = ['none', 'clean', 'ambiguous', 'past the window', 'settled', 'retired'] as const;
type State = (typeof STATES)[number];
const REPEATS = ['never', 'if-changed', 'always'] as const;
const CHANGED = ['same-key', 'refuse'] as const;
const KEYS = { random: undefined, derived: ({ generation }) => `order-c1-${generation}`, literal: 'order-c1' } satisfies Record<
  string,
  string | KeyStrategy | undefined
>;
const PAGES = ['after a reload', 'in a second tab'] as const;

interface Cell {
  readonly state: State;
  readonly payload: 'same' | 'other';
  readonly repeat: (typeof REPEATS)[number];
  readonly whenChanged: (typeof CHANGED)[number];
  readonly key: keyof typeof KEYS;
  readonly page: (typeof PAGES)[number];
}

/** What the table says: under which key the request is sent, or the code of the error. */
function expected({
  state,
  payload,
  repeat,
  whenChanged,
  key,
}: Cell): 'ERR_ONCE_MISMATCH' | 'ERR_ONCE_KEY_EXPIRED' | 'ERR_ONCE_ALREADY_SETTLED' | 'same key' | 'new key' {
  const same = payload === 'same';
  switch (state) {
    case 'none':
      return 'new key';
    case 'clean':
      if (same) return 'same key';
      // A record whose key is not random never counts as clean.
      if (key === 'random') return 'new key';
      return whenChanged === 'refuse' ? 'ERR_ONCE_MISMATCH' : 'same key';
    case 'ambiguous':
      return same || whenChanged === 'same-key' ? 'same key' : 'ERR_ONCE_MISMATCH';
    case 'past the window':
      return 'ERR_ONCE_KEY_EXPIRED';
    case 'settled':
      return repeat === 'always' || (repeat === 'if-changed' && !same) ? 'new key' : 'ERR_ONCE_ALREADY_SETTLED';
    case 'retired':
      // A key that is not random stays in use if no server holds an effect under it. Then a call that derives the key again after a loss of the storage
      // arrives at the key that took effect.
      return key === 'random' ? 'new key' : 'same key';
  }
}

/** Leaves a record in this state, and returns its key. */
async function bring(world: World, state: State, options: OperationOptions) {
  const { tab, once } = world.open();
  if (state === 'clean') {
    tab.online = false;
    await world.dies({ tab, once }, options);
  } else if (state !== 'none') {
    world.server.plays(state === 'settled' ? answers(201) : state === 'retired' ? lost() : charged(lost()));
    await world.end(tab, pay(once, { ...options, limits: { attempts: 1 } }));
    // Settled by hand, because a refusal alone does not retire a record whose key is not random.
    if (state === 'retired') await world.run(settle(once, NAME, 'none'));
    if (state === 'past the window') await world.clock.advance(24 * HOUR);
  }
  return { tab, key: world.record()?.key };
}

const cells: Cell[] = [];
for (const state of STATES)
  for (const payload of ['same', 'other'] as const)
    for (const repeat of REPEATS)
      for (const whenChanged of CHANGED)
        for (const key of Object.keys(KEYS) as (keyof typeof KEYS)[]) for (const page of PAGES) cells.push({ state, payload, repeat, whenChanged, key, page });

describe('what a call does with the record that it finds', () => {
  const titled = cells.map(
    (cell) =>
      [`${cell.state}, ${cell.payload} payload, repeat ${cell.repeat}, ${cell.whenChanged}, ${cell.key} key, ${cell.page}`, expected(cell), cell] as const,
  );
  test.for(titled)('%s: %s', async ([_, should, cell], { world }) => {
    const { repeat, whenChanged, state, payload } = cell;
    const options = { repeat, whenChanged, key: KEYS[cell.key] };
    const { tab: before, key } = await bring(world, state, options);
    const tab = cell.page === 'after a reload' ? before.reload() : world.tab();
    const sent = world.server.arrivals.length;
    if (/key$/.test(should)) world.server.plays(answers(201));
    const end = await world.end(tab, pay(tab.once(), { ...options, body: payload === 'same' ? CART : OTHER }));
    if (!/key$/.test(should)) {
      expect(end.code).toBe(should);
      expect(world.server.arrivals).toHaveLength(sent);
      expect(end.outcome?.effect).toBe(state === 'settled' ? 'done' : 'unknown');
      expect(world.record()).toMatchObject({ key, state: state === 'settled' ? 'settled' : 'pending' });
      return;
    }
    expect(end).toMatchObject({ status: 201, outcome: { effect: 'done', resumed: state === 'ambiguous' } });
    // A literal key is the same in every generation.
    if (should === 'same key' || (cell.key === 'literal' && key !== undefined)) expect(end.outcome?.key).toBe(key);
    else expect(end.outcome?.key).not.toBe(key);
    // Under the same key, the server may have answered the earlier payload.
    const same = should === 'same key' ? state !== 'retired' : cell.key === 'literal' && state === 'settled';
    expect(end.outcome).toMatchObject({ changed: same && payload === 'other' });
    expect(world.record()?.payloads).toHaveLength(same && payload === 'other' ? 2 : 1);
    // A random key uses no generation up.
    expect(world.record()?.generation).toBe(should === 'new key' && state !== 'none' && cell.key !== 'random' ? 1 : 0);
  });
});

describe('a literal key other than the pending one', () => {
  test.for(['clean', 'ambiguous'] as const)('%s: ERR_ONCE_MISMATCH, nothing sent, nothing changed', async (state, { world }) => {
    const { tab: before } = await bring(world, state, {});
    const record = world.record();
    const tab = before.reload();
    expect(await world.end(tab, pay(tab.once(), { key: 'order-c1' }))).toMatchObject({
      code: 'ERR_ONCE_MISMATCH',
      outcome: { effect: 'unknown', sent: state === 'clean' ? 'no' : 'maybe' },
    });
    expect(world.record()).toEqual(record);
  });

  test('settled: the record answers for its name, whatever the key', async ({ world }) => {
    const { tab: before } = await bring(world, 'settled', {});
    const tab = before.reload();
    expect(await world.end(tab, pay(tab.once(), { key: 'order-c1' }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  });
});

describe('a literal key after a refusal', () => {
  test('is sent again if the refusal was not sticky', async ({ world, tab, once }) => {
    world.server.plays(answers(402), answers(201));
    // The key is not random, so the refusal leaves the effect unknown and the record pending.
    expect((await world.end(tab, pay(once, { key: 'mine' }))).outcome).toMatchObject({ effect: 'unknown' });
    expect(await world.end(tab, pay(once, { key: 'mine' }))).toMatchObject({ status: 201, outcome: { key: 'mine' } });
  });

  test('is burnt if the refusal was sticky, even after a reload; another literal key is not', async ({ world, tab, once }) => {
    world.server.plays(answers(402, '', { 'idempotent-replayed': 'true' }), answers(201));
    expect((await world.end(tab, pay(once, { key: 'mine' }))).outcome).toMatchObject({ type: 'rejected', replayed: true });
    const next = tab.reload();
    const burnt = await world.end(next, pay(next.once(), { key: 'mine', body: OTHER }));
    expect(burnt).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { type: 'rejected', effect: 'none', key: 'mine' } });
    expect(await world.end(next, pay(next.once(), { key: 'mine-2', body: OTHER }))).toMatchObject({ status: 201, outcome: { key: 'mine-2' } });
  });
});

test('the key of a pending record is used even if the strategy fails or hangs', async () => {
  for (const strategy of [() => Promise.reject(new Error('the key service is down')), () => new Promise<string>(() => {})]) {
    const world = newWorld();
    const { tab: before, key } = await bring(world, 'ambiguous', {});
    const tab = before.reload();
    expect((await world.end(tab, pay(tab.once(), { key: strategy }), answers(201))).outcome).toMatchObject({ effect: 'done', key });
  }
});

describe('repeat', () => {
  test("'if-changed' saves a profile: A, A, B, A are three effects", async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed' });
    world.server.plays(answers(200), answers(200), answers(200));
    const ends = [];
    for (const body of ['{"name":"A"}', '{"name":"A"}', '{"name":"B"}', '{"name":"A"}']) ends.push(await world.end(tab, pay(once, { body })));
    expect(ends.map(({ outcome }) => outcome?.type)).toEqual(['fresh', 'replayed', 'fresh', 'fresh']);
    expect(new Set(world.server.keys).size).toBe(3);
  });

  test("'if-changed': after a B that never left, A is not new", async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed', limits: { totalMs: 2000 } });
    await world.end(tab, pay(once, { body: '{"name":"A"}' }), answers(200));
    tab.online = false;
    expect((await world.end(tab, pay(once, { body: '{"name":"B"}' }))).outcome).toMatchObject({ type: 'unsent' });
    tab.online = true;
    expect((await world.end(tab, pay(once, { body: '{"name":"A"}' }))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test("'always' is a top-up button: each click is an effect, two in one tick are one", async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'always' });
    world.server.plays(answers(201), answers(201));
    await world.all(tab, pay(once), pay(once));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'fresh' });
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test("'never' answers another payload with ERR_ONCE_ALREADY_SETTLED, and the outcome of the first", async ({ world, tab, once }) => {
    const first = await world.end(tab, pay(once), answers(201));
    expect(await world.end(tab, pay(once, { body: OTHER }))).toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { effect: 'done', key: first.outcome?.key },
    });
  });

  test('a settled record older than keep.forMs no longer answers, swept or not', async ({ world }) => {
    const { tab, once } = world.open({ keep: { forMs: 2 * HOUR } });
    await world.end(tab, pay(once), answers(201), answers(201));
    await world.clock.advance(HOUR);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'replayed' });
    await world.clock.advance(2 * HOUR);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'fresh' });
  });
});

describe('generation', () => {
  test('rises with every rejection, and the strategy is told', async ({ world, tab, once }) => {
    const heard: number[] = [];
    const key: KeyStrategy = ({ generation }) => {
      heard.push(generation);
      return `order-${generation}`;
    };
    const sticky = answers(402, '', { 'idempotent-replayed': 'true' });
    for (let card = 0; card < 3; card++) {
      // The first refusal may come from in front of the server; its replay can't.
      world.server.plays(answers(402), sticky);
      for (let press = 0; press < 2; press++) await world.end(tab, pay(once, { key, body: { ...CART, card } }));
    }
    expect([...new Set(world.server.keys)]).toEqual(['order-0', 'order-1', 'order-2']);
    expect(heard).toContain(2);
  });

  test('does not rise with random keys, and their record is replaced instead of added to', async ({ world, tab, once }) => {
    world.server.plays(answers(402), answers(402), answers(201));
    for (let card = 0; card < 3; card++) await world.end(tab, pay(once, { body: { ...CART, card } }));
    expect(world.record()).toMatchObject({ generation: 0, state: 'settled' });
    expect(world.records).toHaveLength(1);
  });
});
