/** The panel's texts about an operation. */
import type { Outcome, WaitReason } from 'oncefetch';
import type { OnceRecord } from '../core/record.js';
import type { Client } from '../engine/client.js';
import type { Row, Status } from './rows.js';

export const STATUS: Readonly<Record<Status, string>> = {
  sending: 'sending',
  waiting: 'waiting',
  elsewhere: 'in another tab',
  unsettled: 'unsettled',
  done: 'done',
  none: 'no effect',
  forgotten: 'forgotten',
  gone: 'not stored',
};

/** A symbol for each status, so that it does not depend on the colour. */
export const MARK: Readonly<Record<Status, string>> = {
  sending: '▶',
  waiting: '◔',
  elsewhere: '⧉',
  unsettled: '?',
  done: '✓',
  none: '✕',
  forgotten: '∅',
  gone: '∅',
};

const WAITS: Readonly<Record<WaitReason, string>> = {
  backoff: 'before it tries again',
  'in-progress': 'because the server is still working on it',
  'retry-after': 'because the server asked for it',
  offline: 'for the network',
  'another-context': 'for another tab, worker or process that is working on it',
};

export const whyWait = (why: string): string => WAITS[why as WaitReason] ?? why;

/** A time of day, to the second. */
export const time = (ms: number): string => new Date(ms).toLocaleTimeString([], { hour12: false });

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "3.2 s", "5 min", "23 h", "30 days". */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} days`;
}

/** "at 10:02:07, in 3.2 s", or with its date if it is not soon. */
export function when(ms: number, now: number): string {
  const left = ms - now;
  if (left < 0) return `at ${Math.abs(left) < HOUR ? time(ms) : new Date(ms).toLocaleString()}, ${duration(-left)} ago`;
  return `at ${left < HOUR ? time(ms) : new Date(ms).toLocaleString()}, in ${duration(left)}`;
}

/** The beginning of a key: enough to find it in a log. */
export const shortKey = (key: string): string => (key.length > 9 ? `${key.slice(0, 8)}…` : key);

/** The end of a record as an outcome, for `explain`. */
export function outcomeOfRecord(record: OnceRecord, storedIn: Outcome['storedIn'], operation: Outcome['operation']): Outcome | undefined {
  const { ending, key, firstSentAt, ambiguous } = record;
  const facts = { operation, key, attempts: 0, firstSentAt, resumed: false, joined: false, storedIn };
  return ending && { ...facts, sent: firstSentAt === undefined ? 'no' : ambiguous ? 'maybe' : 'yes', ...ending };
}

/** What happens next to an unsettled operation. */
function nextOfUnsettled({ record }: Row, { settings, parts }: Client, now: number): readonly string[] {
  const until = record?.request?.consent?.until ?? 0;
  const alone = until > now ? `A service worker or a background task may go on with it until ${time(until)}.` : 'Nothing happens by itself.';
  const lines = [`${alone} The next call with this name, or a resume, goes on with the same key.`];
  if (record?.retryAt !== undefined && record.retryAt > now) lines.push(`It makes sense to ask again ${when(record.retryAt, now)}.`);
  const ends = record?.windowEndsAt;
  if (ends === undefined || record?.link) return lines;
  const asks = parts.ask && settings.reconcile ? 'reconcile is asked' : 'somebody must find out and settle it: there is no reconcile';
  if (ends > now)
    return [...lines, `The server remembers the key until ${time(ends)} (in ${duration(ends - now)}). After that, nothing is sent again: ${asks}.`];
  // `move` ends the key window before the record was made.
  const why = ends < (record?.createdAt ?? 0) ? 'may not know the key in this account' : `may have forgotten the key ${duration(now - ends)} ago`;
  return [`The server ${why}, so nothing is sent again: ${asks}.`];
}

/** What will happen next, and when. */
export function nextOf(row: Row, client: Client, now: number): readonly string[] {
  const { state, record, status } = row;
  const { limits } = client.settings;
  switch (status) {
    case 'sending':
      return state?.phase === 'sending'
        ? [`Attempt ${state.attempt} of at most ${state.maxAttempts} is under way. By default an attempt is given up after ${duration(limits.attemptMs)}.`]
        : ['It is about to send, or looks into the store first.'];
    case 'waiting':
      return state?.phase === 'waiting' ? [`It waits ${whyWait(state.why)}, and goes on ${state.until === undefined ? 'then' : when(state.until, now)}.`] : [];
    case 'elsewhere':
      return [
        'Another tab, worker or process is working on it. A call here waits for that one and gets its outcome. The timeline has its attempts if it has a panel, too.',
      ];
    case 'unsettled':
      return nextOfUnsettled(row, client, now);
    case 'done':
      return [`The next call with this name sends nothing and says that it is done, unless its option repeat says otherwise.`, ...keptUntil(record, now)];
    case 'none':
      return record?.state === 'retired' && record.keyInUse
        ? ['The next call is sent under the same key: nothing proves that the application has used it up.']
        : ['The next call with this name is another operation, under another key.'];
    default:
      return ['The next call with this name is another operation, under another key.'];
  }
}

const keptUntil = (record: OnceRecord | undefined, now: number): readonly string[] =>
  record ? [`It is remembered until ${new Date(record.forgetAt).toLocaleString()} (for ${duration(record.forgetAt - now)}).`] : [];
