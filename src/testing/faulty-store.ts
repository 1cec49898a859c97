/** A store that fails on demand. */
import type { Changed, Clock, Store, Stored } from '../ports.js';
import { StoreFault } from '../stores/fault.js';
import { known, type Rate, withRate } from './given-faults.js';

type Call = 'update' | 'read' | 'scan';

/** The calls that each trouble can affect. */
const BEFALLS = {
  /** The write is refused: `change` was called with the record, but nothing is stored. */
  'fail-before-commit': ['update'],
  /** The write is stored, but the answer is lost, so the call rejects. */
  'fail-after-commit': ['update'],
  /** The call never ends, and nothing is stored. */
  hang: ['update', 'read', 'scan'],
  /** The write is stored, but the call never ends. */
  'hang-after-commit': ['update'],
  /** The call begins only after `ms`. */
  slow: ['update', 'read', 'scan'],
  /** The store can't be read: the call rejects before `change` is called. */
  'look-fails': ['update', 'read', 'scan'],
  /** The store is full: a write that makes its record longer rejects with `quota`; others succeed. */
  full: ['update'],
  /** All records vanish before the call, as when a browser clears an origin's data. */
  evict: ['update', 'read', 'scan'],
  /** The record loses its second half before the call, and stays so, as after a write that a disk did not finish. */
  tear: ['update', 'read'],
  /** One field of the record changes before the call, and stays so, as when a bit flips. */
  corrupt: ['update', 'read'],
} as const satisfies Record<string, readonly Call[]>;

/** A trouble that `faultyStore` can simulate. */
export type StoreFaultName = keyof typeof BEFALLS;

const SLOW_MS = 1000;
const EVICTED_PAGES_MAX = 10_000;

/** A trouble with its parameters. `ms`: how long `slow` waits. @default 1_000 */
export interface StoreTrouble {
  readonly name: StoreFaultName;
  readonly ms?: number | undefined;
}

/** Every {@link StoreFaultName}, for a test that tries each. */
export const storeFaultNames = Object.keys(BEFALLS) as readonly StoreFaultName[];

/** Decides which call meets which trouble: first by the script, then by chance. */
export class StoreFaults {
  /** How often each trouble made a difference. */
  readonly fired: Readonly<Record<StoreFaultName, number>> = Object.fromEntries(storeFaultNames.map((name) => [name, 0])) as Record<StoreFaultName, number>;
  readonly #script: (StoreTrouble | undefined)[] = [];
  #rates: readonly Rate<StoreTrouble>[] = [];

  /**
   * Scripts the troubles of the next calls, one each. `'none'` lets a call through. If a trouble can't affect a call, that call passes,
   * and the trouble waits for the next one.
   *
   * @example
   * store.faults.next('none', 'fail-after-commit', { name: 'slow', ms: 20_000 });
   */
  next(...faults: readonly (StoreFaultName | StoreTrouble | 'none')[]): void {
    this.#script.push(...faults.map((fault) => (fault === 'none' ? undefined : checked(fault))));
  }

  /**
   * Gives every call that is not scripted this trouble with this probability. For each call, all rates that can affect it are drawn, in
   * the order in which they were given, and the first hit counts. A probability of 0 removes the rates of this trouble.
   *
   * @param random - uniform in [0, 1). @default seededRandom(1), so that a run can be repeated
   * @throws RangeError on a probability outside 0 to 1
   */
  rate(fault: StoreFaultName | StoreTrouble, probability: number, random?: () => number): void {
    this.#rates = withRate(this.#rates, checked(fault), probability, random);
  }

  /** Removes all troubles. Calls that hang go on hanging. */
  clear(): void {
    this.#script.length = 0;
    this.#rates = [];
  }

