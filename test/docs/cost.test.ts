/** Goal: no figure in docs/cost.md is typed by hand. Method: generates the page again from bench/results, and compares. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { page } from '../../bench/lib/page.ts';
import { results } from '../../bench/lib/results.ts';

const doc = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

test('docs/cost.md is what npm run bench:docs generates from the results', () => expect(doc('cost.md')).toBe(page()));

test('every benchmark has left its results', () => expect(Object.entries(results).flatMap(([name, of]) => (of ? [] : [name]))).toEqual([]));
