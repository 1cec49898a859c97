/** Everything that is about to happen. Each step is parked until the explorer takes it. Time moves only when no step is possible. */
import type { Rolling } from './hash.js';

/** An owner of steps: a context, or the wire together with the server. */
export interface Owner {
  readonly id: string;
  readonly dead: boolean;
  readonly frozen: boolean;
  /** What has happened to it so far. What it does next depends on nothing else. */
  readonly history: Rolling;
}

export interface Step {
  readonly owner: Owner;
  readonly label: string;
  /** The value that the step delivers, for the history. */
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
  /** Steps held back for longer than any call waits. They come when the explorer says so, at the latest when everything else is over. */
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

  /** The steps that can happen now, in the order in which they were parked. */
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

  /** Whether a timer is set. */
  waits(): boolean {
    this.#forget();
    return this.#timers.length > 0;
  }

  /** Moves the time to the next timer and parks its step; `false` if there is no timer. */
  pass(): boolean {
    this.#forget();
    const first = this.#timers.reduce<Timer | undefined>((least, timer) => (least && least.due <= timer.due ? least : timer), undefined);
    if (!first) return false;
    this.#timers.splice(this.#timers.indexOf(first), 1);
    this.now = Math.max(this.now, first.due);
    this.parked.push(first.step);
    return true;
  }

  /** The part of the state on which the future depends. */
  state(wire: Owner): string {
    this.#forget();
    const text = ({ owner, label, value }: Step): string => `${owner.id} ${label} ${value}`;
    const steps = (list: readonly Step[]): string =>
      // Between a context and the wire, the turn decides, never the order of parking.
      [...list.filter(({ owner }) => owner !== wire), ...list.filter(({ owner }) => owner === wire)].map(text).join('|');
    const timers = this.#timers.map(({ due, step }) => `${text(step)} ${due}`).sort();
    return `${this.now}\n${steps(this.parked)}\n${steps(this.held)}\n${timers.join('|')}`;
  }

  /** Drops cancelled steps, and the steps of dead contexts. */
  #forget(): void {
    const gone = ({ run, owner }: Step): boolean => run === undefined || owner.dead;
    for (let i = this.parked.length - 1; i >= 0; i--) if (gone(this.parked[i] as Step)) this.parked.splice(i, 1);
    for (let i = this.#timers.length - 1; i >= 0; i--) if (gone((this.#timers[i] as Timer).step)) this.#timers.splice(i, 1);
  }
}
