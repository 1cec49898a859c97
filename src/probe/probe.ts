/** Plays the rows against a server. */
import type { Dialect } from '../core/dialect.js';
import { Bench, type Learnt } from './bench.js';
import type { Evidence, Seen } from './evidence.js';
import { preflight } from './preflight.js';
import { openProxy } from './proxy.js';
import { type Came, NotTried, type ProbeTarget, type ProbeTimes } from './request.js';
import { type Found, notTried, type ProbeRow, rowOf } from './row.js';
import { type ProbeRowName, ROW_NAMES } from './rows.js';
import { afterWait, again, answerCut, atOnce, first, killed, reset } from './rows-of-copies.js';
import { changedAfterFault, otherAccount, otherPath, otherPayload, passingFault, refusal, refusedLogin } from './rows-of-others.js';

const PLAYS: Readonly<Record<ProbeRowName, (bench: Bench) => Promise<Found>>> = {
  first,
  again,
  'at-once': atOnce,
  'other-payload': otherPayload,
  'answer-cut': answerCut,
  reset,
  killed,
  refusal,
  'passing-fault': passingFault,
  'changed-after-fault': changedAfterFault,
  'refused-login': refusedLogin,
  'other-path': otherPath,
  'other-account': otherAccount,
  'after-wait': afterWait,
  preflight,
};

/** An open probe, which plays rows until it is closed. */
export interface OpenProbe {
  readonly bench: Bench;
  play(row: ProbeRowName): Promise<ProbeRow>;
  /** Answers whose true meaning is known, from all rows so far. */
  readonly evidence: readonly Evidence[];
  /** Successes of all rows so far, by whether the work was done for them. */
  readonly seen: Seen;
  close(): Promise<void>;
}

/** Opens a probe. `learnt`: what an earlier probe has learnt of the same server. */
export async function openProbe(
  target: ProbeTarget,
  times: ProbeTimes,
  dialect: Dialect,
  learnt: Learnt = { workMs: 100, accepts: false },
): Promise<OpenProbe> {
  const proxy = await openProxy(target.url);
  const bench = new Bench(target, times, dialect, proxy, learnt);
  const evidence: Evidence[] = [];
  const seen = { own: [] as Came[], copies: [] as Came[] };
  return {
    bench,
    evidence,
    seen,
    close: proxy.close,
    async play(row) {
      try {
        const found = await PLAYS[row](bench);
        evidence.push(...(found.evidence ?? []));
        seen.own.push(...(found.seen?.own ?? []));
        seen.copies.push(...(found.seen?.copies ?? []));
        return rowOf(row, found);
      } catch (error) {
        if (error instanceof NotTried) return notTried(row, error.message);
        throw error;
      }
    },
  };
}

/** Plays all rows. If the first request had no effect or no answer, the other rows would show nothing, and are left out. */
export async function playAll(probe: OpenProbe, played: (row: ProbeRow) => void = () => {}): Promise<ProbeRow[]> {
  const rows: ProbeRow[] = [];
  for (const name of ROW_NAMES) {
    const [first] = rows;
    const blind = first?.finding === 'no-effect' ? 'effect' : first?.finding === 'no-answer' ? 'answer' : undefined;
    const row = blind ? notTried(name, `the first request had no ${blind}`) : await probe.play(name);
    rows.push(row);
    played(row);
  }
  return rows;
}
