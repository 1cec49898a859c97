/** Runs the store contract inside a runtime. */
import { type StoreContractOptions, storeContract } from 'oncefetch/testing';

/** The titles of the cases that ran, that failed, and that were left out. */
export interface ContractResult {
  readonly ran: readonly string[];
  readonly failed: readonly string[];
  readonly left: readonly string[];
}

export async function runContract(options: Omit<StoreContractOptions, 'name' | 'test'>): Promise<ContractResult> {
  const cases: [title: string, run: () => Promise<void>][] = [];
  const failed: string[] = [];
  const report = storeContract({ name: 'contract', test: (title, run) => cases.push([title, run]), ...options });
  for (const [title, run] of cases) await run().catch((error: unknown) => failed.push(`${title}: ${String(error)}`));
  return { ran: cases.map(([title]) => title), failed, left: report.left.map(({ title }) => title) };
}
