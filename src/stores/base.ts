/** What all stores have in common, so that each one only defines how it keeps its records. */
import type { Durability, ScanPage, ScanQuery, Store, Stored } from '../ports.js';
import { faultOf, StoreFault } from './fault.js';

export type Claims = Pick<Store, 'kind' | 'scope' | 'survives' | 'shared' | 'atomic' | 'ownClock'>;
export type Next = Stored | null | undefined;

/** How a store keeps its records. It may throw whatever the platform throws. */
export interface Holder {
  /** Throws a StoreFault with the reason `denied` if the platform lacks the storage or refuses it. Absent: it never does. */
  available?(): unknown;
  /** Commits what `next` returns for the present record: a new one, `null` to remove it, or `undefined` for no change. */
  update(id: string, next: (current: unknown) => Next, durability: Durability): unknown;
  read(id: string): unknown;
  scan(query: ScanQuery): ScanPage | Promise<ScanPage>;
  close?(): void;
}

/** Makes a store from a holder. It rejects with a StoreFault, or with what `change` throws, and refuses all work once it is closed. */
export function createStore(claims: Claims, holder: Holder, now: (() => number) | undefined = Date.now): Store {
  const { scope } = claims;
  let closed = false;
  const guarded = async <T>(work: () => T): Promise<Awaited<T>> => {
    try {
      if (closed) throw new StoreFault('closed', `${scope} is closed`);
      return await work();
    } catch (error) {
      throw faultOf(scope, error);
    }
  };
  return {
    ...claims,
    available: () =>
      guarded(() => holder.available?.()).then(
        () => true,
        (fault) => {
          if (fault.reason === 'denied') return false;
          throw fault;
        },
      ),
    update(id, change, options) {
      let value: ReturnType<typeof change>['value'];
      const next = (current: unknown): Next => {
        const changed = change(current, now());
        value = changed.value;
        return changed.next;
      };
      return guarded(() => holder.update(id, next, options?.durability ?? 'strict')).then(() => value);
    },
    read: (id) => guarded(() => holder.read(id)),
    scan: (query) => guarded(() => holder.scan(query)),
    async close() {
      closed = true;
      holder.close?.();
    },
  };
}

/** Whether a value has all that a scan needs. Anything else is damaged: it is kept, but left out of scans. */
export function isStored(value: unknown): value is Stored {
  const { id, ns, state, label, forgetAt } = Object(value) as Partial<Stored>;
  return [id, ns, state, label].every((field) => typeof field === 'string') && typeof forgetAt === 'number';
}

const compare = (a: string, b: string): number => (a < b ? -1 : +(a > b));

/** The page that `query` asks for. `found` may contain more records than that, in any order. */
export function pageOf(found: readonly Stored[], query: ScanQuery): ScanPage {
  const { limit } = query;
  if ('before' in query) {
    const due = found.filter((r) => r.forgetAt < query.before).sort((a, b) => a.forgetAt - b.forgetAt);
    return { records: due.slice(0, limit) };
  }
  const { ns, state, prefix = '', after } = query;
  const [label, id] = after ? (JSON.parse(after) as [string, string]) : ['', ''];
  const records = found
    .filter((r) => r.ns === ns && r.state === state && r.label.startsWith(prefix) && (compare(r.label, label) || compare(r.id, id)) > 0)
    .sort((a, b) => compare(a.label, b.label) || compare(a.id, b.id));
  const last = records[limit - 1];
  return { records: records.slice(0, limit), next: last && records[limit] && JSON.stringify([last.label, last.id]) };
}
