/**
 * Goal: once `clear` has ended, nothing more leaves from `resume` and `run` of another client of the page, and what they tell is
 * true. Method: an unrelated client clears while an answer is awaited, between two attempts, and while a key function is asked.
 */
import { describe, expect, vi } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { clear, pending, type RunEnd, run } from '../../src/entries/index.js';
import { answers, charged, delayed, type Entry, lost, replays } from '../support/server.js';
import { slow } from '../support/slow-function.js';
import type { Tab } from '../support/tab.js';
import { NAME, ONE, pay, resumed, SECOND, test, type World, watched } from '../support/world.js';

const ANN = { namespace: 'ann', keep: { request: true } } as const;

/** A page of Ann with three unsettled payments, whose requests are stored. */
async function unsettled(world: World): Promise<Tab> {
  const { tab, once } = world.open(ANN);
  for (const cart of [1, 2, 3]) await world.end(tab, pay(once, { ...ONE, operation: ['pay', cart], body: { cart } }), charged(lost()));
  return tab.reload();
}

test.for<[string, Entry, string[]]>([
  ['awaits an answer: the caller gets it, and it is not stored', delayed(5 * SECOND, replays()), ['done', 'unknown', 'unknown']],
  ['waits for its next attempt', answers(503, '', { 'retry-after': '5' }), ['unknown', 'unknown', 'unknown']],
])('a log-out while resume %s; nothing else leaves', async ([_, meets, effects], { world }) => {
  const tab = await unsettled(world);
  const [resuming, other] = [tab.once(ANN), tab.once({ namespace: 'ann' })];
  const [told] = await world.begin(resumed(resuming, { concurrency: 1 }), meets);
  expect(world.server.arrivals).toHaveLength(4);
  const { kept } = await world.run(clear(other));
  expect(kept.map(({ name, resumable }) => [name[1], resumable])).toEqual([
    [1, false],
    [2, false],
    [3, false],
  ]);
  expect((await world.run(told)).map(({ outcome }) => outcome.effect)).toEqual(effects);
  expect(world.server.arrivals).toHaveLength(4);
  expect((world.records as OnceRecord[]).map(({ state, request }) => [state, request])).toEqual([1, 2, 3].map(() => ['pending', undefined]));
});

describe('a log-out while the key function of run is asked', () => {
  const declined = (): Response => Response.json({ code: 'card_declined' }, { status: 402, headers: { 'idempotent-replayed': 'true' } });

  test.for([0, 1])('for key %i: the function given to run is not called with it', async (cleared, { world, tab }) => {
    const [once, other] = [tab.once({ namespace: 'ann' }), tab.once({ namespace: 'ann' })];
    // The server keeps its refusal of the first key, so the call goes on with the next key.
    const effect = vi.fn(async (_: { readonly key: string }) => declined());
    const key = async ({ generation }: { readonly generation: number }): Promise<string> => {
      if (generation === cleared) await clear(other);
      return `order-1.${generation}`;
    };
    const end = await world.end(tab, watched(run(once, NAME, effect, { key })));
    expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
    expect(effect).toHaveBeenCalledTimes(cleared);
  });
});

describe('while the function given to run is between two calls of its own', () => {
  /** A refusal of the only call proves that nothing was done. */
  const verdict = (end: RunEnd<string>) => ('error' in end && end.keys === 1 ? 'rejected' : undefined);

  test.for(
    ['ann logs out', 'bob logs in', 'bob was here'].flatMap((what) =>
      [undefined, verdict].flatMap((says) => [false, true].map((again) => [what, says && 'a verdict', again ? 'again' : 'first', says] as const)),
    ),
  )('%s (%s, %s run): it gets no key for its second call, and the effect is unknown', async ([what, , run_, says], { world, tab }) => {
    let user = 'ann';
    const [once, other] = [tab.once({ namespace: () => user }), tab.once({ namespace: 'ann' })];
    const leave = async (): Promise<void> => {
      if (what === 'ann logs out') await clear(other);
      else user = 'bob';
      // A screen reads the operations of its user.
      await pending(once);
      if (what === 'bob was here') user = 'ann';
    };
    const keys: string[] = [];
    const pays = async ({ child }: { child(label: string): string }, between?: () => Promise<void>): Promise<string> => {
      keys.push(child('charge'));
      await between?.();
      keys.push(child('fee'));
      return 'paid';
    };
    const breaks = () => Promise.reject(new TypeError('socket hang up'));
    if (run_ === 'again') await world.end(tab, watched(run(once, NAME, (attempt) => pays(attempt, breaks), ONE)) as Promise<never>);
    const before = keys.length;
    const end = await world.end(tab, watched(run(once, NAME, (attempt) => pays(attempt, leave), { ...ONE, ...(says && { verdict: says }) })) as Promise<never>);
    expect(end.outcome).toMatchObject({ effect: 'unknown' });
    expect(keys).toHaveLength(before + 1);
    user = 'ann';
    expect(await world.run(run(once, NAME, (attempt) => pays(attempt)))).toBe('paid');
    expect(new Set(keys).size).toBe(2);
  });

  test('and after its call has ended, ann logs out: it gets no key either', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann', limits: { attempts: 1, attemptMs: SECOND } });
    const keys: string[] = [];
    const { effect, end } = slow(({ child }) => void keys.push(child('fee')));
    expect((await world.end(tab, watched(run(once, NAME, effect)) as Promise<never>)).outcome).toMatchObject({ effect: 'unknown' });
    await world.run(clear(once));
    await end();
    expect(keys).toEqual([]);
  });
});
