/** A run: carts, each with its fault, drawn from a seed. Pure: the same seed gives everybody the same run. */
import { seededRandom } from '../../src/testing/seeded-random.ts';
import type { FaultName } from '../server/faults.ts';

export interface Step {
  readonly fault: FaultName;
  readonly bags: number;
}

/** The faults that are over soon enough for a visitor to watch. */
const DRAWN: readonly FaultName[] = [
  'lose-response',
  'unavailable-after-commit',
  'truncate',
  'duplicate',
  'lose-request',
  'unavailable',
  'kill-after-commit',
  'kill',
];
const STEPS = 5;
const BAGS_MAX = 4;
const SEEDS = 10_000;

export function drawRun(seed: number): readonly Step[] {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  // No fault comes twice in a run.
  const left = [...DRAWN];
  return Array.from({ length: STEPS }, () => ({ fault: left.splice(below(left.length), 1)[0] as FaultName, bags: 1 + below(BAGS_MAX) }));
}

/** The seed in a link; `undefined` if there is none or it is not a number. */
export function seedOf(search: string): number | undefined {
  const said = new URLSearchParams(search).get('seed');
  return said !== null && /^\d{1,9}$/.test(said) ? Number(said) : undefined;
}

export const freshSeed = (): number => Math.floor(Math.random() * SEEDS);
