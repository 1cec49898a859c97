/** What oncefetch says about one operation at one server, compared with what really happened. */
import { setTimeout as sleep } from 'node:timers/promises';
import { close, createOnce, hooks, memoryStore, type OnceEvent, type OnceOptions, type OperationOptions, outcomeOf, reconciling, subscribe } from 'oncefetch';
import type { Liar, Lie } from './liar.js';
import { OTHER, WORK_MS } from './lies.js';

/** A server, and the calls that are made. */
export interface Case {
  readonly lie: Lie;
  /** How many of the first answers are lost. */
  readonly lose?: number;
  readonly options?: OnceOptions;
  readonly once?: OperationOptions;
  /** How many calls are made, one after the other or at once. */
  readonly presses?: number | 'two at once';
  readonly pauseMs?: number;
  /** Somebody else sends an equal request before the first call. */
  readonly after?: 'an equal one';
  /** The server's work may go on after the last call has ended, so the test waits for it. */
  readonly settles?: boolean;
}

/** From this number on, requests are reported as "many", because waiting for work in progress takes a varying number of requests. */
const MANY = 4;
const LIMITS = { attempts: 4, attemptMs: 1000, totalMs: 5000, inProgressMs: 1400 };

/** How the last call ended, in the words of the page. */
export async function told(one: Case, liar: Liar) {
  const { options, presses = 1, pauseMs = 0 } = one;
  const events: string[] = [];
  const once = createOnce({
    use: [hooks(), reconciling()],
    namespace: 'till',
    store: memoryStore(),
    retry: { minDelayMs: 5, maxDelayMs: 20 },
    ...options,
    limits: { ...LIMITS, ...options?.limits },
  });
  const hears = (event: OnceEvent) => {
    if (event.type === 'diagnostic') events.push(event.code);
    if (event.type === 'settled' || event.type === 'unknown') events.push(event.type);
  };
  subscribe(once, hears);
  const [url, body] = [`${liar.origin}/payments`, '{"order":"o-1"}'];
  if (one.after) await fetch(url, { method: 'POST', body, headers: { 'idempotency-key': OTHER } });
  const pay = () => once.fetch(url, { method: 'POST', body, once: { operation: ['pay', 'o-1'], ...one.once } }).catch((error: unknown) => error);
  let last: unknown;
  if (presses === 'two at once') [last] = await Promise.all([pay(), pay()]);
  else
    for (let press = 0; press < presses; press++) {
      if (press > 0) await sleep(pauseMs);
      last = await pay();
    }
  // The server may still be working on attempts that timed out.
  if (one.settles) await sleep(3 * WORK_MS);
  await close(once);
  const outcome = outcomeOf(last);
  const why = outcome?.type === 'unknown' ? outcome.reason : outcome?.type === 'fresh' && !outcome.certain ? 'not certain' : outcome?.type;
  const { length } = liar.requests.filter(({ key }) => key !== OTHER);
  return {
    ends: `${outcome?.effect}: ${why}`,
    requests: length > MANY ? 'many' : String(length),
    effects: liar.ledger.effects.filter((key) => key !== OTHER).length,
    raises: [...new Set(events)].join(', '),
  };
}
