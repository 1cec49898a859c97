/** Faults as a test gives them, to the server and to the store alike. */
import { seededRandom } from './seeded-random.js';

/** A fault with its probability, and the random numbers that it is drawn with. */
export interface Rate<Fault> {
  readonly fault: Fault;
  readonly probability: number;
  readonly random: () => number;
}

/** The fault with its parameters. `all` has every fault by its name. Throws a TypeError if it is none of them. */
export function known<Fault extends { readonly name: string }>(fault: Fault['name'] | Fault, all: object): Fault {
  const given = (typeof fault === 'string' ? { name: fault } : fault) as Fault;
  if (!Object.hasOwn(all, given.name))
    throw new TypeError(`faults: unknown fault ${JSON.stringify(given.name)}, expected one of ${Object.keys(all).join(', ')}`);
  return given;
}

/** The rates with one more; with the probability 0, without those of this fault. */
export function withRate<Fault extends { readonly name: string }>(
  rates: readonly Rate<Fault>[],
  fault: Fault,
  probability: number,
  random: () => number = seededRandom(1),
): readonly Rate<Fault>[] {
  if (!(probability >= 0 && probability <= 1)) throw new RangeError(`faults.rate: probability must be between 0 and 1, got ${probability}`);
  return probability ? [...rates, { fault, probability, random }] : rates.filter((rate) => rate.fault.name !== fault.name);
}
