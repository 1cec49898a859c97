/** Goal: docs/migrating.md maps every retry option of ky and p-retry, and invents none. Method: reads their published types. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage, root, tableUnder } from './support/markdown.js';
import { membersOf } from './support/public-types.js';

const rows = tableUnder(readPage('docs/migrating.md'), '<!-- table: options of others -->');
const namesIn = (column: number): readonly string[] => [
  ...new Set(rows.flatMap((row) => [...(row[column] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name))),
];
const optionsIn = (path: string): readonly string[] =>
  // Members end with a semicolon, which tells them apart from parameters.
  [...readFileSync(join(root, 'node_modules', path), 'utf8').matchAll(/^\s+(?:readonly )?(\w+)\?: .*;$/gm)].map(([, name = '']) => name);

test('every retry option of ky is there', () => {
  const options = optionsIn('ky/distribution/types/retry.d.ts');
  expect(options).toContain('limit');
  // These are options of ky itself and of its hooks, not of `retry`.
  expect([...namesIn(1)].sort()).toEqual([...options, 'timeout', 'totalTimeout', 'beforeRetry', 'signal'].sort());
});

test('every option of p-retry is there', () => {
  const options = optionsIn('p-retry/index.d.ts');
  expect(options).toContain('retries');
  expect([...namesIn(3)].sort()).toEqual([...options].sort());
});

test('the options of oncefetch that it names exist', () => {
  const ours = new Set(['OnceOptions', 'OperationOptions', 'Limits'].flatMap((type) => membersOf(type).map(({ name }) => name)));
  const named = rows.flatMap((row) => [...(row[4] ?? '').matchAll(/`(?:limits\.)?(attempts|attemptMs|totalMs|retry|headers|verdict)(?=[.`])/g)]);
  expect(named.length).toBeGreaterThan(6);
  expect(named.map(([, name = '']) => name).filter((name) => !ours.has(name))).toEqual([]);
});
