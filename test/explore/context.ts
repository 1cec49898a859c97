/** A context of the simulation in which the result of every port call is parked, so that the explorer decides which one goes on. */
import type { OnceOptions } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { Context } from '../simulation/context.js';
import { IDLE_SWEEP } from '../simulation/medium.js';
import type { ChosenFaults } from './faults.js';
import { Rolling, textOfValue } from './hash.js';
import type { Owner, Steps } from './steps.js';

/** Shorter delays take no time, but are still a step of their own. */
const AT_ONCE_MS = 10;

export class ExploredContext extends Context implements Owner {
  readonly history = new Rolling();
  /** Called when the context asks to queue for a lock. */
  queued: () => void = () => {};
  /** The code that runs now was started by hand (`settle`, `forget`, `clear`, `move`), not by a call. */
  byHand = false;
  /** For each record id: the number of the last request that had left any context when a call of this context last looked at the record. */
  readonly looked = new Map<string, number>();
  readonly #steps: Steps;
  readonly #sends: () => number;
  readonly #faults: ChosenFaults;

  constructor(steps: Steps, sends: () => number, faults: ChosenFaults, ...of: ConstructorParameters<typeof Context>) {
    super(...of);
    this.#steps = steps;
    this.#sends = sends;
    this.#faults = faults;
  }

  override features(options: OnceOptions): OnceOptions {
    return { use: everything(), ...options };
  }

  override later(ms: number, run: () => void): () => void {
    const goOn = this.#asNow(run);
    const step = ms < AT_ONCE_MS ? this.#steps.park(this, 'goes on', goOn) : this.#steps.timer(this, ms, 'timer', goOn);
    return () => void (step.run = undefined);
  }

  override looksAt(id: string): void {
    if (!this.byHand) this.looked.set(id, this.#sends());
  }

  override shows(stored: unknown): void {
    this.history.add(textOfValue(stored));
  }

  /** A port call acts on the world at once. That the context hears of the result is a step of its own. */
  override port<T>(place: string, start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.dead) return;
      this.ports++;
      // Nothing follows from an idle sweep, whenever it is answered and whether it fails or not, so it is not a choice.
      if (place === IDLE_SWEEP) return this.#faults.without(() => start(resolve, reject));
      const told = this.#asNow((tell: () => void) => tell());
      start(
        (value) => void this.#steps.park(this, place, () => told(() => resolve(value)), textOfValue(value)),
        (reason) => void this.#steps.park(this, `${place} fails`, () => told(() => reject(reason)), textOfValue(reason)),
      );
    });
  }

  /** Wraps `run` so that it runs later with the present value of `byHand`. */
  #asNow<A extends readonly unknown[]>(run: (...args: A) => void): (...args: A) => void {
    const { byHand } = this;
    return (...args) => {
      this.byHand = byHand;
      run(...args);
    };
  }
}
