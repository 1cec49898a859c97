/** A server under the probe, with waits that are short enough for a test. */
import type { Dialect } from '../../../src/core/dialect.js';
import { generic } from '../../../src/dialects/generic.js';
import { type FittingDialect, fittingDialect } from '../../../src/probe/fit.js';
import { openProbe, playAll } from '../../../src/probe/probe.js';
import type { ProbeTarget, ProbeTimes } from '../../../src/probe/request.js';
import type { ProbeRow } from '../../../src/probe/row.js';

export interface Probed {
  readonly rows: readonly ProbeRow[];
  readonly dialect: FittingDialect;
}

export const TIMES: ProbeTimes = { patienceMs: 800, settleMs: 20, afterMs: 150 };

export async function probed(target: ProbeTarget, { times = TIMES, dialect = generic() }: { times?: ProbeTimes; dialect?: Dialect } = {}): Promise<Probed> {
  const probe = await openProbe(target, times, dialect);
  try {
    const rows = await playAll(probe);
    return { rows, dialect: fittingDialect(rows, probe.evidence, dialect.carrier) };
  } finally {
    await probe.close();
  }
}

/** Findings by row, of those that were played. */
export const findingsOf = (rows: readonly ProbeRow[]): Record<string, string> =>
  Object.fromEntries(rows.filter(({ severity }) => severity !== 'not-tried').map(({ row, finding }) => [row, finding]));
