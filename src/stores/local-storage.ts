/** Records as JSON in localStorage: a fallback for pages without IndexedDB. Some 5 MB, not in workers. */
import type { Store } from '../ports.js';
import { isStored, pageOf, storeOf } from './base.js';
import { faultOf, StoreFault } from './fault.js';

export interface LocalStorageStoreOptions {
  /** What all its keys begin with. @default 'oncefetch' */
  readonly prefix?: string | undefined;
  /** The store's time, ms since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** How long a change that is known to exist is waited for before what is there counts, ms. It takes a few as a rule. */
const ARRIVAL_MS_MAX = 250;
/** How long a change is announced to other tabs, ms. */
const ANNOUNCE_MS = 2000;

/**
 * A store in the page's localStorage, atomic among tabs where there are Web Locks. A page's death does not touch the
 * records; a crash of the browser may, because browsers write them to disk seconds later.
 *
 * @example
 * const once = createOnce({ store: localStorageStore({ prefix: 'shop' }) });
 */
export function localStorageStore({ prefix = 'oncefetch', now = Date.now }: LocalStorageStoreOptions = {}): Store {
  const scope = `localstorage:${prefix}`;
  const keyOf = (id: string) => `${prefix}/${id}`;
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const read = (id: string) => parsed(storage().getItem(keyOf(id)));

  return storeOf({ kind: 'localstorage', scope, survives: 'context', shared: 'origin', atomic: !!locks }, now, {
    available() {
      const items = storage();
      try {
        items.setItem(prefix, items.getItem(prefix) ?? '0');
      } catch (error) {
        const { reason } = faultOf(scope, error);
        // One that is full is there; private windows of old Safari have a quota of nothing.
        if (reason !== 'quota' || !items.length) throw new StoreFault('denied', 'localStorage takes nothing here', error);
      }
    },
    update(id, next) {
      const work = () => {
        const value = next(read(id));
        if (value) storage().setItem(keyOf(id), JSON.stringify(value));
        else if (value === null) storage().removeItem(keyOf(id));
      };
      return locks ? inTurn(locks, scope, prefix, work) : work();
    },
    read,
    scan(query) {
      const found = Object.keys(storage())
        .filter((key) => key.startsWith(keyOf('')))
        .map((key) => parsed(storage().getItem(key)))
        .filter(isStored);
      if (!('before' in query)) return pageOf(found, query);
      const due = found.filter((r) => r.forgetAt < query.before).sort((a, b) => a.forgetAt - b.forgetAt);
      return { records: due.slice(0, query.limit) };
    },
  });
}

/** Asked anew each time: where the page may not store, the getter itself throws. */
function storage(): Storage {
  const found = globalThis.localStorage as Storage | null | undefined;
  if (!found) throw new StoreFault('denied', 'there is no localStorage here');
  return found;
}

/** Text that is not JSON is handed on as it is: the engine calls it damaged, and nobody writes over it. */
function parsed(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Runs `work` while no other tab does, and sees what the one before wrote. The lock alone does not give that: every tab
 * has its own copy of localStorage, which hears of changes some time later (Chromium lost one update in five). So each
 * holder counts its turn in localStorage, after its change, and announces the count as the name of a second lock, which
 * all tabs see at once; the next holder waits until that count has arrived, and with it all that was written before.
 */
async function inTurn(locks: LockManager, scope: string, counter: string, work: () => void): Promise<void> {
  const mark = `${scope}#`;
  const arrived = () => Number(storage().getItem(counter)) || 0;
  const wait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  await locks.request(scope, async () => {
    const { held = [] } = await locks.query();
    const announced = Math.max(0, ...held.map(({ name = '' }) => (name.startsWith(mark) ? +name.slice(mark.length) : 0)));
    for (let waited = 0; arrived() < announced && waited < ARRIVAL_MS_MAX; waited++) await wait(1);
    const turn = Math.max(arrived(), announced) + 1;
    work();
    try {
      storage().setItem(counter, `${turn}`);
    } catch {
      // Full: the next one waits its longest, which is as good.
    }
    await new Promise<void>((taken) => {
      void locks.request(mark + turn, () => {
        taken();
        return wait(ANNOUNCE_MS);
      });
    });
  });
}
