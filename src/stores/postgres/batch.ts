/** Sends attempts of many operations in one statement with one commit. Each succeeds or fails independently. */
import { Batches, type Ends } from '../batches.js';
import type { Answer, Attempt } from '../compare-and-set.js';
import { StoreFault } from '../fault.js';
import { ordered } from '../text.js';
import { stateOf } from './fault.js';
import type { Statements } from './sql.js';

/** A row. Every column is selected as text, because a client may be set up to parse numbers and times in its own way. */
export type Row = Readonly<Record<'id' | 'rev' | 'label' | 'data' | 'now' | 'done' | 'comment' | 'persistence' | 'encoding', string | null>>;
export type Query = (text: string, ...values: unknown[]) => Promise<readonly Row[]>;

export const seenOf = (row: Row | undefined): Answer['seen'] => (typeof row?.rev === 'string' ? { rev: row.rev, text: row.data } : undefined);

/** SQLSTATEs about the server or the connection (it takes no writes or no connections, or shuts down), or about the commit, and so about every attempt of a batch. */
const ABOUT_ALL = /^(08|25|28|40003|53300|57P)/;

/** Waits until the table is known to be right, and gives the form in which its database stores text. */
export type Ready = () => Promise<(text: string) => string>;

type Kind = 'insertMany' | 'updateMany' | 'removeMany';

const kindOf = ({ next, expected }: Attempt): Kind | undefined => {
  if (next) return expected ? 'updateMany' : 'insertMany';
  return next === null && expected ? 'removeMany' : undefined;
};

/** An attempt as an element of the statement's JSON. `until` is text, because the time may be infinite. */
const rowOf = ({ id, expected, now, offMs, next, rev, text }: Attempt, form: (text: string) => string) => ({
  id: ordered(id),
  now,
  off: offMs,
  expected: expected?.rev,
  ...(next && { rev, ns: ordered(next.ns), state: ordered(next.state), label: ordered(next.label), until: String(next.forgetAt), data: form(text) }),
});

/** Whether an attempt failed although both guesses were right: somebody else has the row locked, or is inserting it. */
const isHeld = ({ expected, now, offMs }: Attempt, answer: Answer): boolean =>
  !answer.done && answer.seen?.rev === expected?.rev && Math.abs(answer.now - now) <= offMs;

/** @param alone - sends one attempt by itself; its statement waits if the row is locked */
export function batched(rows: Query, ready: Ready, sql: Statements, alone: (attempt: Attempt) => Promise<Answer>): (attempt: Attempt) => Promise<Answer> {
  const together = async (kind: Kind, attempts: readonly Attempt[]): Promise<Ends> => {
    const [first] = attempts;
    const form = await ready();
    const found = await rows(sql[kind], JSON.stringify(attempts.map((attempt) => rowOf(attempt, form))), first?.durability === 'relaxed');
    const missed = new Map(found.map((row) => [row.id, row]));
    missed.delete(null);
    const [{ now, done } = { now: null, done: null }] = found;
    if (Number(done) + missed.size !== attempts.length)
      throw new StoreFault('io', `a statement for ${attempts.length} records reported ${done} as done and ${missed.size} as not done`);
    return attempts.map((attempt) => {
      const row = missed.get(ordered(attempt.id));
      const answer = { done: !row, now: Number(now), seen: seenOf(row) };
      return isHeld(attempt, answer) ? alone(attempt) : answer;
    });
  };
  const send = async (kind: Kind, attempts: readonly Attempt[]): Promise<Ends> => {
    const [only] = attempts;
    if (attempts.length === 1 && only) return [await alone(only)];
    try {
      return await together(kind, attempts);
    } catch (error) {
      // The whole batch was rolled back, perhaps because of a single attempt: send each by itself.
      const state = stateOf(error);
      if (state && !ABOUT_ALL.test(state)) return attempts.map(alone);
      throw error;
    }
  };
  const lanes = new Map<string, Batches>();
  return (attempt) => {
    const kind = kindOf(attempt);
    if (!kind) return alone(attempt);
    const name = `${kind} ${attempt.durability}`;
    const lane = lanes.get(name) ?? new Batches((attempts) => send(kind, attempts));
    lanes.set(name, lane);
    return lane.attempt(attempt);
  };
}
