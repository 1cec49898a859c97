/** Makes the output: the table, the verdict and the dialect as text, or all of it as one JSON document. */
import { type FittingDialect, needsCount } from '../fit.js';
import type { ProbeRow } from '../row.js';
import { exitStatusOf, keptItsWord, verdictOf } from '../verdict.js';

export interface Result {
  readonly rows: readonly ProbeRow[];
  readonly dialect: FittingDialect | undefined;
  /** The number of effects of the whole run, if they are counted. */
  readonly effects: number | undefined;
  /** When the row that was left for later is due. */
  readonly resumeAfter: Date | undefined;
}

const HEADS = ['tried', 'came back', 'effects', 'means'] as const;
const CAME_BACK_MAX = 40;

const shortened = (text: string): string => (text.length > CAME_BACK_MAX ? `${text.slice(0, CAME_BACK_MAX - 1)}…` : text);

/** The rows as a table of text. */
export function tableOf(rows: readonly ProbeRow[]): string {
  const lines = [
    HEADS,
    ...rows.map(({ tried, cameBack, effects, means }) => [tried, shortened(cameBack), effects === undefined ? '' : String(effects), means]),
  ];
  const widths = HEADS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) => line.map((cell, column) => (column === HEADS.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ')).join('\n');
}

function dialectText({ name, code }: FittingDialect, rows: readonly ProbeRow[]): string {
  const forgets = rows.some(({ finding }) => finding === 'forgets');
  if (code === '' && forgets) return 'Dialect: none needed, but the times of the client are too long for this server: see `forgets`.';
  if (code === '') return 'Dialect: none needed, the default fits where a key counts for 24 hours. Look that up: generic({ windowMs }) says another time.';
  return `Dialect (${name}):\n\n  createOnce({ dialect: ${code.replaceAll('\n', '\n  ')} })`;
}

/** The findings that need something done, and the page that says what. */
function whatToDo(rows: readonly ProbeRow[]): string[] {
  const found = new Set(rows.filter(({ severity }) => severity !== 'fine' && severity !== 'not-tried').map(({ finding }) => finding));
  return found.size > 0 ? ['', `What to do about ${[...found].join(', ')}: docs/probe.md#what-to-do-about-each-finding`] : [];
}

export function textOf({ rows, dialect, effects, resumeAfter }: Result): string {
  const uncounted = 'Effects were not counted: by answers alone, a second effect that is answered like a replay is not seen.';
  return [
    tableOf(rows),
    '',
    verdictOf(rows),
    effects === undefined ? uncounted : `It made ${effects} effects.`,
    ...(rows.some(({ finding }) => finding === 'false-success' || finding === 'refused-with-effect')
      ? ['Does the payload name the operation, as an order number does? Then write {{operation}} in its place.']
      : []),
    ...(dialect ? ['', dialectText(dialect, rows)] : []),
    ...(needsCount(rows) ? ['', 'Dialect: give --count first; before that, none can be said to fit.'] : []),
    ...whatToDo(rows),
    ...(resumeAfter ? ['', `To be resumed after ${resumeAfter.toISOString()}: the same command, with --resume.`] : []),
  ].join('\n');
}

export const documentOf = ({ rows, dialect, effects, resumeAfter }: Result): object => ({
  verdict: verdictOf(rows),
  oneEffectPerKey: keptItsWord(rows),
  exitStatus: exitStatusOf(rows),
  effects,
  rows,
  dialect,
  resumeAfter: resumeAfter?.toISOString(),
});
