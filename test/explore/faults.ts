/** Faults in the simulation's parts: the explorer chooses where the simulation draws. */
import type { Send } from '../simulation/facts.js';
import type { FaultName, FaultRates, Faults } from '../simulation/faults.js';
import type { Random } from '../simulation/random.js';
import type { Chooser } from './choices.js';

export type Fault = Exclude<FaultName, `${string}Ms${string}`> | 'copied';

/** Takes the place of the simulation's random source: a number is always the lowest possible one, and anything else that could differ is a choice. */
interface Choosing {
  int(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  next(): number;
  of(...names: readonly (string | number)[]): Choosing;
}

export class ChosenFaults {
  readonly random: Random;
  readonly rates: FaultRates = {};
  readonly #chooser: Chooser;
  readonly #may: ReadonlySet<Fault>;
  readonly #decidesAlike: boolean;
  readonly #declined = new WeakMap<Send, boolean>();
  #none = false;

  constructor(chooser: Chooser, may: readonly Fault[], decidesAlike: boolean) {
    this.#chooser = chooser;
    this.#decidesAlike = decidesAlike;
    this.#may = new Set(may);
    const alike = (one: unknown): unknown => (typeof one === 'number' && one > 500 ? 502 : one);
    const random: Choosing = {
      int: (least) => least,
      next: () => 0.5,
      of: () => random,
      // Rare chances of the simulation never happen here: that a store runs a change twice.
      chance: (probability) => probability >= 0.5 && chooser.choose([{ label: 'no' }, { label: 'yes' }]) === 1,
      pick: (list) => {
        const different = [...new Map(list.map((one) => [alike(one), one])).values()];
        return different[chooser.choose(different.map((one) => ({ label: String(one) })))] as (typeof list)[number];
      },
    };
    this.random = random as unknown as Random;
  }

  /** Runs `work` without faults. */
  without(work: () => void): void {
    this.#none = true;
    work();
    this.#none = false;
  }

  may(fault: Fault): boolean {
    return !this.#chooser.calm && !this.#none && this.#may.has(fault);
  }

  occasion(): Random {
    return this.random;
  }

  hits(_: Random, name: Parameters<Faults['hits']>[1], send?: Send): boolean {
    // The wire chooses this fault itself.
    if (name === 'frontRefuses') return false;
    const hits = (send && this.#declined.get(send)) ?? (this.may(name) && this.#chooser.strikes(name));
    // If its key layer keeps no refusals, an application is assumed to decide alike for each copy of a request.
    if (send && this.#decidesAlike) this.#declined.set(send, hits);
    return hits;
  }

  count(): void {}
}
