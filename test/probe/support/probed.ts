/** A server under the probe, with waits that are short enough for a test. */
import type { Dialect } from '../../../src/core/dialect.js';
import { generic } from '../../../src/dialects/generic.js';
import { type FittingDialect, fittingDialect } from '../../../src/probe/fit.js';
import { openProbe, playAll } from '../../../src/probe/probe.js';
import type { ProbeTarget, ProbeTimes } from '../../../src/probe/request.js';
import type { ProbeRow } from '../../../src/probe/row.js';
import { exitStatusOf } from '../../../src/probe/verdict.js';

export interface Probed {
  readonly rows: readonly ProbeRow[];
  readonly dialect: FittingDialect | undefined;
}

export const TIMES: ProbeTimes = { patienceMs: 800, settleMs: 20, afterMs: 150 };

export async function probed(target: ProbeTarget, { times = TIMES, dialect = generic() }: { times?: ProbeTimes; dialect?: Dialect } = {}): Promise<Probed> {
  const probe = await openProbe(target, times, dialect);
  try {
    const rows = await playAll(probe);
    return { rows, dialect: fittingDialect(rows, probe.evidence, dialect.carrier, probe.seen) };
  } finally {
    await probe.close();
  }
}

/**
 * Rows that break a request at a moment which the probe can only guess. That moment is before the commit or after it,
 * and the server may give a different answer for each.
 */
const GUESSED: readonly string[] = ['reset', 'killed'];

/** What docs/probe.md says about a server: only what is not as it should be. */
export function cellsOf({ rows }: Probed): readonly string[] {
  const found = new Map<string, string[]>();
  const shown = rows.filter(({ row, severity }) => severity !== 'fine' && severity !== 'not-tried' && !GUESSED.includes(row));
  for (const { row, finding } of shown) found.set(finding, [...(found.get(finding) ?? []), row]);
  for (const { row, finding, severity } of rows)
    if (GUESSED.includes(row) && (severity === 'wrong' || severity === 'double') && !found.has(finding)) found.set(finding, [row]);
  return [[...found].map(([finding, where]) => `${finding} (${where.join(', ')})`).join('; ') || 'nothing', String(exitStatusOf(rows))];
}

/** Findings by row, of the rows that were played. */
export const findingsOf = (rows: readonly ProbeRow[]): Record<string, string> =>
  Object.fromEntries(rows.filter(({ severity }) => severity !== 'not-tried').map(({ row, finding }) => [row, finding]));
