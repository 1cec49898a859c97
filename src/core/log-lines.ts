/** Events as lines of text for people. */
import { count } from '../texts/explained.js';
import type { OnceEvent, WaitReason } from './event.js';
import { explain } from './explain.js';
import { typeOf } from './name.js';

/** Where `logTo` writes its lines: `console`, or a logger with the same two methods. */
export interface LineLog {
  /** Called with each step. */
  info(line: string): void;
  /** Called with what somebody should look at: an unknown outcome, a diagnostic. */
  warn(line: string): void;
}

const WAITS: Readonly<Record<WaitReason, string>> = {
  backoff: 'before it tries again',
  'in-progress': 'because the server is still working on it',
  'retry-after': 'because the server asked for it',
  offline: 'for the network',
  'another-context': 'for another tab or process that is working on it',
};

/**
 * A listener for `subscribe` that writes a line for each step: attempts, waits, outcomes and diagnostics. A line contains the
 * operation's name and the beginning of its key, and nothing from a request or an answer.
 *
 * @throws TypeError if `log` lacks one of the two methods
 * @example
 * subscribe(once, logTo(console));
 */
export function logTo(log: LineLog): (event: OnceEvent) => void {
  for (const method of ['info', 'warn'] as const)
    if (typeof log?.[method] !== 'function') throw new TypeError(`once: logTo takes a console, got ${typeOf(log)} without ${method}()`);
  return (event) => {
    const line = `once: ${nameOf(event)}: ${stepOf(event)}`;
    if (event.type === 'unknown' || event.type === 'diagnostic') log.warn(line);
    else log.info(line);
  };
}

const nameOf = ({ operation, key }: OnceEvent): string => `${operation ? operation.join(' ') : 'without a name'}${key && ` (${key.slice(0, 8)})`}`;

/** How the previous attempt ended, for the beginning of a line. */
const got = (answer: number | string | undefined, then: string): string => (answer === undefined ? '' : `got ${answer}${then} `);

function stepOf(event: OnceEvent): string {
  switch (event.type) {
    case 'attempt':
      return `${got(event.status, ':')}attempt ${event.attempt}`;
    case 'wait': {
      const { until, at } = event;
      const why = WAITS[event.why as WaitReason] ?? event.why;
      const upTo = event.why === 'offline' || event.why === 'another-context' ? 'up to ' : ''; // these two end as soon as they can
      return `${got(event.status ?? (event.why === 'backoff' ? 'no answer' : undefined), ',')}waits ${until === undefined ? '' : `${upTo}${((until - at) / 1000).toFixed(1)} s `}${why}`;
    }
    case 'diagnostic':
      return `${event.code}: ${event.message}`;
    default: {
      const { outcome } = event;
      const { summary, next } = explain(outcome);
      return `${got(event.status, ':')}${outcome.effect} after ${count(outcome.attempts, 'attempt')}. ${summary}${outcome.effect === 'unknown' ? ` ${next}` : ''}`;
    }
  }
}
