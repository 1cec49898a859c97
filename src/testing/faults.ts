/** Faults by name: what may happen to a copy of a request between client and server; and the class that decides when. */
import type { Clock } from '../ports.js';
import { known, type Rate, withRate } from './given-faults.js';
import { type ModelAnswer, outstanding, problem } from './model-server.js';

/** What the client gets. `cutAt`: the body breaks off after this many characters, although its full length was announced. */
export type Delivery =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer; readonly cutAt?: number | undefined }
  | { readonly kind: 'network-error' }
  /** Nothing, until the client gives up. */
  | { readonly kind: 'silence' };

/** A fault with its parameters, each of which has a default. */
export interface Fault {
  readonly name: FaultName;
  /** `delay`, `delay-request`: how long, ms. @default 100 */
  readonly ms?: number | undefined;
  /** `in-progress`, `unavailable`, `unavailable-after-commit`, `rate-limited`: `Retry-After` in seconds. @default 1 for the first, absent for the others */
  readonly retryAfter?: number | undefined;
  /** `unavailable`, `unavailable-after-commit`: the status. @default 503 */
  readonly status?: number | undefined;
  /** `duplicate`: how many copies are sent in all, 1 to 10. @default 2 */
  readonly copies?: number | undefined;
}

interface Wire {
  /** Delivers one copy to the server. When it resolves, the effect is committed or refused. */
  readonly pass: () => Promise<ModelAnswer>;
  readonly clock: Clock;
  readonly fault: Fault;
}

const answered = (answer: ModelAnswer): Delivery => ({ kind: 'answer', answer });
const networkError: Delivery = { kind: 'network-error' };
const silence: Delivery = { kind: 'silence' };
const pause = ({ clock, fault }: Wire) => new Promise<void>((resolve) => void clock.timer(fault.ms ?? 100, resolve));
const retryAfter = ({ retryAfter: seconds }: Fault): Record<string, string> => (seconds === undefined ? {} : { 'retry-after': String(seconds) });
const unavailable = ({ fault }: Wire): Delivery => answered(problem(fault.status ?? 503, { title: 'Unavailable' }, retryAfter(fault)));

const FAULTS = {
  /** The request never reaches the server. The client gets a network error. */
  'lose-request': async () => networkError,
  /** The effect is committed, but the client gets a network error. */
  'lose-response': (wire: Wire) => wire.pass().then(() => networkError),
  /** The effect is committed, but the answer's body breaks off half-way. */
  truncate: async (wire: Wire): Promise<Delivery> => {
    const answer = await wire.pass();
    // An answer without a body breaks off within its head.
    return answer.body === '' ? networkError : { kind: 'answer', answer, cutAt: answer.body.length >> 1 };
  },
  /** The request never reaches the server. The client waits until it gives up. */
  hang: async () => silence,
  /** The effect is committed, but no answer comes. The client waits until it gives up. */
  'hang-after-commit': (wire: Wire) => wire.pass().then(() => silence),
  /** `409` with `Retry-After`, as if another copy were being worked on. No effect. */
  'in-progress': async ({ fault }: Wire) => answered(outstanding(fault.retryAfter ?? 1)),
  /** `503`. No effect. */
  unavailable: async (wire: Wire) => unavailable(wire),
  /** The effect is committed, but a gateway answers `503`. */
  'unavailable-after-commit': (wire: Wire) => wire.pass().then(() => unavailable(wire)),
  /** `401` from in front of the key layer. No effect, nothing stored under the key. */
  unauthorized: async () => answered(problem(401, { title: 'Sign in again' })),
  /** `429` from in front of the key layer. No effect, nothing stored under the key. */
  'rate-limited': async ({ fault }: Wire) => answered(problem(429, { title: 'Too many requests' }, retryAfter(fault))),
  /**
   * More copies of the request reach the server, as when Chromium sends a POST again because a kept-alive connection broke. The server
   * works on all of them at once. The client gets the answer to the last copy; the other answers are lost.
   */
  duplicate: async (wire: Wire) => {
    const copies = await Promise.all(Array.from({ length: Math.min(wire.fault.copies ?? 2, 10) }, () => wire.pass()));
    return answered(copies[copies.length - 1] as ModelAnswer);
  },
  /** The answer comes late. */
  delay: async (wire: Wire) => {
    const answer = await wire.pass();
    await pause(wire);
    return answered(answer);
  },
  /** The request arrives late, so its effect may come after the client has given up. */
  'delay-request': async (wire: Wire) => {
    await pause(wire);
    return answered(await wire.pass());
  },
} satisfies Record<string, (wire: Wire) => Promise<Delivery>>;

/** A fault that `idempotentServer` can simulate. */
export type FaultName = keyof typeof FAULTS;

/** Every {@link FaultName}, for a test that tries each. */
export const faultNames = Object.keys(FAULTS) as readonly FaultName[];

/** Applies a fault to a request. */
export const suffer = (wire: Wire): Promise<Delivery> => FAULTS[wire.fault.name](wire);

/** Decides which request meets which fault: first by the script, then by chance. */
export class Faults {
  readonly #script: (Fault | undefined)[] = [];
  #rates: readonly Rate<Fault>[] = [];

  /**
   * Scripts the faults of the next requests, one each, in this order. `'none'` lets a request through.
   *
   * @example
   * server.faults.next('lose-response', 'none', { name: 'unavailable', retryAfter: 2 });
   */
  next(...faults: readonly (FaultName | Fault | 'none')[]): void {
    this.#script.push(...faults.map((fault) => (fault === 'none' ? undefined : checked(fault))));
  }

  /**
   * Gives every request that is not scripted this fault with this probability. If several rates are set, they are drawn in the order in
   * which they were given, and the first hit counts. A probability of 0 removes the rates of this fault.
   *
   * @param random - uniform in [0, 1). @default `seededRandom(1)`, so that a run can be repeated
   */
  rate(fault: FaultName | Fault, probability: number, random?: () => number): void {
    this.#rates = withRate(this.#rates, checked(fault), probability, random);
  }

  /** Removes all faults, scripted and by chance. */
  clear(): void {
    this.#script.length = 0;
    this.#rates = [];
  }

  /** The fault of the next request, if any. @internal */
  draw(): Fault | undefined {
    if (this.#script.length > 0) return this.#script.shift();
    return this.#rates.find(({ probability, random }) => random() < probability)?.fault;
  }
}

function checked(fault: FaultName | Fault): Fault {
  const given = known<Fault>(fault, FAULTS);
  for (const name of Object.keys(given))
    if (!/^(name|ms|retryAfter|status|copies)$/.test(name)) throw new TypeError(`faults: ${given.name} has no member ${name}`);
  const { copies = 1 } = given;
  if (!(copies >= 1)) throw new RangeError(`faults: copies must be at least 1, got ${copies}`);
  return given;
}
