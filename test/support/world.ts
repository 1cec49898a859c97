/**
 * Everything outside of oncefetch, scripted: time, storage, locks and a server, shared by any number of tabs. Nothing is random, and
 * nothing waits for real time. When a test ends, the world checks what must always hold.
 */
import { test as anyTest, expect, onTestFinished } from 'vitest';
import { encodeName, type OperationName } from '../../src/core/name.js';
import type { OnceRecord } from '../../src/core/record.js';
import { type OnceErrorCode, type Operation, type OperationOptions, type Outcome, operation, type Resumed, resume, settle } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { memoryMedium } from '../../src/stores/memory.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { LockTable } from './locks.js';
import { type Arrival, answers, charged, type Entry, ScriptedServer } from './server.js';
import { Tab, type TabOptions, type Write } from './tab.js';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const URL_ = 'https://shop.example/api/payments';
export const NAME: OperationName = ['pay', 'c1'];
export const CART = { cart: 'c1', amount: 10 };
/** Options of a call that makes one attempt only. */
export const ONE = { limits: { attempts: 1 } } as const;

/** How a call ended. */
export interface End {
  readonly response: Response | undefined;
  readonly error: unknown;
  readonly status: number | undefined;
  readonly code: OnceErrorCode | undefined;
  readonly outcome: Outcome | undefined;
  /** The time from the call of `end` to the end of the call, ms. */
  readonly ms: number;
}

/** A tab with a client. */
export interface Page {
  readonly tab: Tab;
  readonly once: Once;
}

export interface PayOptions extends OperationOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly init?: RequestInit | undefined;
  readonly url?: string | undefined;
}

/** The call of nearly every test: pays for a cart. */
export const pay = (once: Once, { body = CART, signal, init, url = URL_, ...options }: PayOptions = {}): Promise<Response> =>
  watched(
    once.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
      ...init,
      once: { operation: NAME, ...options },
    }),
  );

/** A hook that notes every question in `heard` and always gives the same answer. */
export const saying =
  <T>(heard: unknown[], said: T) =>
  async (question: unknown): Promise<T> => {
    heard.push(question);
    return said;
  };

/** Runs `resume` to its end, and returns all its results. */
export async function resumed(...of: Parameters<typeof resume>): Promise<Resumed[]> {
  const told: Resumed[] = [];
  for await (const one of resume(...of)) told.push(one);
  return told;
}

/** The operation of nearly every test as a screen shows it, which listens to its changes. */
export function onScreen(once: Once): Operation {
  const shown = operation(once, NAME);
  shown.subscribe(() => {});
  return shown;
}

/** Marks a promise as handled, because it may reject before the test awaits it. */
export function watched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

const TURNS = 8;
const TIMERS_MAX = 5000;

