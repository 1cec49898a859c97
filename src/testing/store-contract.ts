/** The contract of a store, as tests for any test runner. */
import type { Store } from '../ports.js';
import type { Need } from './contract/bench.js';
import { recordCases } from './contract/record-cases.js';
import { scanCases } from './contract/scan-cases.js';
import { togetherCases } from './contract/together-cases.js';

/** Options of `storeContract`. */
export interface StoreContractOptions {
  /** Comes before the title of every test. */
  readonly name: string;
  /** Your runner's `test`. */
  readonly test: (title: string, run: () => Promise<void>) => unknown;
  /**
   * Opens a store on the medium with this name: a database, a prefix, a file. Every case uses its own medium (lower-case letters, digits
   * and hyphens), which must be empty when it is first opened.
   */
  readonly open: (medium: string) => Store | Promise<Store>;
  /** Whether a medium that is opened a second time has the same records. @default true */
  readonly shared?: boolean | undefined;
  /** Writes `value` in place of the record `id`, without using the store, to simulate damage. Without it, the cases about damage are left out. */
  readonly plant?: ((medium: string, id: string, value: unknown) => void | Promise<void>) | undefined;
  /** How much work the medium has done so far, in any unit that does not depend on time, such as calls. Without it, the case about cost is left out. */
  readonly work?: (() => number) | undefined;
}

/** Which optional cases ran. It is complete when all tests have run. */
export interface StoreContractReport {
  readonly ran: readonly string[];
  readonly left: readonly { readonly title: string; readonly because: string }[];
}

/**
 * Runs the contract of a store: it keeps what it is given, makes each change in one atomic step, and resolves only when that is done.
 *
 * @returns which optional cases ran, and why others did not
 * @example
 * import { afterAll, expect, test } from 'vitest';
 * const report = storeContract({ name: 'my store', test, open: (medium) => myStore({ prefix: medium }) });
 * afterAll(() => expect(report.left).toEqual([]));
 */
export function storeContract(options: StoreContractOptions): StoreContractReport {
  const { name, test, shared = true, plant, work } = options;
  const ran: string[] = [];
  const left: { title: string; because: string }[] = [];
  const reasons: Partial<Record<Need, string>> = {
    ...(!shared && { shared: 'a second opening does not reach the same records' }),
    ...(!plant && { plant: 'no `plant` was given' }),
    ...(!work && { work: 'no `work` was given' }),
  };
  const run = `${Date.now().toString(36)}-${Math.floor(Math.random() * 1e6).toString(36)}`;

  for (const [number, one] of [...recordCases, ...togetherCases, ...scanCases].entries()) {
    const because = one.needs?.map((need) => reasons[need]).find(Boolean);
    if (because) {
      left.push({ title: one.title, because });
      continue;
    }
    test(`${name}: ${one.title}`, async () => {
      const medium = `contract-${run}-${number}`;
      const opened: Store[] = [];
      const open = async (neighbour = ''): Promise<Store> => {
        const store = await options.open(medium + neighbour);
        opened.push(store);
        return store;
      };
      try {
        if (one.needs?.includes('atomic') && !(await open()).atomic) {
          left.push({ title: one.title, because: 'the store does not claim to be atomic' });
          return;
        }
        await one.run({ open, plant: async (id, value) => plant?.(medium, id, value), work: () => work?.() ?? 0 });
        if (one.needs) ran.push(one.title);
      } finally {
        for (const store of opened) await store.close();
      }
    });
  }
  return { ran, left };
}
