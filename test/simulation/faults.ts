/** Faults by name. Numbers are probabilities per occasion unless their name has a unit; absent means never. */
import type { Send } from './facts.js';
import { Random } from './random.js';

export interface FaultRates {
  // The network, per call of the transport.
  requestLost?: number;
  responseLost?: number;
  /** A copy is held back, possibly for longer than an attempt lasts. */
  delayed?: number;
  /** One call of the transport puts two or three copies on the server, at different times. */
  duplicated?: number;
  /** A copy is held back, so that copies of later attempts may overtake it. */
  reordered?: number;
  truncated?: number;
  /** The body begins and never ends. */
  stalled?: number;
  connectionRefused?: number;

  // False answers from in front of the key layer, per copy.
  /** 401, 403, 429 and the like; nothing reaches the key layer. */
  frontRefuses?: number;
  /** After the effect, the address answers 404: the cart is empty. */
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
  /** Declined by chance: the same request may be accepted the next time. */
  declines?: number;
  /** 500 before the effect. */
  crashesBefore?: number;
  /** 500 after the effect was committed. */
  crashesAfter?: number;
  /** The server is killed at work: no answer, no effect. Its lock stays until it times out. */
  dies?: number;
  /** The work takes up to half an hour. */
  worksLong?: number;
  /** The server forgets a key before its window ends, which breaks its promise. */
  forgetsEarly?: number;

  // The store, per operation.
  lookFails?: number;
  commitFails?: number;
  /** The write is committed and reported as failed. */
  failAfterCommit?: number;
  /** The store answers after its time limit, or never. A write may still be committed. */
  storeHangs?: number;
  /** Half of the record is written, or one bit of it is wrong. */
  torn?: number;
  /** The store takes seconds, but less than its time limit. */
  storeSlow?: number;

  /** The lock manager never answers this request. */
  lockHangs?: number;

  // Contexts, per call of a port.
  /** The context dies at this call. */
  killed?: number;
  /** The context freezes at this call. */
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
  /** `reconcile` returns the Response of its own fetch: a 200, or a 404 if the app's server knows no such order. */
  reconcileResponds?: number;
  /** `reconcile` returns the Response of something in front of the app's server: 401 or 503. */
  reconcileRefused?: number;
  /** The key strategy takes its time, throws, or never answers. */
  keyDelays?: number;
  keyThrows?: number;
  keyHangs?: number;
  /** A hook uses the client before it answers. */
  callsBack?: number;
  /** Before the function of a `run` makes a call, its context sleeps and the work is given to another one, or the user logs out or in. */
  interrupted?: number;
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
  /** How often each fault struck. */
  readonly struck: Map<FaultName, number>;
  readonly #random: Random;
  readonly #occasions = new Map<string, number>();

  constructor(seed: number, rates: FaultRates, struck: Map<FaultName, number>) {
    this.rates = rates;
    this.struck = struck;
    this.#random = new Random(seed);
  }

  /** The random source for the next occasion of its kind at `place`. */
  occasion(place: string): Random {
    const n = this.#occasions.get(place) ?? 0;
    this.#occasions.set(place, n + 1);
    return this.#random.of(place, n);
  }

  /** Whether the fault strikes now. `_send` is the request that it is about. The exploration uses it to decide alike for all copies of one request. */
  hits(random: Random, name: Exclude<keyof FaultRates, `${string}Ms${string}`>, _send?: Send): boolean {
    // Draws even if the rate is 0, so that switching off one fault does not change the others.
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
