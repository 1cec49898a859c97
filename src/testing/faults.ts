/** Faults by name: what may happen to a copy of a request between a client and a server, and who decides when. */
import type { Clock } from '../ports.js';
import { type ModelAnswer, outstanding, problem } from './model-server.js';
import { seededRandom } from './seeded-random.js';

/** What the client gets. `cutAt`: the body breaks off after so many characters although its full length was announced. */
export type Delivery =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer; readonly cutAt?: number | undefined }
  | { readonly kind: 'network-error' }
  /** Nothing, until the client gives up. */
  | { readonly kind: 'silence' };

/** A fault with its numbers; each has a default. */
export interface Fault {
  readonly name: FaultName;
  /** `delay`, `delay-request`: how long, ms. @default 100 */
  readonly ms?: number | undefined;
  /** `in-progress`, `unavailable`, `unavailable-after-commit`, `rate-limited`: `Retry-After` in seconds. @default 1 for the first, absent for the others */
  readonly retryAfter?: number | undefined;
  /** `unavailable`, `unavailable-after-commit`: the status. @default 503 */
  readonly status?: number | undefined;
  /** `duplicate`: copies on the wire in all, up to 10. @default 2 */
  readonly copies?: number | undefined;
}

interface Wire {
  /** Puts one copy on the server; the effect is committed (or refused) when it resolves. */
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
  /** Never reaches the server; the client sees a network error. */
  'lose-request': async () => networkError,
  /** The effect is committed; the client sees a network error. */
  'lose-response': (wire: Wire) => wire.pass().then(() => networkError),
  /** The effect is committed; the answer's body breaks off half-way. */
  truncate: async (wire: Wire): Promise<Delivery> => {
    const answer = await wire.pass();
    // What has no body breaks off before its head is whole.
    return answer.body === '' ? networkError : { kind: 'answer', answer, cutAt: answer.body.length >> 1 };
  },
  /** Never reaches the server; the client waits until it gives up. */
  hang: async () => silence,
  /** The effect is committed; the client waits until it gives up. */
  'hang-after-commit': (wire: Wire) => wire.pass().then(() => silence),
  /** `409` with `Retry-After`, as if another copy were being worked on. No effect. */
  'in-progress': async ({ fault }: Wire) => answered(outstanding(fault.retryAfter ?? 1)),
  /** `503`. No effect. */
  unavailable: async (wire: Wire) => unavailable(wire),
  /** The effect is committed, and a gateway makes `503` of the answer. */
  'unavailable-after-commit': (wire: Wire) => wire.pass().then(() => unavailable(wire)),
  /** `401` from in front of the key layer. No effect, nothing stored under the key. */
  unauthorized: async () => answered(problem(401, { title: 'Sign in again' })),
  /** `429` from in front of the key layer. No effect, nothing stored under the key. */
  'rate-limited': async ({ fault }: Wire) => answered(problem(429, { title: 'Too many requests' }, retryAfter(fault))),
  /**
   * The network puts more copies on the server, as Chromium does when a kept-alive connection breaks under a POST.
   * All are worked on at once; the client gets the answer to the last, and the others are lost.
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
  /** The request arrives late: its effect may come after the client gave up. */
  'delay-request': async (wire: Wire) => {
    await pause(wire);
    return answered(await wire.pass());
  },
} satisfies Record<string, (wire: Wire) => Promise<Delivery>>;

/** A fault that `idempotentServer` can be told to meet. */
export type FaultName = keyof typeof FAULTS;

/** Every {@link FaultName}, for a test of each. */
export const faultNames = Object.keys(FAULTS) as readonly FaultName[];

/** Lets one copy meet its fault. */
export const suffer = (wire: Wire): Promise<Delivery> => FAULTS[wire.fault.name](wire);

/** Decides which copy meets which fault: first what was scripted, then what was drawn. */
export class Faults {
  readonly #script: (Fault | undefined)[] = [];
  readonly #rates: { readonly fault: Fault; readonly probability: number; readonly random: () => number }[] = [];

  /**
   * Scripts the fate of the next requests, one each, in this order; `'none'` lets one through.
   *
   * @example
   * server.faults.next('lose-response', 'none', { name: 'unavailable', retryAfter: 2 });
   */
  next(...faults: readonly (FaultName | Fault | 'none')[]): void {
    this.#script.push(...faults.map((fault) => (fault === 'none' ? undefined : checked(fault))));
  }

  /**
   * Lets every request that has no scripted fate meet this fault with this probability. Several rates are drawn in the
   * order in which they were given; the first hit counts.
   *
   * @param random - uniform in [0, 1). @default `seededRandom(1)`, so that a run can be repeated
   */
  rate(fault: FaultName | Fault, probability: number, random: () => number = seededRandom(1)): void {
    if (!(probability >= 0 && probability <= 1)) throw new RangeError(`faults.rate: probability must be between 0 and 1, got ${probability}`);
    this.#rates.push({ fault: checked(fault), probability, random });
  }

  /** No more faults. */
  clear(): void {
    this.#script.length = 0;
    this.#rates.length = 0;
  }

  /** The fate of the next request. @internal */
  draw(): Fault | undefined {
    if (this.#script.length > 0) return this.#script.shift();
    return this.#rates.find(({ probability, random }) => random() < probability)?.fault;
  }
}

function checked(fault: FaultName | Fault): Fault {
  const given = typeof fault === 'string' ? { name: fault } : fault;
  if (!Object.hasOwn(FAULTS, given.name)) throw new TypeError(`faults: unknown fault ${JSON.stringify(given.name)}, expected one of ${faultNames.join(', ')}`);
  for (const name of Object.keys(given))
    if (!/^(name|ms|retryAfter|status|copies)$/.test(name)) throw new TypeError(`faults: ${given.name} has no member ${name}`);
  return given;
}
