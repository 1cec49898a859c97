/** Goal: docs/stores.md describes the browser's stores as they declare themselves. Method: compares the table with the stores. */
import { expect, test } from 'vitest';
import { indexedDbStore, localStorageStore, memoryStore } from '../../src/entries/index.js';
import { readPage, tableUnder } from './support/markdown.js';

const plainName = (cell: string): string => cell.replaceAll('`', '');

test('the table has what the stores declare', () => {
  const stores = { 'indexedDbStore()': indexedDbStore(), 'localStorageStore()': localStorageStore(), 'memoryStore()': memoryStore() };
  const rows = tableUnder(readPage('docs/stores.md'), '## In a browser').filter(([name = '']) => plainName(name) in stores);
  expect(rows.map(([name = '', reload, crash, tabs]) => [plainName(name), reload, crash?.startsWith('yes'), tabs])).toEqual(
    Object.entries(stores).map(([name, { kind, survives, shared }]) => [
      name,
      kind === 'memory' ? 'no' : 'yes',
      survives !== 'context',
      shared === 'context' ? 'no' : 'yes',
    ]),
  );
});
