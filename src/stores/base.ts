/** What all stores have in common, so that each one only says how it holds its records. */
import type { Durability, ScanPage, ScanQuery, Store, Stored } from '../ports.js';
import { faultOf, StoreFault } from './fault.js';

export type Claims = Pick<Store, 'kind' | 'scope' | 'survives' | 'shared' | 'atomic'>;
export type Next = Stored | null | undefined;

/** How records are held. It may throw whatever the platform throws. */
export interface Holder {
  available?(): unknown;
  /** Commits what `next` makes of the present record: a new one, its removal (`null`), no change (`undefined`). `next` never throws. */
  update(id: string, next: (current: unknown) => Next, durability: Durability): unknown;
  read(id: string): unknown;
  scan(query: ScanQuery): ScanPage | Promise<ScanPage>;
  close?(): void;
}

/** A store over `holder`: rejects with a StoreFault, save what `change` throws, and refuses when closed. */
export function storeOf(claims: Claims, now: () => number, holder: Holder): Store {
  let closed = false;
  const guarded = async <T>(work: () => T): Promise<Awaited<T>> => {
    try {
      if (closed) throw new StoreFault('closed', `${claims.scope} is closed`);
      return await work();
    } catch (error) {
      throw faultOf(claims.scope, error);
    }
  };
  return {
    ...claims,
    available: () =>
      guarded(() => holder.available?.()).then(
        () => true,
        (fault: StoreFault) => {
          if (fault.reason === 'denied') return false;
          throw fault;
        },
      ),
    async update(id, change, { durability = 'strict' } = {}) {
      let end!: () => ReturnType<typeof change>['value'];
      const next = (current: unknown): Next => {
        try {
          const { next, value } = change(current, now());
          end = () => value;
          return next;
        } catch (error) {
          end = () => {
            throw error;
          };
          return undefined;
        }
      };
      await guarded(() => holder.update(id, next, durability));
      return end();
    },
    read: (id) => guarded(() => holder.read(id)),
    scan: (query) => guarded(() => holder.scan(query)),
    close: async () => {
      closed = true;
      holder.close?.();
    },
  };
}

/** Whether a scan can tell where it belongs. Anything else is damaged: kept, and left out of scans. */
export function isStored(value: unknown): value is Stored {
  const { id, ns, state, label, forgetAt } = Object(value) as Partial<Stored>;
  return [id, ns, state, label].every((field) => typeof field === 'string') && typeof forgetAt === 'number';
}

export type NameQuery = Extract<ScanQuery, { ns: string }>;

/** Where to begin, for each state asked for: namespace, state, label and, after a page, id. */
export const startsOf = ({ ns, state, after, prefix = '' }: NameQuery): string[][] =>
  (state ? [state] : ['pending', 'retired', 'settled']).map((one) => [ns, one, ...(after ? (JSON.parse(after) as string[]) : [prefix])]);

/** Records to fetch from each of {@link startsOf}: one may be the one that `after` names, one tells that there is a next page. */
export const roomOf = ({ limit }: NameQuery): number => limit + 2;

const compare = (a: string, b: string): number => (a < b ? -1 : +(a > b));

/** One page of `found`, which may hold more than was asked for, in any order. */
export function pageOf(found: readonly Stored[], { ns, state, prefix = '', after, limit }: NameQuery): ScanPage {
  const order = (a: Stored, b: Stored) => compare(a.label, b.label) || compare(a.id, b.id);
  const [label, id] = after ? (JSON.parse(after) as string[]) : [];
  const records = found
    .filter((r) => r.ns === ns && (!state || r.state === state) && r.label.startsWith(prefix) && (!after || order(r, { ...r, label, id } as Stored) > 0))
    .sort(order);
  const last = records[limit - 1];
  return records[limit] && last ? { records: records.slice(0, limit), next: JSON.stringify([last.label, last.id]) } : { records };
}
