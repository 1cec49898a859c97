/** Goal: the whole of oncefetch costs a page less than ky alone, and no entry grows unseen. Method: `npm run size`. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measure } from '../../scripts/size.mjs';
import { entries, readJson, root, specifierOf } from './installed.js';

const budgets = readJson<Record<string, number>>(join(root, 'size-budget.json'));
const sizes = await measure();

test('createOnce with its stores and dependencies is smaller than ky', () => {
  expect(sizes['createOnce']?.now).toBeGreaterThan(0);
  expect(sizes['createOnce']?.now).toBeLessThan(sizes['ky']?.now ?? 0);
});

test.each(['createOnce', ...entries.map(specifierOf)])('%s keeps its budget', (name) => {
  expect(sizes[name]?.now).toBeLessThanOrEqual(budgets[name] ?? 0);
});

test('there is no budget for what is not measured', () => {
  expect(Object.keys(budgets).filter((name) => !(name in sizes))).toEqual([]);
});
