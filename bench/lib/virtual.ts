/**
 * Virtual time for everybody: timers and clocks of this whole process, so that our client and the peers run as they are,
 * and half an hour of theirs takes a second of ours.
 */
interface Timer {
  readonly due: number;
  readonly fire: () => void;
  readonly order: number;
}

const real = { setTimeout, clearTimeout, setImmediate, Date: Date.now, performance: performance.now.bind(performance) };
/** Turns of the event loop in which promises and streams come to rest. */
const TURNS = 3;

/** A heap: thousands of timers are set and cleared. */
class Timers {
  readonly #heap: Timer[] = [];
  #order = 0;

  add(due: number, fire: () => void): Timer {
    const timer = { due, fire, order: this.#order++ };
    this.#heap.push(timer);
    for (let at = this.#heap.length - 1; at > 0; ) {
      const up = (at - 1) >> 1;
      if (!this.#before(at, up)) break;
      this.#swap(at, up);
      at = up;
    }
    return timer;
  }

  get first(): Timer | undefined {
    return this.#heap[0];
  }

  take(): Timer | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (!last || this.#heap.length === 0) return first;
    this.#heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < this.#heap.length && this.#before(left, least)) least = left;
      if (right < this.#heap.length && this.#before(right, least)) least = right;
      if (least === at) return first;
      this.#swap(at, least);
      at = least;
    }
  }

  #before(a: number, b: number): boolean {
    const [one, two] = [this.#heap[a] as Timer, this.#heap[b] as Timer];
    return one.due < two.due || (one.due === two.due && one.order < two.order);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b] as Timer, this.#heap[a] as Timer];
  }
}

export interface Virtual {
  /** ms since it began. */
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Runs until `work` is done. */
  run<T>(work: Promise<T>): Promise<T>;
}

/** Takes the timers of this process over, for good. */
export function takeTime(start = 1_700_000_000_000): Virtual {
  const timers = new Timers();
  const cleared = new Set<unknown>();
  let now = 0;
  const later = (fire: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): unknown => {
    const timer = timers.add(now + Math.max(1, Number(ms) || 0), () => fire(...given));
    return Object.assign(timer, { unref: () => timer, ref: () => timer, hasRef: () => true, [Symbol.toPrimitive]: () => timer.order });
  };
  Object.assign(globalThis, { setTimeout: later, clearTimeout: (timer: unknown) => void (timer && cleared.add(timer)) });
  Date.now = () => start + now;
  performance.now = () => now;
  const rest = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn++) await new Promise((done) => real.setImmediate(done));
  };
  return {
    now: () => now,
    sleep: (ms) => new Promise((done) => later(() => done(), ms)),
    async run(work) {
      let done = false;
      const end = (): void => void (done = true);
      work.then(end, end);
      for (;;) {
        await rest();
        if (done) return work;
        const due = timers.first?.due;
        if (due === undefined) throw new Error('this waits for something that never comes');
        now = due;
        // All of one moment, then their consequences.
        while (timers.first?.due === due) {
          const timer = timers.take() as Timer;
          if (!cleared.delete(timer)) timer.fire();
        }
      }
    },
  };
}
