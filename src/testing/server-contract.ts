/** The contract of a server, as tests for any test runner. */
import type { Dialect } from '../core/dialect.js';
import { generic } from '../dialects/generic.js';
import type { Learnt } from '../probe/bench.js';
import type { ProbeRequest } from '../probe/request.js';
import type { ProbeRow } from '../probe/row.js';
import { type ProbeRowName, ROW_NAMES, ROWS } from '../probe/rows.js';

/** Options of `serverContract`. */
export interface ServerContractOptions {
  /** Comes before the title of every test. */
  readonly name: string;
  /** Your runner's `test`. */
  readonly test: (title: string, run: () => Promise<void>) => unknown;
  /** The endpoint whose requests take effect. Called before each request, because a restarted server may have another port. */
  readonly url: () => string;
  /** Sends one request to `request.url`, which leads to your endpoint. Return `undefined` if your server has no such request; then its test is left out. */
  readonly send: (request: ProbeRequest) => Promise<Response> | undefined;
  /** How many effects there are so far, whoever made them. */
  readonly count: () => number | Promise<number>;
  /** Another endpoint of the same origin that takes the same request. Without it, its test is left out. */
  readonly elsewhere?: (() => string) | undefined;
  /** Kills the server, as a crash would, and starts it again. Without it, its test is left out. */
  readonly restart?: (() => void | Promise<void>) | undefined;
  /** Where the key goes, and how answers are read. @default `generic()`: the header `Idempotency-Key` */
  readonly dialect?: Dialect | undefined;
  /** Whether a later copy gets the first answer again; `false` if the server can only refuse it. @default true */
  readonly replays?: boolean | undefined;
  /** How long to ask again while work is in progress, ms. It must be longer than a key stays taken after its process has died. @default 5_000 */
  readonly patienceMs?: number | undefined;
  /** How long after an answer its effect may still appear, ms. @default 50 */
  readonly settleMs?: number | undefined;
  /** How long a test waits to see that the server still knows a key, ms. Without it, its test is left out. */
  readonly afterMs?: number | undefined;
}

/** Which tests ran. It is complete when all have run. */
export interface ServerContractReport {
  readonly rows: readonly ProbeRow[];
  readonly left: readonly { readonly title: string; readonly because: string }[];
}

/**
 * Runs the contract of a server that honours idempotency keys: one key has one effect, whatever happens on the way, and the server's
 * answers are true.
 *
 * The tests use real HTTP through a proxy of their own, which loses answers and resets connections. They need Node.
 *
 * @returns what each test saw, and which were left out
 * @throws in a test: an Error that says what the server did wrong
 * @example
 * import { test } from 'vitest';
 * serverContract({
 *   name: 'payments',
 *   test,
 *   url: () => `${server.origin}/payments`,
 *   send: ({ url, key, operation, payload }) =>
 *     payload === 'usual' || payload === 'changed'
 *       ? fetch(url, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify({ cart: operation, amount: payload === 'usual' ? 10 : 20 }) })
 *       : undefined,
 *   count: () => countCharges(),
 *   restart: () => server.killAndStart(),
 * });
 */
export function serverContract(options: ServerContractOptions): ServerContractReport {
  const { name, test, dialect = generic(), replays = true } = options;
  const rows: ProbeRow[] = [];
  const left: { title: string; because: string }[] = [];
  const learnt: Learnt = { workMs: 100, accepts: false };
  const play = async (row: ProbeRowName): Promise<ProbeRow> => {
    // Imported only when a test runs, because the probe needs Node, and this entry is also for pages.
    const { openProbe } = await import('../probe/probe.js');
    const times = { patienceMs: options.patienceMs ?? 5_000, settleMs: options.settleMs ?? 50, afterMs: options.afterMs };
    const probe = await openProbe(options, times, dialect, learnt);
    try {
      return await probe.play(row);
    } finally {
      await probe.close();
    }
  };
  // Every row needs what the first one learns, even if its test runs alone.
  let first: Promise<ProbeRow> | undefined;
  const playFirst = (): Promise<ProbeRow> => (first ??= play('first'));

  for (const row of ROW_NAMES) {
    const title = ROWS[row];
    const because = unplayable(row, options);
    if (because) left.push({ title, because });
    else
      test(`${name}: ${title}`, async () => {
        const { finding, severity, means } = await playFirst();
        if (severity === 'not-tried') throw new Error(`server contract: ${means}`);
        const played = row === 'first' || finding === 'no-effect' ? await playFirst() : await play(row);
        if (played.severity === 'not-tried') left.push({ title, because: played.means });
        else rows.push(played);
        must(played, replays);
      });
  }
  return { rows, left };
}

function unplayable(row: ProbeRowName, { elsewhere, restart, afterMs }: ServerContractOptions): string | undefined {
  if (row === 'other-path' && !elsewhere) return 'no `elsewhere` was given';
  if (row === 'killed' && !restart) return 'no `restart` was given';
  if (row === 'after-wait' && afterMs === undefined) return 'no `afterMs` was given';
  return undefined;
}

function must({ severity, tried, cameBack, effects, means }: ProbeRow, replays: boolean): void {
  if (severity === 'double' || severity === 'wrong' || (severity === 'weak' && replays))
    throw new Error(`server contract: ${tried}: ${means} Answers: ${cameBack}; effects: ${effects}.`);
}
