/** Records as JSON in localStorage: a fallback for pages without IndexedDB. Some 5 MB, not in workers. */
import type { Store } from '../../ports.js';
import { createStore, isStored, pageOf } from '../base.js';

/** Options of `localStorageStore`. */
export interface LocalStorageStoreOptions {
  /** What all its keys begin with. @default 'oncefetch' */
  readonly prefix?: string | undefined;
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
export function localStorageStore({ prefix = 'oncefetch' }: LocalStorageStoreOptions = {}): Store {
  const scope = `localstorage:${prefix}`;
  const keyOf = (id: string) => `${prefix}/${id}`;
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const turns = locks && turnsOf(locks, scope);
  const read = (id: string) => parsed(localStorage.getItem(keyOf(id)));

  return createStore(
    { kind: 'localstorage', scope, survives: 'context', shared: 'origin', atomic: !!locks },
    {
      // The getter itself throws where the page may not store.
      here: () => globalThis.localStorage,
      update(id, next) {
        const work = () => {
          const value = next(read(id));
          if (value) localStorage.setItem(keyOf(id), JSON.stringify(value));
          else if (value === null) localStorage.removeItem(keyOf(id));
        };
        return turns ? turns(work) : work();
      },
      read,
      scan(query) {
        const found = Object.keys(localStorage).flatMap((key) => {
          const record = read(key.slice(prefix.length + 1));
          // Others have keys of theirs, and another store's prefix may begin with this one.
          return isStored(record) && key === keyOf(record.id) ? record : [];
        });
        return pageOf(found, query);
      },
    },
  );
}

/** `null`, which stands for nothing, is JSON. Text that is not JSON is handed on as it is: the engine calls it damaged, and nobody writes over it. */
function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text as string) ?? undefined;
  } catch {
    return text;
  }
}

/**
 * Runs work while no other tab does, in sight of what the one before wrote. The lock alone does not give that: every tab
 * has its own copy of localStorage, which hears of changes some time later (Chromium lost one update in five). So each
 * holder counts its turn in localStorage, after its change, and announces the count as the name of a second lock, which
 * all tabs see at once; the next holder waits until that count has arrived, and with it all that was written before.
 */
function turnsOf(locks: LockManager, scope: string): (work: () => void) => Promise<void> {
  const turnIn = (text: string | null | undefined) => Number(text?.split(`${scope}#`)[1]) || 0;
  const arrived = () => turnIn(localStorage.getItem(scope));
  const wait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  let release = () => {};
  const announce = (turn: string) =>
    new Promise<void>((announced) => {
      const held = () => {
        announced();
        // The newest one says it for all before it.
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
        // Full: the next one waits its longest, which is as good.
      }
      await announce(turn);
    });
}
