/** Sums up the table in a sentence, and as an exit status. */
import { FINDINGS, type ProbeSeverity } from './findings.js';
import type { ProbeRow } from './row.js';

/** Severities, the worst first. */
const RANKS: readonly ProbeSeverity[] = ['double', 'wrong', 'weak', 'note'];

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Rows that leave nothing to judge. */
const isBlind = ({ row, finding }: ProbeRow): boolean => finding === 'no-effect' || (row === 'first' && finding === 'no-answer');
const UNANSWERED = 'No answer came to the first request, so nothing can be judged: is the address right, and does the server run?';

/** Whether one key never had two effects. `broken`: one had. `shown`: none had, effects were counted, and the rows that matter were played. */
export function keptItsWord(rows: readonly ProbeRow[]): 'shown' | 'broken' | 'not shown' {
  if (rows.some(({ severity }) => severity === 'double')) return 'broken';
  const played = rows.filter(({ severity }) => severity !== 'not-tried');
  const counted = played.some(({ effects }) => effects !== undefined);
  const copies = played.some(({ row }) => row === 'again') && played.some(({ row }) => row === 'at-once');
  return counted && copies && !played.some(isBlind) ? 'shown' : 'not shown';
}

/** One sentence: whether the server doubles effects, in which rows, and the worst other finding with its rows. */
export function verdictOf(rows: readonly ProbeRow[]): string {
  const doubles = rows.filter(({ severity }) => severity === 'double');
  if (doubles.length > 0) return `Doubles: ${doubles.map(({ tried }) => tried).join('; ')}.`;
  const kept = keptItsWord(rows);
  const worst = RANKS.flatMap((rank) => rows.filter(({ severity }) => severity === rank));
  const blind = worst.find(isBlind);
  if (blind) return blind.finding === 'no-answer' ? UNANSWERED : FINDINGS['no-effect'].says;
  const [first] = worst;
  // What is wrong may be that there was no effect.
  const counted = first?.severity === 'wrong' ? 'No key had two effects' : 'One effect under every fault that was played';
  const head = kept === 'shown' ? counted : 'Nothing was seen to double, and nobody counted';
  if (!first) return `${head}.`;
  const rowsToo = worst.filter(({ finding }) => finding === first.finding);
  return `${head}; but ${rowsToo.map(({ tried }) => lower(tried)).join('; ')}: ${lower(first.means)}`;
}

/** The exit status. 0: one key never had two effects, and no answer was false. 1: one of these happened. 3: effects were not counted. */
export function exitStatusOf(rows: readonly ProbeRow[]): 0 | 1 | 3 {
  if (rows.some(({ severity }) => severity === 'double' || severity === 'wrong')) return 1;
  return keptItsWord(rows) === 'shown' ? 0 : 3;
}
