/** Plays every schedule of a variant within its bounds: depth first, each from its beginning. */
import type { Violation } from '../simulation/facts.js';
import { type Bounds, Chooser, depthFirst, textOf } from './choices.js';
import { HashSet, hashOf } from './hash.js';
import { play } from './play.js';
import type { Variant } from './variants.js';

/** A violation, and the shortest log of steps that led to it. */
export interface Found {
  readonly kind: string;
  readonly violations: readonly Violation[];
  readonly schedule: string;
  readonly lines: readonly string[];
}

export interface Explored {
  readonly variant: string;
  readonly bounds: Bounds;
  /** How many schedules were played to their end, and how many ended early, in a state from which everything had already been played. */
  readonly played: number;
  readonly spared: number;
  readonly states: number;
  /** How often each happened: outcomes that people were told, readings of answers, choices at which a schedule branched. */
  readonly ends: Counts;
  readonly verdicts: Counts;
  readonly chosen: Counts;
  readonly found: readonly Found[];
  /** Everything within the bounds was played. */
  readonly complete: boolean;
  readonly seconds: number;
}

type Counts = ReadonlyMap<string, number>;

export interface Exploring extends Bounds {
  /** Called after each schedule; `true` ends the exploration early. */
  readonly enough?: ((found: readonly Found[], schedules: number) => boolean) | undefined;
}

/** The states that were met, by remaining budget. From a state that was met with at least as much of both budgets, everything has been played. */
class States {
  readonly #met: { readonly left: Bounds; readonly states: HashSet }[] = [];
  /** The number of states. A state that was met with several budgets counts once. */
  size = 0;

  /** Whether nothing new can follow this state; if something can, remembers it. */
  covers(state: number, { faults, switches }: Bounds): boolean {
    let own: HashSet | undefined;
    let isNew = true;
    for (const { left, states } of this.#met) {
      if (left.faults === faults && left.switches === switches) own = states;
      if (!states.has(state)) continue;
      if (left.faults >= faults && left.switches >= switches) return true;
      isNew = false;
    }
    if (isNew) this.size++;
    if (!own) this.#met.push({ left: { faults, switches }, states: (own = new HashSet()) });
    own.add(state);
    return false;
  }
}

const count = (counts: Map<string, number>, names: Iterable<string>): void => {
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
};

/** Violations that differ only in keys and numbers are of one kind. */
const kindOf = (violations: readonly Violation[]): string => {
  const { checker, says } = violations[0] as Violation;
  return `${checker}: ${says.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'a key').replace(/\d+/g, 'n')}`;
};

export async function explore(variant: Variant, { faults, switches, enough = () => false }: Exploring): Promise<Explored> {
  const began = performance.now();
  const bounds = { faults, switches };
  const states = new States();
  const [ends, verdicts, chosen] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const found = new Map<string, Found>();
  let played = 0;
  let spared = 0;
  let complete = true;
  for (const { chooser, fixed } of depthFirst(bounds)) {
    // The schedule from which this one branched has already met the fixed points.
    const one = await play(variant, chooser, (state, left, at) => at >= fixed && states.covers(hashOf(state()), left), { tracing: false });
    if (one.known) spared++;
    else played++;
    count(ends, one.ends);
    count(verdicts, one.verdicts);
    const last = chooser.points[fixed - 1];
    if (last) count(chosen, [(last.options[last.taken] as { label: string }).label]);
    if (one.violations.length) {
      const kind = kindOf(one.violations);
      const known = found.get(kind);
      const { lines } = await play(variant, new Chooser(bounds, (at) => chooser.points[at]?.taken));
      if (!known || lines.length < known.lines.length)
        found.set(kind, { kind, violations: one.violations, schedule: `${variant.name}: ${textOf(chooser.points)}`, lines });
    }
    complete = !enough([...found.values()], played + spared);
    if (!complete) break;
  }
  const seconds = (performance.now() - began) / 1000;
  return { variant: variant.name, bounds, played, spared, states: states.size, ends, verdicts, chosen, found: [...found.values()], complete, seconds };
}

/** Finds the fewest faults and switches with which the same violation happens, and the schedule with the fewest steps there. */
export async function shrink(variant: Variant, { kind }: Pick<Found, 'kind'>, most: Bounds): Promise<Found | undefined> {
  const bounds: Bounds[] = [];
  for (let faults = 0; faults <= most.faults; faults++) for (let switches = 0; switches <= most.switches; switches++) bounds.push({ faults, switches });
  bounds.sort((a, b) => a.faults + a.switches - (b.faults + b.switches));
  for (const bound of bounds) {
    const { found } = await explore(variant, bound);
    const same = found.find((one) => one.kind === kind);
    if (same) return same;
  }
  return undefined;
}
