/** What the cases of the contract work with, and their few assertions, so that the contract depends on no test runner. */
import type { Store, Stored } from '../../ports.js';

export type Need = 'shared' | 'atomic' | 'plant' | 'work';

export interface Case {
  readonly title: string;
  /** What the case needs that not every store or caller can provide. */
  readonly needs?: readonly Need[];
  run(bench: Bench): Promise<void>;
}

/** What a case works with. */
export interface Bench {
  /** Opens one more store on this case's medium, or on a neighbour of it. */
  open(neighbour?: string): Promise<Store>;
  plant(id: string, value: unknown): Promise<void>;
  work(): number;
}

export function must(holds: unknown, says: string): asserts holds {
  if (!holds) throw new Error(`store contract: ${says}`);
}

/** Asserts deep equality of plain data; the order of fields does not count. */
export function same(actual: unknown, expected: unknown, says: string): void {
  const text = (value: unknown): string => (value === undefined ? 'undefined' : JSON.stringify(value, sorted));
  must(text(actual) === text(expected), `${says}: expected ${text(expected).slice(0, 400)}, got ${text(actual).slice(0, 400)}`);
}

const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** The error that `work` rejects with. Throws if it resolves. */
export async function rejection(work: Promise<unknown>, says: string): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error(`store contract: ${says}: it resolved`);
}

/** A record for tests. `more`: other values, and fields that the engine may keep in it. */
export const record = (id: string, more: Partial<Stored> & Record<string, unknown> = {}): Stored => ({
  id,
  ns: 'ns',
  state: 'pending',
  label: `["pay","${id}"]`,
  forgetAt: 1_000,
  ...more,
});

export const put = (store: Store, next: Stored): Promise<void> => store.update(next.id, () => ({ next, value: undefined }));

export const remove = (store: Store, id: string): Promise<void> => store.update(id, () => ({ next: null, value: undefined }));

export const idsIn = (records: readonly unknown[]): string[] => records.map((one) => (one as Stored).id);
