/** Plays every schedule of a variant within its bounds: depth first, each from its beginning. */
import type { Violation } from '../simulation/facts.js';
import { type Bounds, Chooser, type Point, textOf } from './choices.js';
import { hashOf } from './hash.js';
import { type Played, play } from './play.js';
import type { Variant } from './variants.js';

export interface Found {
  readonly variant: string;
  readonly violations: readonly Violation[];
  readonly schedule: string;
  readonly lines: readonly string[];
}

export interface Explored {
  readonly variant: string;
  readonly bounds: Bounds;
  /** Schedules that were played to their end, and those that met a state from which all had been played. */
  readonly played: number;
  readonly spared: number;
  readonly states: number;
  readonly ends: ReadonlyMap<string, number>;
  readonly chosen: ReadonlyMap<string, number>;
  readonly found: readonly Found[];
  /** Everything within the bounds was played. */
  readonly complete: boolean;
}

export interface Exploring extends Bounds {
  /** Asked after each schedule. */
  readonly enough?: (found: readonly Found[], schedules: number) => boolean;
}

/** Budgets with which a state was met; from one with as much or more of both, everything has been played. */
class States {
  readonly #met = new Map<number, Bounds[]>();

  get size(): number {
    return this.#met.size;
  }

  /** Whether nothing new can come from here; remembers it otherwise. */
  covers(state: number, left: Bounds): boolean {
    const met = this.#met.get(state);
    if (!met) this.#met.set(state, [left]);
    else if (met.some(({ faults, switches }) => faults >= left.faults && switches >= left.switches)) return true;
    else met.push(left);
    return false;
  }
}

export async function explore(variant: Variant, { faults, switches, enough = () => false }: Exploring): Promise<Explored> {
  const bounds = { faults, switches };
  const states = new States();
  const ends = new Map<string, number>();
  const chosen = new Map<string, number>();
  const found: Found[] = [];
  let played = 0;
  let spared = 0;
  let stack: Point[] = [];
  for (;;) {
    const fixed = stack.map(({ taken }) => taken);
    const chooser = new Chooser(bounds, (at) => fixed[at]);
    // The points that the schedule fixes were met by the schedule that it branched from.
    const one: Played = await play(variant, chooser, (state, left, at) => at >= fixed.length && states.covers(hashOf(state()), left));
    if (one.known) spared++;
    else {
      played++;
      for (const end of one.ends) ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    const last = chooser.points[fixed.length - 1];
    if (last) {
      const { label } = last.options[last.taken] as { label: string };
      chosen.set(label, (chosen.get(label) ?? 0) + 1);
    }
    if (one.violations.length) found.push({ variant: variant.name, violations: one.violations, schedule: textOf(chooser.points), lines: one.lines });
    stack = chooser.points;
    while (stack.length && (stack.at(-1) as Point).taken + 1 >= (stack.at(-1) as Point).options.length) stack.pop();
    const branch = stack.at(-1);
    const complete = branch === undefined;
    if (complete || enough(found, played + spared)) return { variant: variant.name, bounds, played, spared, states: states.size, ends, chosen, found, complete };
    branch.taken++;
  }
}
