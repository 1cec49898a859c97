/**
 * Goal: no entry grows unnoticed. Method: `npm run size`, which measures ky in the same run. The aim was createOnce below ky; docs/decisions/0004-size.md says
 * why it is not, and by how much.
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measure } from '../../scripts/size.mjs';
import { entries, readJson, root, specifierOf } from './installed.js';

const budgets = readJson<Record<string, number>>(join(root, 'size-budget.json'));
const sizes = await measure();

test.each([...new Set([...Object.keys(budgets), ...entries.map(specifierOf)])])('%s stays within its budget', (name) => {
  expect(sizes[name]?.now).toBeLessThanOrEqual(budgets[name] ?? 0);
});

test('every budget belongs to something that is measured', () => expect(Object.keys(budgets).filter((name) => !(name in sizes))).toEqual([]));
