/**
 * Goal: a name whose record could only be kept in memory has the same rules as any other one: `repeat: 'if-changed'` sends what has
 * changed and nothing else, and `run` with a schema gives what was run.
 */
import { describe, expect, test } from 'vitest';
import { move, type Once, run } from '../../src/entries/index.js';
import type { RunOptions, StandardSchema } from '../../src/option-types.js';
import { answers, charged, delayed, during, lost, replays } from '../support/server.js';
import { CART, NAME, newWorld, pay, SECOND, watched } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };
const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' });
const MEMORY = { storedIn: 'memory' } as const;

/** A tab whose next first write fails. */
function open(options: Parameters<ReturnType<typeof newWorld>['open']>[0] = {}) {
  const world = newWorld();
  const opened = world.open({ namespace: 'ann', limits: { attempts: 1 }, ...options });
  opened.tab.faults.next('fail-before-commit');
  return { world, ...opened };
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
    expect(first.outcome).toMatchObject({ effect: 'unknown', ...MEMORY });
    const changed = await world.end(tab, pay(once, { body: EDITED }));
    expect(changed.outcome).toMatchObject({ type: 'fresh', effect: 'done', ...MEMORY });
    expect(changed.outcome?.key).not.toBe(first.outcome?.key);
    expect(world.server.charged.size).toBe(2);
  });

  test('what another tab has stored of that name since does not make of the change in memory what it is not', async () => {
    const { world, tab, once } = open(CHANGED);
    const first = await world.end(tab, pay(once), charged(lost()));
    const other = world.open({ namespace: 'ann', ...CHANGED });
    expect((await world.end(other.tab, pay(other.once, { body: EDITED }), charged(answers(201)))).outcome).toMatchObject({
      type: 'fresh',
      storedIn: 'disk',
    });
    // This tab's first payload is found out under its own key.
    expect((await world.end(tab, pay(once), replays(), charged(answers(201)))).outcome).toMatchObject({ type: 'replayed', key: first.outcome?.key, ...MEMORY });
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

  test('what is remembered in memory fits, too, and the function runs once', async () => {
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
      'cannot be looked at',
      schemaOf(() => {
        throw new Error('broken');
      }),
    ],
  ])('a value that %s was made all the same: done, and not made again', async (_, schema) => {
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

  test('a function whose end nobody knows runs again with the same key, and its value is looked at', async () => {
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

test('a log-in that moves the record while its request is on the wire does not change where the key was kept', async () => {
  let user = 'guest';
  const { world, tab, once } = open({ namespace: () => user });
  const logIn = (): void => {
    user = 'ann';
    void move(once, 'guest');
  };
  expect((await world.end(tab, pay(once), during(logIn, charged(delayed(SECOND, answers(201)))))).outcome).toMatchObject({ effect: 'done', ...MEMORY });
});
