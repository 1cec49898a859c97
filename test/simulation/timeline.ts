/** The world's time: a queue of events, and a clock that jumps from one to the next. */

export interface Happening {
  readonly at: number;
  readonly order: number;
  fire: (() => void) | undefined;
}

/** Stops a world that never comes to rest. */
export class Runaway extends Error {}

export class Timeline {
  /** True time, ms since the world began. */
  now = 0;
  fired = 0;
  readonly #limit: number;
  readonly #heap: Happening[] = [];
  #order = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  after(ms: number, fire: () => void): Happening {
    const happening: Happening = { at: this.now + Math.max(0, ms), order: this.#order++, fire };
    this.#push(happening);
    return happening;
  }

  /**
   * Lets everything happen until `until`. Between two events the promises come to rest: all that is asynchronous in the
   * world ends in an event or a microtask, and Node runs every microtask before the next immediate. So nothing has to be
   * counted or guessed, and an event costs some two microseconds.
   */
  run(until: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = () => {
        const next = this.#pop(until);
        if (!next) {
          this.now = Math.max(this.now, until === Number.POSITIVE_INFINITY ? this.now : until);
          return resolve();
        }
        this.now = next.at;
        try {
          if (++this.fired > this.#limit) throw new Runaway(`no rest after ${this.#limit} events`);
          next.fire?.();
        } catch (error) {
          return reject(error);
        }
        setImmediate(step);
      };
      setImmediate(step);
    });
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.push(happening) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!earlier(happening, heap[above] as Happening)) break;
      heap[at] = heap[above] as Happening;
      at = above;
    }
    heap[at] = happening;
  }

  /** The next event that was not cancelled, if it is due by `until`. */
  #pop(until: number): Happening | undefined {
    const heap = this.#heap;
    for (let first = heap[0]; first && first.at <= until; first = heap[0]) {
      const last = heap.pop() as Happening;
      if (heap.length) this.#sink(last);
      if (first.fire) return first;
    }
    return undefined;
  }

  #sink(moved: Happening): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && earlier(heap[below + 1] as Happening, heap[below] as Happening)) below++;
      if (!earlier(heap[below] as Happening, moved)) break;
      heap[at] = heap[below] as Happening;
      at = below;
    }
    heap[at] = moved;
  }
}

const earlier = (a: Happening, b: Happening): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
