/** Checks that states which the exploration takes for the same are the same: what follows one must follow the other. */
import { type Bounds, depthFirst, textOf } from './choices.js';
import { hashOf } from './hash.js';
import { play } from './play.js';
import type { Variant } from './variants.js';

export interface Compared {
  /** How often the same state followed an equal state after the same choices. */
  readonly alike: number;
  /** Pairs of schedules that came to one state, made the same choices from there, and were in different states then. */
  readonly different: readonly string[];
}

/**
 * Plays every schedule within the bounds. Where the exploration stops because it knows the state, this plays on to the end and compares
 * each state on the way with the one that followed before.
 */
export async function compareStates(variant: Variant, bounds: Bounds): Promise<Compared> {
  const met = new Set<string>();
  const followed = new Map<string, { readonly state: number; readonly schedule: string }>();
  const different: string[] = [];
  let alike = 0;
  for (const { chooser, fixed } of depthFirst(bounds)) {
    let before: { readonly state: string; readonly points: number } | undefined;
    let knownAt: number | undefined;
    await play(
      variant,
      chooser,
      (describe, left, at) => {
        const state = hashOf(describe());
        const schedule = textOf(chooser.points);
        if (before) {
          const choices = chooser.points.slice(before.points).map(({ taken }) => taken);
          const way = `${before.state} ${choices.join()}`;
          const other = followed.get(way);
          if (!other) followed.set(way, { state, schedule });
          else if (other.state === state) alike++;
          else different.push(`${variant.name}: ${other.schedule}\n${variant.name}: ${schedule}`);
        }
        const now = `${state} ${left.faults} ${left.switches}`;
        if (at >= fixed && met.has(now)) knownAt ??= at;
        met.add(now);
        before = { state: now, points: at };
        return false;
      },
      // Nothing is compared during the calm, so it is not played.
      { tracing: false, calm: false },
    );
    // As in the exploration, no schedule branches off after a known state.
    if (knownAt !== undefined) chooser.points.length = knownAt;
  }
  return { alike, different };
}
