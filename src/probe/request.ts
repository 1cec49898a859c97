/** What the probe sends, and what it needs of whoever sends it. */

/** One request of the probe. */
export interface ProbeRequest {
  /** Where to send it: your endpoint, through the probe's own proxy, which can lose the answer. */
  readonly url: string;
  /** The idempotency key. */
  readonly key: string;
  /** The same in all requests that mean one operation, and new for each other one: for an order number, a cart. */
  readonly operation: string;
  /**
   * `usual`: one that takes effect. `changed`: the same operation with another payload. `refused`: one that the application
   * refuses, such as a declined card. `fails-once`: one whose work fails the first time (a 5xx, nothing happened), and not again.
   */
  readonly payload: 'usual' | 'changed' | 'refused' | 'fails-once';
  /** `other`: another account that may do the same. `refused`: a login that the server does not accept. */
  readonly login: 'own' | 'other' | 'refused';
}

/** Sends one request; `undefined` where there is no such request, and its row is left out. */
export type ProbeSend = (request: ProbeRequest) => Promise<Response> | undefined;

/** What is probed. */
export interface ProbeTarget {
  readonly send: ProbeSend;
  /** The endpoint; asked before each request, because a server that was started again may have another port. */
  readonly url: () => string;
  /** Another endpoint of the same origin that takes the same request. */
  readonly elsewhere?: (() => string) | undefined;
  /** How many effects there are by now, of all requests. */
  readonly count?: (() => number | Promise<number>) | undefined;
  /** Kills the server at once, as a crash would, and starts it again. */
  readonly restart?: (() => void | Promise<void>) | undefined;
}

/** How long the probe waits, ms. */
export interface ProbeTimes {
  /** How long it asks again while an answer says that the work goes on. */
  readonly patienceMs: number;
  /** How long after the last answer an effect may still appear. */
  readonly settleMs: number;
  /** How long it waits before it sends a key once more, to see whether the server still knows it. */
  readonly afterMs?: number | undefined;
}

/** An answer, whole. */
export interface Came {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The row can't be played here; the message says why. */
export class NotTried extends Error {
  override readonly name = 'NotTried';
}