/** Lets everything run that does not wait for a timer. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export class World {
  readonly clock = virtualClock({ settle: rest });
  readonly server = new ScriptedServer(this.clock);
  readonly locks = new LockTable();
  readonly medium = memoryMedium('shared');
  readonly writes: Write[] = [];
  /** Uniform in [0, 1). A test may replace it. */
  random = seededRandom(1);
  readonly tabs: Tab[] = [];
  keyHeader = 'Idempotency-Key';
  /** How the server finds the key of a request. */
  keyOf = ({ headers }: { readonly url: string; readonly headers: Headers; readonly body: unknown }): string | null => headers.get(this.keyHeader);
  /** The outcomes that callers were told. */
  readonly #told: Outcome[] = [];
  readonly #violations: string[] = [];

  tab(options?: TabOptions): Tab {
    const tab = new Tab(this, options);
    this.tabs.push(tab);
    return tab;
  }

  /** One tab with one client: what most tests need. */
  open(options?: Parameters<Tab['once']>[0], of?: TabOptions): Page & { readonly world: World } {
    const tab = this.tab(of);
    return { world: this, tab, once: tab.once(options) };
  }

  /** Lets time pass until `promise` settles. Rejects when nothing is left that could settle it. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = (): void => void (settled = true);
    promise.then(done, done);
    for (let fired = 0; fired < TIMERS_MAX; fired++) {
      await rest();
      if (settled) return promise;
      if (!(await this.clock.next()) && !settled) throw new Error('this waits for something that will never happen');
    }
    throw new Error(`this has not ended after ${TIMERS_MAX} timers`);
  }

  /** Begins a call whose requests meet these script entries, and lets it get as far as it can without a timer. Returns its promise in an array. */
  async begin<T>(call: Promise<T>, ...meets: readonly Entry[]): Promise<readonly [Promise<T>]> {
    this.server.plays(...meets);
    await rest();
    return [call];
  }

  /** Runs the world until the call in `tab` has ended, and returns how. `meets`: script entries for its requests. */
  async end(tab: Tab, call: Promise<Response>, ...meets: readonly Entry[]): Promise<End> {
    this.server.plays(...meets);
    const begun = this.clock.now();
    const [settled] = await this.run(Promise.allSettled([call]));
    const response = settled.status === 'fulfilled' ? settled.value : undefined;
    const error = settled.status === 'rejected' ? settled.reason : undefined;
    const outcome = tab.outcomeOf(response ?? error);
    if (outcome) this.#told.push(outcome);
    const ms = this.clock.now() - begun;
    return { response, error, status: response?.status, code: (error as { code?: OnceErrorCode } | undefined)?.code, outcome, ms };
  }

  /** Runs the world until every call has ended. */
  async all(tab: Tab, ...calls: readonly Promise<Response>[]): Promise<End[]> {
    const ends: End[] = [];
    for (const call of calls) ends.push(await this.end(tab, call));
    return ends;
  }

  /** Begins a payment that meets these script entries, in a page or process that then dies. */
  async dies({ tab, once }: Page, options: PayOptions, ...meets: readonly Entry[]): Promise<void> {
    await this.begin(pay(once, options), ...meets);
    tab.kill();
  }

  /** Presses again, which is another operation than that of `key`, and takes effect. */
  async beginsAnew({ tab, once }: Page, key: string | undefined, options?: PayOptions): Promise<void> {
    const { outcome } = await this.end(tab, pay(once, options), charged(answers(201)));
    expect(outcome).toMatchObject({ type: 'fresh' });
    expect(outcome?.key).not.toBe(key);
  }

  /** `settle` takes "none" in `ms` from now. */
  async takesNone(once: Once, ms = 0): Promise<void> {
    if (ms) await this.clock.advance(ms);
    await this.run(watched(settle(once, NAME, 'none')));
  }

  /** `settle` still refuses "none" in `ms` from now, because an attempt may have its effect. */
  async refusesNone(once: Once, ms = 0): Promise<void> {
    await expect(this.takesNone(once, ms)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  }

  /** Makes a payment whose scripted answer leaves its outcome unknown, in a tab that then dies. Many tests begin with it. Returns the key. */
  async interrupted(...scripted: readonly Entry[]): Promise<string> {
    const { tab, once } = this.open();
    const { outcome } = await this.end(tab, pay(once, ONE), ...scripted);
    expect(outcome).toMatchObject({ effect: 'unknown' });
    tab.kill();
    return outcome?.key ?? '';
  }

  /** The record under this name. `ns` is needed if several namespaces have one. */
  record(name: OperationName = NAME, ns?: string): OnceRecord | undefined {
    const label = encodeName(name);
    const found = (this.records as OnceRecord[]).filter((record) => record.label === label && (ns === undefined || record.ns === ns));
    if (found.length > 1) throw new Error(`${found.length} records are named ${label}`);
    return found[0];
  }

  /** Replaces the record under this name by any value. */
  damage(change: (record: OnceRecord) => unknown, name: OperationName = NAME): void {
    const record = this.record(name);
    if (!record) throw new Error('there is no record to damage');
    this.medium.set(record.id, change(record));
  }

  /** Empties the store, as a user does who deletes the site's data, or `AsyncStorage.clear()` at a log-out. */
  empty(): void {
    for (const { id } of this.writes) this.medium.set(id, null);
  }

  /** The present state of every record that a tab ever wrote. */
  get records(): unknown[] {
    return [...new Set(this.writes.map(({ id }) => id))].map((id) => this.medium.get(id)).filter((record) => record !== undefined);
  }

  /** Checks that a key is stored as ambiguous, or degraded to memory, before a request with it leaves. */
  arrives(arrival: Arrival, degraded: readonly unknown[]): void {
    if (arrival.key === null) return;
    const stored = [...this.records, ...degraded] as (OnceRecord | null)[];
    if (!stored.some((record) => record?.key === arrival.key && record.ambiguous))
      this.#violations.push(`key ${arrival.key} left before it was stored as sent`);
  }

  /** Whether a call that was not told "none" also sent this key. A key that stays in use after a refusal can have an effect for the next call. */
  #sentByOthers(key: string): boolean {
    const byThose = this.#told.filter((told) => told.key === key && told.effect === 'none' && !told.joined);
    return this.server.keys.filter((one) => one === key).length > byThose.reduce((sum, { attempts }) => sum + attempts, 0);
  }

  /** Checks what must be true at the end of every test. */
  check(): void {
    expect(this.#violations).toEqual([]);
    expect(
      this.server.unscripted.map(({ from, key }) => `${from} sent ${key}`),
      'requests that nobody expected',
    ).toEqual([]);
    expect(this.server.left, 'answers that nobody fetched').toBe(0);
    for (const { type, effect, key } of this.#told) {
      // An outcome must still be true at the end of the test.
      if (effect === 'none' && key !== undefined && this.server.charged.has(key)) expect(this.#sentByOthers(key), `told ${type}`).toBe(true);
      // `null` is in `charged` if the server took a request without a key, so `fresh` cannot be checked there.
      if (type === 'fresh' && !this.server.charged.has(null)) expect([...this.server.charged], `told ${type}`).toContain(key);
    }
  }
}

/** A world for the present test, checked when it ends. */
export function newWorld(): World {
  const world = new World();
  onTestFinished(() => world.check());
  return world;
}

/** The fixtures of most tests: a world, a tab in it, and a client in that tab. A test gets those that it names. */
export const test = anyTest
  .extend('world', () => newWorld())
  .extend('tab', ({ world }) => world.tab())
  .extend('once', ({ tab }) => tab.once())
  // Two tabs with a client each.
  .extend('one', ({ world }) => world.open())
  .extend('two', ({ world }) => world.open());
