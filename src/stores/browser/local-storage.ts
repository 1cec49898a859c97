/** Records as JSON in localStorage: a fallback for pages without IndexedDB. It holds about 5 MB, and workers do not have it. */
import type { Store } from '../../ports.js';
import { createStore, isStored, pageOf } from '../base.js';
import { StoreFault } from '../fault.js';
import { onlyOptions } from '../only-options.js';

/** Options of `localStorageStore`. */
export interface LocalStorageStoreOptions {
  /** What all keys of this store begin with. @default 'oncefetch' */
  readonly prefix?: string | undefined;
}

/** How long to wait for another tab's change that is known to exist, ms. Usually it arrives within a few ms; after this, work goes on without it. */
const ARRIVAL_MS_MAX = 250;
/** How long a change is announced to other tabs, ms. */
const ANNOUNCE_MS = 2000;

/**
 * A store in the page's localStorage. It is atomic among tabs if there are Web Locks. Records outlive the page, but a crash of the
 * browser may lose the latest ones, because browsers write them to disk seconds later.
 *
 * @example
 * const once = createOnce({ store: localStorageStore({ prefix: 'shop' }) });
 */
export function localStorageStore(options: LocalStorageStoreOptions = {}): Store {
  onlyOptions('localStorageStore', options, { prefix: 'string' });
  const { prefix = 'oncefetch' } = options;
  const scope = `localstorage:${prefix}`;
  const keyOf = (id: string) => `${prefix}/${id}`;
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const turns = locks && turnsOf(locks, scope);
  const read = (id: string) => parsed(storage().getItem(keyOf(id)));

  return createStore(
    { kind: 'localstorage', scope, survives: 'context', shared: 'origin', atomic: !!locks },
    {
      available: storage,
      update(id, next) {
        const work = () => {
          const value = next(read(id));
          if (value) storage().setItem(keyOf(id), JSON.stringify(value));
          else if (value === null) storage().removeItem(keyOf(id));
        };
        return turns ? turns(work) : work();
      },
      read,
      scan(query) {
        const found = Object.keys(storage()).flatMap((key) => {
          const record = read(key.slice(prefix.length + 1));
          // The page has other keys too, and another store's prefix may begin with this one.
          return isStored(record) && key === keyOf(record.id) ? record : [];
        });
        return pageOf(found, query);
      },
    },
  );
}

/** The page's localStorage. Its getter itself throws if the page may not store anything. */
function storage(): Storage {
  if (!globalThis.localStorage) throw new StoreFault('denied', 'localStorage does not exist here');
  return localStorage;
}

/**
 * A record from its text; `undefined` if there is none (`null`, which parses as JSON). Text that is not JSON is passed on as it is: the
 * engine treats it as damaged and never overwrites it.
 */
function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text as string) ?? undefined;
  } catch {
    return text;
  }
}

/**
 * Runs work while no other tab does, and after the previous tab's changes have arrived here. A lock alone is not enough: every tab has
 * its own copy of localStorage, which gets other tabs' changes some time later (Chromium lost one update in five). So after its change,
 * each holder of the lock writes the number of its turn into localStorage, and announces it as the name of a second lock, which all
 * tabs see at once. The next holder waits until that number has arrived, and with it all that was written before.
 */
function turnsOf(locks: LockManager, scope: string): (work: () => void) => Promise<void> {
  const turnIn = (text: string | null | undefined) => Number(text?.split(`${scope}#`)[1]) || 0;
  const arrived = () => turnIn(storage().getItem(scope));
  const wait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  let release = () => {};
  const announce = (turn: string) =>
    new Promise<void>((announced) => {
      const held = () => {
        announced();
        // The newest announcement replaces all earlier ones.
        release();
        return Promise.race([wait(ANNOUNCE_MS), new Promise<void>((next) => (release = next))]);
      };
      locks.request(turn, held).then(announced, announced);
    });
  return (work) =>
    locks.request(scope, async () => {
      const { held = [] } = await locks.query();
      const announced = Math.max(0, ...held.map(({ name }) => turnIn(name)));
      const until = performance.now() + ARRIVAL_MS_MAX;
      while (arrived() < announced && performance.now() < until) await wait(1);
      const turn = `${scope}#${Math.max(arrived(), announced) + 1}`;
      work();
      try {
        localStorage.setItem(scope, turn);
      } catch {
        // The storage is full. The next holder will wait for the full `ARRIVAL_MS_MAX` instead, in which the changes arrive, too.
      }
      await announce(turn);
    });
}