  /** The trouble of this call, if any. @internal */
  draw(call: Call): StoreTrouble | undefined {
    const befalls = ({ name }: StoreTrouble) => (BEFALLS[name] as readonly Call[]).includes(call);
    // All rates draw each time, so that a hit of one does not shift the random numbers of the others.
    if (!this.#script.length) return this.#rates.filter(({ fault, probability, random }) => befalls(fault) && random() < probability)[0]?.fault;
    const [scripted] = this.#script;
    return !scripted || befalls(scripted) ? this.#script.shift() : undefined;
  }

  /** Counts a trouble that made a difference. @internal */
  hit(name: StoreFaultName): void {
    (this.fired as Record<StoreFaultName, number>)[name]++;
  }
}

const checked = (fault: StoreFaultName | StoreTrouble): StoreTrouble => known<StoreTrouble>(fault, BEFALLS);

/** Options of `faultyStore`. */
export interface FaultyStoreOptions {
  /** The troubles; several stores may share them. @default a new one, without troubles */
  readonly faults?: StoreFaults | undefined;
  /** The clock for `slow`. @default the real time */
  readonly clock?: Pick<Clock, 'timer'> | undefined;
}

/**
 * Wraps a store so that a test can make it fail, by a script or by chance.
 *
 * @example
 * const store = faultyStore(memoryStore());
 * const once = createOnce({ store });
 * store.faults.next('fail-after-commit');
 */
export function faultyStore(store: Store, { faults = new StoreFaults(), clock = realTime }: FaultyStoreOptions = {}): Store & { readonly faults: StoreFaults } {
  /** The part of a trouble that comes before the call itself. */
  const meet = async (trouble: StoreTrouble | undefined, id = ''): Promise<void> => {
    const { name, ms = SLOW_MS } = trouble ?? {};
    if (name === 'hang' || name === 'slow' || name === 'look-fails') faults.hit(name);
    if (name === 'hang') await forEver();
    if (name === 'slow') await new Promise<void>((begin) => clock.timer(ms, begin));
    if (name === 'look-fails') throw new StoreFault('io', 'look-fails: the store cannot be looked at');
    if (name === 'evict' && (await evictAll(store))) faults.hit(name);
    if ((name === 'tear' || name === 'corrupt') && (await damage(store, id, name))) faults.hit(name);
  };
  const faulty: Store & { readonly faults: StoreFaults } = {
    kind: store.kind,
    scope: store.scope,
    get survives() {
      return store.survives;
    },
    get shared() {
      return store.shared;
    },
    get atomic() {
      return store.atomic;
    },
    ownClock: store.ownClock,
    faults,
    ...(store.storedIn && { storedIn: store.storedIn.bind(store) }),
    ...(store.holder && { holder: store.holder.bind(store) }),
    ...(store.isGone && { isGone: store.isGone.bind(store) }),
    available: () => store.available?.() ?? Promise.resolve(true),
    ready: async () => {
      await store.ready?.();
      return faulty;
    },
    async update(id, change, options) {
      const trouble = faults.draw('update');
      await meet(trouble, id);
      let refusal: StoreFault | undefined;
      const value = await store.update(
        id,
        (current, now): ReturnType<typeof change> => {
          const changed = change(current, now);
          refusal = refused(trouble?.name, current, changed);
          return refusal ? { value: changed.value } : changed;
        },
        options,
      );
      const after = trouble?.name === 'fail-after-commit' || trouble?.name === 'hang-after-commit';
      if (trouble && (after || refusal)) faults.hit(trouble.name);
      if (refusal) throw refusal;
      if (trouble?.name === 'fail-after-commit') throw new StoreFault('io', 'fail-after-commit: the write is stored, its answer is lost');
      if (trouble?.name === 'hang-after-commit') await forEver();
      return value;
    },
    async read(id) {
      await meet(faults.draw('read'), id);
      return store.read(id);
    },
    async scan(query) {
      await meet(faults.draw('scan'));
      return store.scan(query);
    },
    close: () => store.close(),
  };
  return faulty;
}

function refused(name: StoreFaultName | undefined, current: unknown, { next }: Changed<unknown>): StoreFault | undefined {
  if (name === 'fail-before-commit') return new StoreFault('io', 'fail-before-commit: nothing was stored');
  if (name === 'full' && next && sizeOf(next) > sizeOf(current)) return new StoreFault('quota', 'full: there is no room');
  return undefined;
}

/** In a list, because nothing stored yet is no JSON by itself; as `null` it is shorter than any record. */
const sizeOf = (value: unknown): number => JSON.stringify([value]).length;

async function evictAll(store: Store): Promise<boolean> {
  for (let page = 0; page < EVICTED_PAGES_MAX; page++) {
    const { records } = await store.scan({ before: Number.POSITIVE_INFINITY, limit: 100 });
    if (!records.length) return page > 0;
    for (const record of records) await store.update((record as Stored).id, () => ({ next: null, value: undefined }));
  }
  throw new RangeError(`faultyStore: there are still records after ${EVICTED_PAGES_MAX} pages`);
}

/** Damages a record. A store passes on whatever it finds, so the damaged value is stored like any other, under the record's id. */
function damage(store: Store, id: string, how: 'tear' | 'corrupt'): Promise<boolean> {
  return store.update<boolean>(id, (current) => {
    if (typeof current !== 'object' || !current) return { value: false };
    const next = how === 'tear' ? JSON.stringify(current).slice(0, JSON.stringify(current).length / 2) : flipped(current);
    return { next: next as Stored, value: true };
  });
}

/** The record with the first letter of its longest text removed, which is most likely a key, a digest or a name. */
function flipped(current: object): unknown {
  const texts = Object.entries(current).filter((field): field is [string, string] => typeof field[1] === 'string');
  const [name, text] = texts.reduce((longest, field) => (field[1].length > longest[1].length ? field : longest), ['', '']);
  return { ...current, [name]: text.slice(1) };
}

const forEver = (): Promise<never> => new Promise(() => {});

const realTime: Pick<Clock, 'timer'> = {
  timer: (ms, fire) => {
    const id = setTimeout(fire, ms);
    return () => clearTimeout(id);
  },
};
