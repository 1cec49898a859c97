/** Goal: `npm run explore:breaks` breaks what it says. Method: the line of each break is looked for in the sources, where it stands once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import breaks from './breaks.json' with { type: 'json' };
import { VARIANTS } from './variants.js';

test.each(breaks)('$name', ({ file, find, replace, variants }) => {
  const text = readFileSync(join(import.meta.dirname, '../../src', file), 'utf8');
  expect(text.split(find)).toHaveLength(2);
  expect(find).not.toBe(replace);
  expect(VARIANTS.map(({ name }) => name)).toEqual(expect.arrayContaining(variants));
});
