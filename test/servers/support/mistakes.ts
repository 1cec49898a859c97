/** Servers as tutorials show them, each with its mistake. With `mended`, the mistake is corrected. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { answer } from './http.js';
import type { Asked, Ledger, Lie } from './liar.js';
import { WORK_MS } from './lies.js';

const BROKE = answer(500, { title: 'The bank does not answer' });
const OUTSTANDING = answer(409, { title: 'A request is outstanding for this Idempotency-Key' }, { 'retry-after': '0' });

/** Calls the bank. It fails (`undefined`) for the server's first request, and for the first request of each key whose body says `fails-once`. */
const bank = () => {
  const failed = new Set<string>();
  return (asked: Asked, ledger: Ledger) => {
    if (failed.has(asked.key) || !(asked.number === 1 || asked.body.includes('fails-once'))) return ledger.execute(asked);
    failed.add(asked.key);
    return undefined;
  };
};

/** Inserts the key, then works. A duplicate is told "success" at once, whatever becomes of the work. */
export const insertsFirst = ({ mended = false } = {}): Lie => {
  const [taken, work] = [new Set<string>(), bank()];
  return (asked, ledger) => {
    if (ledger.knows(asked) && mended) return ledger.replay(asked);
    if (taken.has(asked.key)) return answer(200, { duplicate: true });
    taken.add(asked.key);
    const done = work(asked, ledger);
    if (!done && mended) taken.delete(asked.key);
    return done ?? BROKE;
  };
};

/** Answers 429 to every key that it has seen before. */
export const tooMany =
  ({ mended = false } = {}): Lie =>
  (asked, ledger) =>
    ledger.knows(asked) ? (mended ? ledger.replay(asked) : answer(429, { error: 'Duplicate request' })) : ledger.execute(asked);

/**
 * A filter that remembers a request by the hash of its body for a while, whether or not it took effect. `fails`: the
 * work of the first request fails.
 */
export const filtersByHash = ({ windowMs = 60_000, fails = false, mended = false } = {}): Lie => {
  const [until, work] = [new Map<string, number>(), bank()];
  return (asked, ledger) => {
    if (mended && ledger.knows(asked)) return ledger.replay(asked);
    const hash = createHash('sha256')
      .update(mended ? asked.key : asked.body)
      .digest('hex');
    if ((until.get(hash) ?? 0) > performance.now()) return answer(429, { error: 'Duplicate request' });
    until.set(hash, performance.now() + windowMs);
    const done = fails ? work(asked, ledger) : ledger.execute(asked);
    if (!done && mended) until.delete(hash);
    return done ?? BROKE;
  };
};

/** Answers 202 to a duplicate while the first copy is in progress, although that copy fails. */
export const acceptsMeanwhile = ({ mended = false } = {}): Lie => {
  const [taken, work] = [new Set<string>(), bank()];
  return async (asked, ledger) => {
    if (ledger.knows(asked)) return ledger.replay(asked);
    if (taken.has(asked.key)) return mended ? OUTSTANDING : answer(202, { status: 'processing' });
    taken.add(asked.key);
    await sleep(WORK_MS);
    const done = work(asked, ledger);
    if (!done) taken.delete(asked.key);
    return done ?? BROKE;
  };
};

/**
 * After how many requests a mended server abandons a stuck row. It counts requests instead of time, because in a fixed
 * time a slow client would ask less often.
 */
const ASKS_WHILE_BUSY = 4;

/** Keeps the row "processing" of a process that died. The row names no owner, so no other request may continue. */
export const withoutOwner = ({ mended = false } = {}): Lie => {
  const [asks, work] = [new Map<string, number>(), bank()];
  return (asked, ledger) => {
    if (ledger.knows(asked)) return ledger.replay(asked);
    const before = asks.get(asked.key);
    asks.set(asked.key, (before ?? 0) + 1);
    if (before !== undefined && (!mended || before < ASKS_WHILE_BUSY)) return OUTSTANDING;
    return work(asked, ledger) ?? BROKE;
  };
};

/** Stores an error of the server like any other answer. */
export const storesFaults = ({ mended = false } = {}): Lie => {
  const [failed, work] = [new Set<string>(), bank()];
  return (asked, ledger) => {
    if (ledger.knows(asked)) return ledger.replay(asked);
    if (failed.has(asked.key)) return { ...BROKE, headers: { 'idempotent-replayed': 'true' } };
    const done = work(asked, ledger);
    if (!done && !mended) failed.add(asked.key);
    return done ?? BROKE;
  };
};
