/** Finds the dialect that reads this server's answers correctly: one of the package's own, or a definition to paste. */
import type { AnswerKind, Dialect } from '../core/dialect.js';
import type { DefinedDialect } from '../dialects/define.js';
import { GENERIC, generic } from '../dialects/generic.js';
import { matches } from '../dialects/matching.js';
import { answerOf, kindOf } from './answers.js';
import type { Evidence, Seen } from './evidence.js';
import { type Marker, unknownMarker } from './marker.js';
import { NAMED } from './named.js';
import type { ProbeRow } from './row.js';
import type { ProbeRowName } from './rows.js';
import { rulesFor, textCode } from './rule.js';

/** The dialect to use, as code. */
export interface FittingDialect {
  readonly name: string;
  /** The option `dialect` for `createOnce`; empty if the default fits. */
  readonly code: string;
}

/** The readings that are correct for each kind of evidence. */
const READINGS: Readonly<Record<Evidence['means'], readonly AnswerKind[]>> = {
  first: ['fresh', 'accepted'],
  again: ['fresh', 'replayed', 'accepted', 'in-progress', 'burnt', 'transient'],
  done: ['fresh', 'replayed', 'accepted'],
  'in-progress': ['in-progress', 'transient'],
  mismatch: ['mismatch', 'refused'],
  'done-before': ['done-elsewhere', 'open'],
  refused: ['refused'],
};

const reads = (dialect: Dialect, { key, came, means }: Evidence): boolean => READINGS[means].includes(kindOf(came, dialect, key, means !== 'first'));

const readsAll = (dialect: Dialect, evidence: readonly Evidence[]): boolean => evidence.every((one) => reads(dialect, one));

/** The code for a place, from its text as records keep it. */
function placeCode(carrier: string): string {
  const [, header = ''] = /^header:([^+]+)$/.exec(carrier) ?? [];
  if (header) return `inHeader('${header}')`;
  const [, quoted = ''] = /^header-sf:([^+]+)$/.exec(carrier) ?? [];
  if (quoted) return `inHeader('${quoted}', { quoted: true })`;
  const [, kind, name = ''] = /^(body|query):(.+)$/.exec(carrier) ?? [];
  return kind === 'body' ? `inBody('${name}')` : `inQuery('${name}')`;
}

function definitionCode(carrier: string, rules: readonly string[], rows: readonly ProbeRow[], marker: Marker | undefined): string {
  const ignores = ignoresPayload(rows);
  const replays = rows.some(({ row, finding }) => row === 'again' && (finding === 'replays' || finding === 'replays-marked'));
  const lines = [
    `  name: 'mine',`,
    `  place: ${placeCode(carrier)},`,
    ...(marker ? [`  marker: { headers: { ${textCode(marker[0])}: ${textCode(marker[1])} } },`] : []),
    ...(replays ? ['  replays: true,'] : []),
    ...(ignores ? ['  answersMismatch: false,'] : []),
    ...(rules.length > 0 ? ['  answers: [', ...rules.map((rule) => `    ${rule}`), '  ],'] : []),
  ];
  return `defineDialect({\n${lines.join('\n')}\n})`;
}

/** Whether two places are the same. A second header with the time of the first attempt makes no difference. */
const sameCarrier = (one: string, other: string): boolean => one.replace(/\+.*/, '').toLowerCase() === other.replace(/\+.*/, '').toLowerCase();

/** Whether many servers use this header. Then a dialect can be recognised only by its codes. */
const isShared = (carrier: string): boolean => sameCarrier(carrier, 'header:Idempotency-Key');

/** Whether one of the answers has a code of this dialect. */
const isRecognized = ({ definition: { answers = [] } }: DefinedDialect, evidence: readonly Evidence[]): boolean =>
  evidence.some(({ came, means }) =>
    answers.some((rule) => rule.at && READINGS[means].includes(rule.means as AnswerKind) && matches(rule, answerOf(came), means !== 'first')),
  );

/** Whether the replays are marked as this dialect's server would mark them. */
const marksReplays = (dialect: DefinedDialect, evidence: readonly Evidence[]): boolean =>
  !dialect.definition.marker || evidence.every(({ came, means }) => means !== 'again' || dialect.replayed(answerOf(came)));

function namedFor(rows: readonly ProbeRow[], evidence: readonly Evidence[], carrier: string): FittingDialect | undefined {
  const ignores = ignoresPayload(rows);
  const found = NAMED.find(
    ({ dialect }) =>
      sameCarrier(dialect.carrier, carrier) &&
      (!isShared(carrier) || isRecognized(dialect, evidence)) &&
      (!ignores || dialect.answersMismatch !== true) &&
      marksReplays(dialect, evidence) &&
      readsAll(dialect, evidence),
  );
  return found && { name: found.dialect.name, code: found.code };
}

/** Rows in which a client sends another payload under a key. In the others it sends copies of its own request, as it would by itself. */
const OTHER_PAYLOADS: readonly ProbeRowName[] = ['other-payload', 'changed-after-fault'];

/** Whether copies have this finding. */
const copiesHave = (rows: readonly ProbeRow[], finding: 'doubles' | 'may-double'): boolean =>
  rows.some((one) => one.finding === finding && !OTHER_PAYLOADS.includes(one.row));

/** Whether copies may have had more than one effect, so that no dialect fits before effects are counted. */
export const needsCount = (rows: readonly ProbeRow[]): boolean => !copiesHave(rows, 'doubles') && copiesHave(rows, 'may-double');

/** Whether a client must not send another payload under a key that is open. */
const ignoresPayload = (rows: readonly ProbeRow[]): boolean =>
  rows.some(
    ({ row, finding }) => finding === 'ignores-payload' || (OTHER_PAYLOADS.includes(row) && /^(doubles|may-double|fault-forgets-payload)$/.test(finding)),
  );

/** The marker that the default does not know, if the server has one. */
function markerOf(rows: readonly ProbeRow[], evidence: readonly Evidence[], seen: Seen): Marker | undefined {
  if (seen.copies.some((came) => GENERIC.replayed(answerOf(came)))) return undefined;
  const others = evidence.filter(({ means }) => !/^(again|done|done-before)$/.test(means)).map(({ came }) => came);
  return unknownMarker(rows, seen, others);
}

/** The dialect that fits; `undefined` if no answer shows any. `carrier`: where the key was sent. */
export function fittingDialect(
  rows: readonly ProbeRow[],
  evidence: readonly Evidence[],
  carrier: string,
  seen: Seen = { own: [], copies: [] },
): FittingDialect | undefined {
  if (copiesHave(rows, 'doubles')) return { name: 'none', code: `'none'` };
  if (needsCount(rows)) return undefined;
  if (evidence.length === 0) return undefined;
  const named = namedFor(rows, evidence, carrier);
  if (named) return named;
  const [, header] = /^header:([^+]+)$/.exec(carrier) ?? [];
  const ignores = ignoresPayload(rows);
  const marker = markerOf(rows, evidence, seen);
  if (header && !ignores && !marker && readsAll(generic({ header }), evidence))
    return { name: 'generic', code: isShared(carrier) ? '' : `generic({ header: '${header}' })` };
  const misread = evidence.filter((one) => !reads({ ...generic(), carrier }, one));
  return { name: 'mine', code: definitionCode(carrier, rulesFor(misread, evidence), rows, marker) };
}
