import { expect, test } from 'vitest';
import { drawRun, seedOf } from '../../playground/page/run.js';
import { FAULT_NAMES } from '../../playground/server/faults.js';

test('the same seed draws the same run; other seeds draw others', () => {
  const runs = Array.from({ length: 100 }, (_, seed) => JSON.stringify(drawRun(seed)));
  expect(runs).toEqual(Array.from({ length: 100 }, (_, seed) => JSON.stringify(drawRun(seed))));
  expect(new Set(runs).size).toBeGreaterThan(95);
});

test('a run has five carts, each with a different fault, which the server knows', () => {
  for (let seed = 0; seed < 100; seed++) {
    const faults = drawRun(seed).map(({ fault }) => fault);
    expect(faults).toHaveLength(5);
    expect(new Set(faults).size).toBe(5);
    for (const fault of faults) expect(FAULT_NAMES).toContain(fault);
  }
});

test.each([
  ['?seed=7', 7],
  ['?a=b&seed=123456789', 123456789],
  ['', undefined],
  ['?seed=', undefined],
  ['?seed=-1', undefined],
  ['?seed=1e9', undefined],
  ['?seed=<script>', undefined],
])('the seed of %s', (search, seed) => expect(seedOf(search)).toBe(seed));
