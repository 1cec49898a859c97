/** Diagnostics: signs of a wrong setup, each with a code that docs/diagnostics.md explains. One about a server or a page is told once for each place. */
import type { OnceEventDetail } from '../core/event.js';
import { type DiagnosticCode, diagnosticText } from '../texts/full.js';
import type { Client } from './client.js';
import type { Happened } from './happened.js';
import { keepRecent, PLACES_MAX } from './registry.js';
import type { Result } from './result.js';

/** Diagnostics about a store, with what their messages say before the error that the store rejected with. */
const STORE_MESSAGES: { readonly [code: string]: string } = { 'store-write': 'its end could not be stored', 'store-degraded': 'kept in memory' };

type Of<Type extends Happened['type']> = Extract<Happened, { readonly type: Type }>;

/** What happens to a call, step by step. */
type Step = Of<'attempt' | 'wait' | 'settled' | 'unknown'> & { readonly result?: Result | undefined };

/** The events for listeners that follow from what happened. `before`: the answer that used up the key before this one. */
export function eventsOf(client: Client, happened: Happened, before: Result | undefined): readonly OnceEventDetail[] {
  switch (happened.type) {
    case 'diagnostic':
      return diagnostics(client, happened);
    case 'answered':
      return signsOf(happened).flatMap((code) => diagnostics(client, { code, where: happened.origin }));
    case 'silence':
      return isSuspect(client, happened) ? diagnostics(client, { code: 'preflight-suspected', where: happened.origin }) : [];
    default: {
      // No other event has the status of the answer that used up the last key: the call goes on at once.
      const { result = (happened as { attempt?: number }).attempt === 1 ? before : undefined, ...detail } = happened as Step;
      return [{ ...detail, status: result?.response?.status }];
    }
  }
}

/** The event for a diagnostic; none if listeners have heard it for this server or page (`where`) before. */
function diagnostics({ registry: { noticed } }: Client, { code, where, cause }: Omit<Of<'diagnostic'>, 'type'>): OnceEventDetail[] {
  const place = `${code} ${where}`;
  if (where !== undefined && noticed.has(place)) return [];
  if (where !== undefined) keepRecent(noticed, place, true, PLACES_MAX);
  const message = STORE_MESSAGES[code];
  return [{ type: 'diagnostic', code, message: message ? `${message}: ${textOf(cause)}` : diagnosticText(code as DiagnosticCode, where) }];
}

/** What a store rejected with, as text. It may be something that can't be converted to a string. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return typeof thrown;
  }
}

/** Signs in an answer from another origin, of which a page can read only the headers that the server exposes. */
function signsOf({ answer, ambiguous, dialect }: Of<'answered'>): DiagnosticCode[] {
  const { type, status } = answer;
  if (type !== 'cors') return [];
  const signs: DiagnosticCode[] = [];
  if ([409, 423, 429, 503].includes(status) && answer.header('retry-after') === null) signs.push('retry-after-hidden');
  if (ambiguous && status < 300 && !dialect.replayed(answer)) signs.push('replay-hidden');
  return signs;
}

/** Whether attempts without an answer look like a preflight that refuses the key. */
const isSuspect = ({ platform }: Client, { origin, number }: Of<'silence'>): boolean =>
  platform.origin !== undefined && platform.origin !== origin && number > 1 && platform.connectivity.online() !== false;
