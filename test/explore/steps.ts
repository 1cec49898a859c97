/** Everything that is about to happen: parked until the explorer lets it. Time moves only when nothing is parked. */
import type { Rolling } from './hash.js';

/** A thread of the world: a context, or the wire with the server behind it. */
export interface Owner {
  readonly id: string;
  readonly dead: boolean;
  readonly frozen: boolean;
  /** What has happened to it so far. What it will do next depends on nothing else. */
  readonly history: Rolling;
}

export interface Step {
  readonly owner: Owner;
  readonly label: string;
  /** What it hands over, for the history. */
  readonly value: string;
  run: (() => void) | undefined;
}

interface Timer {
  readonly due: number;
  readonly step: Step;
}

export class Steps {
  /** Ms since the world began. */
  now = 0;
  readonly parked: Step[] = [];
  /** Parked longer than anybody waits: they come when the explorer says so, at the latest when everything else is over. */
  readonly held: Step[] = [];
  readonly #timers: Timer[] = [];

  park(owner: Owner, label: string, run: () => void, value = ''): Step {
    const step: Step = { owner, label, value, run };
    this.parked.push(step);
    return step;
  }

  timer(owner: Owner, ms: number, label: string, run: () => void, value = ''): Step {
    const step: Step = { owner, label, value, run };
    this.#timers.push({ due: this.now + Math.max(0, ms), step });
    return step;
  }

  /** What can happen now, in the order in which it was parked. */
  enabled(): Step[] {
    this.#forget();
    return this.parked.filter(({ owner }) => !owner.frozen);
  }

  take(step: Step): void {
    for (const list of [this.parked, this.held]) {
      const at = list.indexOf(step);
      if (at >= 0) list.splice(at, 1);
    }
    step.owner.history.add(`${this.now} ${step.label} ${step.value}`);
    step.run?.();
  }

  hold(step: Step): void {
    this.parked.splice(this.parked.indexOf(step), 1);
    this.held.push(step);
  }

  /** Somebody waits for time to pass. */
  waits(): boolean {
    this.#forget();
    return this.#timers.length > 0;
  }

  /** Moves on to the next timer, which is parked then; `false` if there is none. */
  pass(): boolean {
    this.#forget();
    const first = this.#timers.reduce<Timer | undefined>((least, timer) => (least && least.due <= timer.due ? least : timer), undefined);
    if (!first) return false;
    this.#timers.splice(this.#timers.indexOf(first), 1);
    this.now = Math.max(this.now, first.due);
    this.parked.push(first.step);
    return true;
  }

  /** As far as the future depends on it. */
  state(wire: Owner): string {
    this.#forget();
    const text = ({ owner, label, value }: Step): string => `${owner.id} ${label} ${value}`;
    const steps = (list: readonly Step[]): string =>
      // Whose turn it is decides between a context and the wire, never who came first.
      [...list.filter(({ owner }) => owner !== wire), ...list.filter(({ owner }) => owner === wire)].map(text).join('|');
    const timers = this.#timers.map(({ due, step }) => `${text(step)} ${due}`).sort();
    return `${this.now}\n${steps(this.parked)}\n${steps(this.held)}\n${timers.join('|')}`;
  }

  /** What was cancelled, and what the dead waited for. */
  #forget(): void {
    const gone = ({ run, owner }: Step): boolean => run === undefined || owner.dead;
    for (let i = this.parked.length - 1; i >= 0; i--) if (gone(this.parked[i] as Step)) this.parked.splice(i, 1);
    for (let i = this.#timers.length - 1; i >= 0; i--) if (gone((this.#timers[i] as Timer).step)) this.#timers.splice(i, 1);
  }
}
