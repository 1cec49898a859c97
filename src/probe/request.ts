/** Types of what the probe sends, and of what it needs from its caller. */

/** One request of the probe. */
export interface ProbeRequest {
  /** Where to send it: your endpoint, through the probe's own proxy, which can lose the answer. */
  readonly url: string;
  /** The idempotency key. */
  readonly key: string;
  /** Identifies the operation: the same in all requests for one operation, and different for each other one. Use it for an order number or a cart. */
  readonly operation: string;
  /**
   * `usual`: a payload that takes effect. `changed`: another payload for the same operation. `refused`: one that the application
   * refuses, such as a declined card. `fails-once`: one whose work fails only the first time (with a 5xx and no effect).
   */
  readonly payload: 'usual' | 'changed' | 'refused' | 'fails-once';
  /** `other`: another account that is allowed to do the same. `refused`: a login that the server does not accept. */
  readonly login: 'own' | 'other' | 'refused';
}

/** Sends one request; `undefined` if there is no such request. Then its row is left out. */
export type ProbeSend = (request: ProbeRequest) => Promise<Response> | undefined;

/** What is probed. */
export interface ProbeTarget {
  readonly send: ProbeSend;
  /** The endpoint. Called before each request, because a restarted server may have another port. */
  readonly url: () => string;
  /** Another endpoint of the same origin that takes the same request. */
  readonly elsewhere?: (() => string) | undefined;
  /** How many effects all requests have had so far. */
  readonly count?: (() => number | Promise<number>) | undefined;
  /** Kills the server at once, as a crash would, and starts it again. */
  readonly restart?: (() => void | Promise<void>) | undefined;
}

/** How long the probe waits, ms. */
export interface ProbeTimes {
  /** How long to ask again while answers say that the work goes on. */
  readonly patienceMs: number;
  /** How long after the last answer an effect may still appear. */
  readonly settleMs: number;
  /** How long to wait before a key is sent once more, to see whether the server still knows it. */
  readonly afterMs?: number | undefined;
  /**
   * The longest time to wait for one answer.
   *
   * @default 60_000
   */
  readonly answerMs?: number | undefined;
}

/** A complete answer. */
export interface Came {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The address and the body of its request. */
  readonly sent?: string | undefined;
}

/** Thrown if a row can't be played here. The message says why. */
export class NotTried extends Error {
  override readonly name = 'NotTried';
}
