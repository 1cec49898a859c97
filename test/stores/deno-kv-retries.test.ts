/**
 * Goal: if KV Connect sends a commit a second time because the answer was lost, the second copy is refused, but the store recognises that its
 * own first copy was written. Method: a Deno KV in memory whose client sends one commit twice. Callers must be told the same as without that.
 */
import { type DenoKvEntryLike, type DenoKvKey, type DenoKvLike, denoKvStore } from 'oncefetch/deno';
import { expect, test } from 'vitest';
import { clear, createOnce, forget, move, type Once, outcomeOf, pending, settle } from '../../src/entries/index.js';

interface Check {
  readonly key: DenoKvKey;
  readonly versionstamp: string | null;
}

/** `twice`: whether the n-th commit is sent twice. */
function kvOf(twice: (n: number) => boolean): DenoKvLike {
  const entries = new Map<string, DenoKvEntryLike>();
  let [version, commits] = [0, 0];
  const at = (key: readonly unknown[]): DenoKvEntryLike => entries.get(JSON.stringify(key)) ?? { key, value: null, versionstamp: null };
  const commit = (checks: readonly Check[], steps: readonly (() => void)[]): { ok: boolean } => {
    if (checks.some(({ key, versionstamp }) => at(key).versionstamp !== versionstamp)) return { ok: false };
    version++;
    for (const step of steps) step();
    return { ok: true };
  };
  return {
    get: async (key) => at(key),
    async *list({ prefix }) {
      for (const entry of [...entries.values()]) if (JSON.stringify(entry.key.slice(0, prefix.length)) === JSON.stringify(prefix)) yield entry;
    },
    atomic() {
      const [checks, steps]: [Check[], (() => void)[]] = [[], []];
      const added = (_: unknown): typeof atomic => atomic;
      const atomic = {
        check: (check: Check) => added(checks.push(check)),
        set: (key: DenoKvKey, value: unknown) => added(steps.push(() => void entries.set(JSON.stringify(key), { key, value, versionstamp: String(version) }))),
        delete: (key: DenoKvKey) => added(steps.push(() => void entries.delete(JSON.stringify(key)))),
        async commit() {
          const said = commit(checks, steps);
          return twice(commits++) ? commit(checks, steps) : said;
        },
      };
      return atomic;
    },
  };
}

type Act = (once: Once, pay: (of?: Once) => Promise<unknown>, user: Once) => unknown;

/** What the app does. `answers` are the statuses that the server gives, in order. If the first is a lost answer, a payment comes before `act`. */
const ACTS: Readonly<Record<string, readonly [act: Act, ...answers: (number | undefined)[]]>> = {
  'paid at once': [(_, pay) => pay(), 201],
  'paid after a lost answer': [(_, pay) => pay(), undefined, 201],
  'refused at once': [(_, pay) => pay(), 422],
  'refused after a lost answer': [(_, pay) => pay(), undefined, 422, 422, 201],
  'settled as none': [(once) => settle(once, ['pay', 1], 'none'), undefined],
  'settled as done': [(once) => settle(once, ['pay', 1], 'done'), undefined],
  forgotten: [(once) => forget(once, ['pay', 1], { evenIfUnknown: true }), undefined],
  'kept at a log-out': [async (once) => (await clear(once)).kept.length, undefined],
  moved: [(_, __, user) => move(user, 'guest'), undefined],
};

async function told(name: string, which: number): Promise<unknown> {
  const [act, ...answers] = ACTS[name] as (typeof ACTS)[string];
  const store = denoKvStore(kvOf((n) => n === which));
  const fetch = async (): Promise<Response> => {
    const status = answers.length > 0 ? answers.shift() : 201;
    if (status === undefined) throw new TypeError('the answer is lost');
    return new Response('{}', { status });
  };
  const client = (namespace: string): Once => createOnce({ namespace, store, fetch, durability: 'required', limits: { attempts: 1 } });
  const [once, user] = [client('guest'), client('user')];
  const pay = async (of = once): Promise<unknown> => {
    const end = await of.fetch('https://bank.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch((error: unknown) => error);
    const { type, effect, certain, reason } = (outcomeOf(end) ?? {}) as Readonly<Record<string, unknown>>;
    return { type, effect, certain, reason };
  };
  if (answers[0] === undefined) await pay();
  const said = await Promise.resolve(act(once, pay, user)).catch((error: { code: string }) => error.code);
  const open = [(await pending(once)).length, (await pending(user)).length];
  return [said, open, await pay(name === 'moved' ? user : once)];
}

test.each(Object.keys(ACTS).flatMap((name) => [0, 1, 2, 3, 4].map((which) => [name, which] as const)))('%s: commit %i is sent twice', async (name, which) => {
  expect(await told(name, which)).toEqual(await told(name, -1));
});
