/** Faults by name. Numbers are probabilities per occasion unless their name has a unit; absent means never. */
import type { Send } from './facts.js';
import { Random } from './random.js';

export interface FaultRates {
  // The network, per call of the transport.
  requestLost?: number;
  responseLost?: number;
  /** A copy is held back longer than an attempt lasts. */
  delayed?: number;
  /** One call of the transport puts two or three copies on the server, at different times. */
  duplicated?: number;
  /** A copy arrives after the one of the next attempt. */
  reordered?: number;
  truncated?: number;
  /** The body begins and never ends. */
  stalled?: number;
  connectionRefused?: number;

  // False answers from in front of the key layer, per copy.
  /** 401, 403, 429 and the like; nothing reaches the key layer. */
  frontRefuses?: number;
  /** Once the effect is there, its address is gone: 404. */
  frontKnows?: number;
  /** 502, 503 or 504; nothing reaches the key layer. */
  frontBreaks?: number;
  /** The server works, and a gateway makes 502, 503 or 504 of its answer. */
  frontBreaksAfter?: number;
  /** 200 with a login page in HTML, or a followed redirect to one. */
  loginPage?: number;
  /** A 302 that the client does not follow. */
  redirected?: number;

  // The server, per execution.
  /** Declined, by chance: the same request may be accepted another time. */
  declines?: number;
  /** 500 before the effect. */
  crashesBefore?: number;
  /** 500 after the effect was committed. */
  crashesAfter?: number;
  /** Killed at work: no answer, no effect; its lock stays until it times out. */
  dies?: number;
  /** Forgets a key before its window ends: breaks H2. */
  forgetsEarly?: number;

  // The store, per operation.
  lookFails?: number;
  commitFails?: number;
  /** Committed, and reported as failed. */
  failAfterCommit?: number;
  /** Answers after its time is over, or never; the commit may still come. */
  storeHangs?: number;
  /** Half of it was written. */
  torn?: number;
  /** It takes seconds, within its time. */
  storeSlow?: number;

  // Contexts, per call of a port.
  /** Dies at this await. */
  killed?: number;
  /** Freezes at this await. */
  frozen?: number;
  frozenMsMax?: number;

  // The app's hooks.
  /** The `headers` hook takes its time. */
  hookDelays?: number;
  hookThrows?: number;
  hookHangs?: number;
  /** `reconcile` takes its time, throws, or never answers. */
  reconcileDelays?: number;
  reconcileThrows?: number;
  reconcileHangs?: number;
  /** It hands over what its fetch came to: a 200, or a 404 where there is nothing to be found. */
  reconcileResponds?: number;
  /** The same, and something in front refused: 401 or 503. */
  reconcileRefused?: number;
  /** The key strategy takes its time, throws, or never answers. */
  keyDelays?: number;
  keyThrows?: number;
  keyHangs?: number;
  /** Any of them uses the client before it answers. */
  callsBack?: number;
  /** The `verdict` hook throws. */
  verdictThrows?: number;
}

export type FaultName =
  | Exclude<keyof FaultRates, `${string}Ms${string}`>
  | 'offline'
  | 'clockJump'
  | 'evicted'
  | 'full'
  | 'powerLoss'
  | 'serverRestart'
  | 'logOut'
  | 'logIn'
  | 'lie'
  | 'elsewhere'
  | 'clockSlip'
  | 'restart'
  | 'abort';

export class Faults {
  rates: FaultRates;
  /** How often each one struck. */
  readonly struck: Map<FaultName, number>;
  readonly #random: Random;
  readonly #occasions = new Map<string, number>();

  constructor(seed: number, rates: FaultRates, struck: Map<FaultName, number>) {
    this.rates = rates;
    this.struck = struck;
    this.#random = new Random(seed);
  }

  /** A source of chance for the n-th occasion of its kind at `place`. */
  occasion(place: string): Random {
    const n = this.#occasions.get(place) ?? 0;
    this.#occasions.set(place, n + 1);
    return this.#random.of(place, n);
  }

  /** Whether the fault strikes now. `_send`: the request that it is about, for who decides the same of each of its copies. */
  hits(random: Random, name: Exclude<keyof FaultRates, `${string}Ms${string}`>, _send?: Send): boolean {
    // Drawn in any case, so that switching one fault off leaves the others where they were.
    const hit = random.next() < (this.rates[name] ?? 0);
    if (hit) this.count(name);
    return hit;
  }

  count(name: FaultName): void {
    this.struck.set(name, (this.struck.get(name) ?? 0) + 1);
  }

  stop(): void {
    this.rates = {};
  }
}
