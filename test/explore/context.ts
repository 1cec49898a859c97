/** A context of the simulation whose every port call parks, so that the explorer picks which one goes on. */
import { Context } from '../simulation/context.js';
import { Rolling, textOfValue } from './hash.js';
import type { Owner, Steps } from './steps.js';

const LOOKS: ReadonlySet<string> = new Set(['read', 'update']);
/** Delays below are no time at all, but a step of their own. */
const AT_ONCE_MS = 10;

export class ExploredContext extends Context implements Owner {
  readonly history = new Rolling();
  /** Called when it queues for a lock that another context holds. */
  queued: () => void = () => {};
  /** The last request that had left any context when this one last looked at the store. */
  looked = 0;
  readonly #steps: Steps;
  readonly #sends: () => number;

  constructor(steps: Steps, sends: () => number, ...of: ConstructorParameters<typeof Context>) {
    super(...of);
    this.#steps = steps;
    this.#sends = sends;
  }

  override later(ms: number, run: () => void): () => void {
    const step = ms < AT_ONCE_MS ? this.#steps.park(this, 'goes on', run) : this.#steps.timer(this, ms, 'timer', run);
    return () => {
      step.run = undefined;
    };
  }

  /** What is done outside is done at once; that this context hears of it is a step of its own. */
  override port<T>(place: string, start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.dead) return;
      this.ports++;
      if (LOOKS.has(place)) this.looked = this.#sends();
      start(
        (value) => void this.#steps.park(this, place, () => resolve(value), textOfValue(value)),
        (reason) => void this.#steps.park(this, `${place} fails`, () => reject(reason), textOfValue(reason)),
      );
    });
  }
}
