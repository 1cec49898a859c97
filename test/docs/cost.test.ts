/**
 * Goal: no figure in docs/cost.md is typed by hand, and the sizes in other guides are the same. Method: generates the page again from bench/results, and
 * compares.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { page } from '../../bench/lib/page.ts';
import { results } from '../../bench/lib/results.ts';

const doc = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

test('docs/cost.md is what npm run bench:docs generates from the results', () => expect(doc('cost.md')).toBe(page()));

test('every benchmark has left its results', () => expect(Object.entries(results).flatMap(([name, of]) => (of ? [] : [name]))).toEqual([]));

test('the sizes in other guides are those of the results', () => {
  const { entries, functions } = results.size as { entries: Record<string, { now: number }>; functions: Record<string, number> };
  const bytesOf = (name: string): number => entries[name]?.now ?? functions[name] ?? Number.NaN;
  const kB = (bytes: number, digits = 0): string => `${(bytes / 1000).toFixed(digits)} kB`;
  // Every page with the element has a client.
  expect(doc('forms.md')).toContain(`The element adds [${kB(bytesOf('oncefetch/form') - bytesOf('first snippet'), 1)}](cost.md#size)`);
  expect(doc('devtools.md')).toContain(`the panel adds [${kB(bytesOf('oncefetch/devtools'))}](cost.md#size)`);
  const [page, later, worker] = [kB(bytesOf('background'), 1), kB(bytesOf('resumeInBackground'), 1), kB(bytesOf('oncefetch/service-worker'))];
  expect(doc('outbox.md')).toContain(`a page pays ${page} for \`background()\` and ${later} for \`resumeInBackground\`. A worker`);
  expect(doc('outbox.md')).toContain(`its own client is ${worker},`);
});
