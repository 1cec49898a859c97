/** A store with troubles on demand. */
import type { Changed, Clock, Store, Stored } from '../ports.js';
import { StoreFault } from '../stores/fault.js';
import { seededRandom } from './seeded-random.js';

type Call = 'update' | 'read' | 'scan';

/** Which calls a trouble can befall. */
const BEFALLS = {
  /** The write is refused: `change` has seen the record, nothing is stored. */
  'fail-before-commit': ['update'],
  /** The write is stored, and the answer lost: rejects. */
  'fail-after-commit': ['update'],
  /** Never answers; nothing is stored. */
  hang: ['update', 'read', 'scan'],
  /** The write is stored, and never answered. */
  'hang-after-commit': ['update'],
  /** Begins only after `ms`. */
  slow: ['update', 'read', 'scan'],
  /** Cannot be looked at: rejects before `change` sees anything. */
  'look-fails': ['update', 'read', 'scan'],
  /** No room: a write that makes its record longer rejects with `quota`; others go through. */
  full: ['update'],
  /** Before the call, all records vanish, as when a browser clears an origin. */
  evict: ['update', 'read', 'scan'],
  /** Before the call, the record loses its second half for good, as when a disk did not finish. */
  tear: ['update', 'read'],
  /** Before the call, one field of the record changes for good, as when a bit flips. */
  corrupt: ['update', 'read'],
} as const satisfies Record<string, readonly Call[]>;

/** A trouble that `faultyStore` can be told to have. */
export type StoreFaultName = keyof typeof BEFALLS;

const SLOW_MS = 1000;
const EVICTED_PAGES_MAX = 10_000;

/** A trouble with its length. `ms`: how long `slow` waits. @default 1_000 */
export interface StoreTrouble {
  readonly name: StoreFaultName;
  readonly ms?: number | undefined;
}

/** Every {@link StoreFaultName}, for a test of each. */
export const storeFaultNames = Object.keys(BEFALLS) as readonly StoreFaultName[];

/** Decides which call meets which trouble: first what was scripted, then what is drawn. */
export class StoreFaults {
  /** How often each trouble made a difference. */
  readonly fired: Readonly<Record<StoreFaultName, number>> = Object.fromEntries(storeFaultNames.map((name) => [name, 0])) as Record<StoreFaultName, number>;
  readonly #script: (StoreTrouble | undefined)[] = [];
  readonly #rates: { readonly trouble: StoreTrouble; readonly probability: number; readonly random: () => number }[] = [];

  /**
   * Scripts the fate of the next calls, one each; `'none'` lets one through. A call that the trouble cannot befall passes,
   * and leaves it to the next.
   *
   * @example
   * store.faults.next('none', 'fail-after-commit', { name: 'slow', ms: 20_000 });
   */
  next(...faults: readonly (StoreFaultName | StoreTrouble | 'none')[]): void {
    this.#script.push(...faults.map((fault) => (fault === 'none' ? undefined : checked(fault))));
  }

  /**
   * Lets every call that has no scripted fate meet this trouble with this probability. Each rate draws once per call that
   * it can befall, in the order in which rates were given; the first hit counts.
   *
   * @param random - uniform in [0, 1). @default seededRandom(1), so that a run can be repeated
   * @throws RangeError on a probability outside 0 to 1
   */
  rate(fault: StoreFaultName | StoreTrouble, probability: number, random: () => number = seededRandom(1)): void {
    if (!(probability >= 0 && probability <= 1)) throw new RangeError(`faults.rate: probability must be between 0 and 1, got ${probability}`);
    this.#rates.push({ trouble: checked(fault), probability, random });
  }

  /** No more troubles; what hangs goes on hanging. */
  clear(): void {
    this.#script.length = 0;
    this.#rates.length = 0;
  }

  /** The trouble of this call. @internal */
  draw(call: Call): StoreTrouble | undefined {
    const befalls = ({ name }: StoreTrouble) => (BEFALLS[name] as readonly Call[]).includes(call);
    const [scripted] = this.#script;
    let trouble: StoreTrouble | undefined;
    if (this.#script.length) {
      if (!scripted || befalls(scripted)) trouble = this.#script.shift();
    } else {
      // All of them draw, so that a hit of one does not shift the luck of the others.
      const hits = this.#rates.filter(({ trouble, probability, random }) => befalls(trouble) && random() < probability);
      trouble = hits[0]?.trouble;
    }
    return trouble;
  }

  /** It took effect. @internal */
  hit(name: StoreFaultName): void {
    (this.fired as Record<StoreFaultName, number>)[name]++;
  }
}

function checked(fault: StoreFaultName | StoreTrouble): StoreTrouble {
  const given = typeof fault === 'string' ? { name: fault } : fault;
  if (!Object.hasOwn(BEFALLS, given.name))
    throw new TypeError(`faults: unknown fault ${JSON.stringify(given.name)}, expected one of ${storeFaultNames.join(', ')}`);
  return given;
}

/** Options of `faultyStore`. */
export interface FaultyStoreOptions {
  /** One script may be shared by several stores. @default a new one, without troubles */
  readonly faults?: StoreFaults | undefined;
  /** For `slow`. @default the real time */
  readonly clock?: Pick<Clock, 'timer'> | undefined;
}

/**
 * Wraps a store so that a test, or chance, can make it fail.
 *
 * @example
 * const store = faultyStore(memoryStore());
 * const once = createOnce({ store });
 * store.faults.next('fail-after-commit');
 */
export function faultyStore(store: Store, { faults = new StoreFaults(), clock = realTime }: FaultyStoreOptions = {}): Store & { readonly faults: StoreFaults } {
  /** What comes before the call itself. */
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

const sizeOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);

async function evictAll(store: Store): Promise<boolean> {
  for (let page = 0; page < EVICTED_PAGES_MAX; page++) {
    const { records } = await store.scan({ before: Number.POSITIVE_INFINITY, limit: 100 });
    if (!records.length) return page > 0;
    for (const record of records) await store.update((record as Stored).id, () => ({ next: null, value: undefined }));
  }
  throw new RangeError(`faultyStore: there are still records after ${EVICTED_PAGES_MAX} pages of them were removed`);
}

/** A store hands on what it finds, so damage is stored like anything else, under the record's id. */
function damage(store: Store, id: string, how: 'tear' | 'corrupt'): Promise<boolean> {
  return store.update<boolean>(id, (current) => {
    if (typeof current !== 'object' || !current) return { value: false };
    const next = how === 'tear' ? JSON.stringify(current).slice(0, JSON.stringify(current).length / 2) : flipped(current);
    return { next: next as Stored, value: true };
  });
}

/** The longest text loses its first letter: most likely a key, a digest or a name. */
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
