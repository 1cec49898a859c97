/**
 * Goal: the invariants hold in every schedule of a small world. Method: worlds of one or two contexts, one server and a store, in which
 * everything that can differ is a choice. Every combination of choices within the bounds is played.
 */
import { describe, expect, test } from 'vitest';
import { type Bounds, Chooser, scriptOf } from './choices.js';
import { type Explored, explore, type Found } from './explore.js';
import { play } from './play.js';
import { compareStates } from './states.js';
import { VARIANTS, type Variant } from './variants.js';

const MINUTE = 60_000;
/** The machine may be busy with other tests. */
const slow = { timeout: 5 * MINUTE };

const print = ({ kind, schedule, lines }: Found): string => `${kind}\n${lines.join('\n')}\nnpm run explore -- --replay '${schedule}'`;

async function holds(variant: Variant, bounds: Bounds): Promise<Explored> {
  const explored = await explore(variant, bounds);
  expect(explored.found.map(print).join('\n\n')).toBe('');
  expect(explored.complete).toBe(true);
  return explored;
}

describe('every schedule with at most one fault', slow, () => {
  test.each(VARIANTS.map((variant) => [variant.name, variant] as const))('%s', async (_, variant) => {
    const explored = await holds(variant, { faults: 1, switches: 0 });
    // Fewer would mean that no fault struck.
    expect(explored.played + explored.spared).toBeGreaterThan(20);
    expect(explored.ends.size).toBeGreaterThan(3);
  });
});

describe('every schedule with at most two switches', slow, () => {
  test.each(VARIANTS.map((variant) => [variant.name, variant] as const))('%s', async (_, variant) => void (await holds(variant, { faults: 0, switches: 2 })));
});

/** Variants in which this test once found a state that left something out. `npm run explore -- --compare` compares all variants. */
const COMPARED: readonly (readonly [string, Bounds])[] = [
  ['one tab', { faults: 1, switches: 2 }],
  ['two tabs, not atomic', { faults: 1, switches: 1 }],
];

describe('the same choices after the same state lead to the same state', slow, () => {
  test.each(COMPARED)('%s', async (name, bounds) => {
    const { alike, different } = await compareStates(VARIANTS.find((one) => one.name === name) as Variant, bounds);
    expect(different.slice(0, 3).join('\n\n')).toBe('');
    // Fewer would mean that too little was compared.
    expect(alike).toBeGreaterThan(10_000);
  });
});

test('a schedule plays the same way every time', async () => {
  const variant = VARIANTS[0] as Variant;
  const bounds = { faults: 2, switches: 2 };
  const text = '6:copied';
  const twice = [await play(variant, new Chooser(bounds, scriptOf(text))), await play(variant, new Chooser(bounds, scriptOf(text)))];
  expect(twice[0]?.lines.length).toBeGreaterThan(8);
  expect(twice[0]?.lines).toEqual(twice[1]?.lines);
});
