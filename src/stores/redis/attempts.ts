/** Sends attempts to the script in Redis, and reads its answers. */
import type { Stored } from '../../ports.js';
import type { Ends } from '../batches.js';
import { type Answer, type Attempt, isDone, type Seen } from '../compare-and-set.js';
import { StoreFault } from '../fault.js';
import { ordered } from '../text.js';
import type { Scripts } from './client.js';
import { FORMAT, READ_ALL, UPDATE } from './scripts.js';

const DAY_MS = 86_400_000;
/** An unsettled record is kept at least this long after its last update. */
const UNSETTLED_MS = 30 * DAY_MS;
/** Records expire this long after they may be forgotten, so that a sweep finds them first and reports those that never settled. */
const EXPIRY_LATE_MS = 7 * DAY_MS;
/** Later times are not given to Redis as an expiry: the last time that a JavaScript `Date` can have. */
const EXPIRY_AT_MAX = 8.64e15;

/** Where a store's records are in Redis. */
export interface Redis {
  readonly scope: string;
  readonly scripts: Scripts;
  /** Keys of the two indexes, and of the record with an id, which must be `ordered`. */
  readonly places: string;
  readonly times: string;
  readonly keyOf: (id: string) => string;
}

/**
 * A record's entry in the index, which is sorted by namespace, state, label and id. The tab sorts before all characters of
 * {@link ordered}, so that a label comes before longer labels that begin with it.
 */
export const placeOf = ({ ns, state, label, id }: Stored): string => [ns, state, label, id].map(ordered).join('\t');
export const idIn = (place: string): string => place.slice(place.lastIndexOf('\t') + 1);
export const labelIn = (place: string): string => place.split('\t')[2] ?? '';

/** Sends all attempts in one script. Each succeeds or fails independently. */
export async function send(redis: Redis, attempts: readonly Attempt[]): Promise<Ends> {
  const { scripts, places, times, keyOf } = redis;
  const args: string[] = [];
  for (const { expected, now, offMs, next, rev, text } of attempts) {
    args.push(expected?.rev ?? '', String(now), String(offMs), next ? 'put' : next === null ? 'remove' : 'keep');
    if (!next) continue;
    const place = placeOf(next);
    args.push([FORMAT, rev, place, text].join('\n'), place, String(next.forgetAt), expiryOf(next, now));
  }
  const losses = scripts.losses();
  const [now, ...ends] = (await scripts.run(UPDATE, [places, times, ...attempts.map(({ id }) => keyOf(ordered(id)))], args)) as [unknown, ...unknown[][]];
  const broke = scripts.losses() !== losses;
  return attempts.map((_, n) => {
    const [done, ...seen] = ends[n] ?? [];
    if (Number(done) === 1) return { done: true, now: Number(now), seen: undefined, broke };
    return Number(done) === 0 && seen.length > 0 ? missed(redis, Number(now), broke, seen) : Promise.reject(new Error(String(seen[0])));
  });
}

const missed = async (redis: Redis, now: number, broke: boolean, seen: readonly unknown[]): Promise<Answer> => ({
  done: false,
  now,
  seen: seenOf(redis, seen),
  broke,
});

/** When Redis may remove the record, in case no sweep does; '' for never. */
function expiryOf({ state, forgetAt }: Stored, now: number): string {
  const at = Math.ceil(Math.max(forgetAt, now + (state === 'pending' ? UNSETTLED_MS : 0)) + EXPIRY_LATE_MS);
  return at < EXPIRY_AT_MAX ? String(at) : '';
}

/** Version and value from a reply. The value of a damaged record is passed on as it is. */
export function seenOf({ scope }: Pick<Redis, 'scope'>, [rev, value]: readonly unknown[]): Seen | undefined {
  if (rev === undefined || String(rev) === '') return undefined;
  const text = String(value);
  const format = /^(\d+)\n/.exec(text)?.[1];
  if (format !== undefined && Number(format) > Number(FORMAT))
    throw new StoreFault(
      'newer',
      `a record in ${scope} was written by a newer version of oncefetch (format ${format}, this is ${FORMAT}); nothing was changed, update oncefetch here`,
    );
  return { rev: String(rev), text: format === FORMAT ? text.split('\n').slice(3).join('\n') : text };
}

/** For how many replicas to wait, and how long, ms. */
export interface Wait {
  readonly replicas: number;
  readonly timeoutMs: number;
}

/**
 * The same, but a strict attempt that was committed counts as done only when the replicas have it. One WAIT serves all attempts, because
 * it blocks the connection.
 */
export async function sendAndWait(redis: Redis, attempts: readonly Attempt[], wait: Wait): Promise<Ends> {
  const ends = await send(redis, attempts);
  const said = await Promise.allSettled(ends);
  const waiting = attempts.filter((attempt, n) => {
    const end = said[n];
    return attempt.durability === 'strict' && attempt.next !== undefined && end?.status === 'fulfilled' && isDone(attempt, end.value);
  });
  if (waiting.length === 0) return ends;
  const heard = replicated(redis, waiting, wait);
  return attempts.map((attempt, n) => {
    const end = ends[n] as Answer;
    if (!waiting.includes(attempt)) return end;
    return heard.then((refused) => {
      const why = refused(attempt);
      if (why) throw why;
      return end;
    });
  });
}

/** Waits for the replicas, and reads the records again, because the client may have reconnected to another master meanwhile. */
async function replicated(redis: Redis, attempts: readonly Attempt[], { replicas, timeoutMs }: Wait): Promise<(attempt: Attempt) => StoreFault | undefined> {
  const { scope, scripts, times, keyOf } = redis;
  const keys = attempts.map(({ id }) => keyOf(ordered(id)));
  const [heard, found] = await Promise.all([scripts.wait(replicas, timeoutMs), scripts.run(READ_ALL, [times, ...keys], []) as Promise<unknown[]>]);
  return (attempt) => {
    const there = String(found[2 * attempts.indexOf(attempt)]) === attempt.rev;
    if (heard >= replicas && there) return undefined;
    const why = there ? `only ${heard} of ${replicas} replicas had it within ${timeoutMs} ms` : 'it was changed or lost at once';
    return new StoreFault('timeout', `${scope} has stored it, but ${why}`);
  };
}
