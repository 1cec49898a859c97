/** The rows of the table. */
import { statusesOf } from './answers.js';
import type { Evidence, Seen } from './evidence.js';
import { FINDINGS, type ProbeFinding, type ProbeSeverity } from './findings.js';
import type { Came } from './request.js';
import { type ProbeRowName, ROWS } from './rows.js';

/** One row of the table: what was tried, what came back, and what that means. */
export interface ProbeRow {
  readonly row: ProbeRowName;
  readonly tried: string;
  /** The statuses in the order in which they came, such as `201, 409 ×9`; `none` for an answer that did not come. */
  readonly cameBack: string;
  /** How many effects this row had; `undefined` if effects are not counted. */
  readonly effects: number | undefined;
  readonly finding: ProbeFinding;
  readonly severity: ProbeSeverity;
  /** The meaning of the finding, as a sentence. */
  readonly means: string;
}

/** What playing a row found. */
export interface Found {
  readonly answers: readonly (Came | undefined)[];
  readonly effects: number | undefined;
  readonly finding: ProbeFinding;
  /** What the finding's sentence does not say, such as why no answer came. */
  readonly because?: string | undefined;
  /** Answers whose true meaning the row knows. */
  readonly evidence?: readonly Evidence[];
  /** Successes of which the row knows whether the work was done for them. */
  readonly seen?: Partial<Seen> | undefined;
}

export function rowOf(row: ProbeRowName, { answers, effects, finding, because }: Found): ProbeRow {
  const { severity, says } = FINDINGS[finding];
  return {
    row,
    tried: ROWS[row],
    cameBack: statusesOf(answers),
    effects,
    finding,
    severity,
    means: because === undefined ? says : says.replace(/\.$/, `: ${because}.`),
  };
}

export const notTried = (row: ProbeRowName, because: string): ProbeRow => ({
  row,
  tried: ROWS[row],
  cameBack: '',
  effects: undefined,
  finding: 'not-tried',
  severity: 'not-tried',
  means: `${FINDINGS['not-tried'].says}: ${because}.`,
});
