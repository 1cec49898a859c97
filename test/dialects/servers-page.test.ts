/** Goal: every line that docs/servers.md tells people to write works. Method: each line is run, and each dialect must have one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Dialect } from '../../src/core/dialect.js';
import * as entry from '../../src/entries/dialects.js';
import { createOnce, memoryStore, type OnceOptions } from '../../src/entries/index.js';
import { factories } from './support/all.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/servers.md'), 'utf8');
const names = Object.keys(entry);
/** The value of an expression that knows the exports of the entry by name. */
const run = (expression: string): unknown => new Function(...names, `return (${expression});`)(...Object.values(entry));

const lines = [...page.matchAll(/`dialect: ([^`]+)`/g)].map(([, expression]) => expression as string);
const rules = [...page.matchAll(/`(\{ status: [^`]+\})`/g)].map(([, rule]) => rule as string);

test.each([...new Set(lines)])('dialect: %s', (expression) => {
  const options = run(`{ dialect: ${expression} }`) as OnceOptions;
  expect(() => createOnce({ store: memoryStore(), ...options })).not.toThrow();
  const made: unknown = options.dialect;
  if (typeof made === 'function') expect((made as () => unknown)()).toBe('none');
  else expect((made as Dialect).carrier).not.toBe('');
});

test.each(rules)('a rule: %s', (rule) => {
  expect(() => entry.defineDialect({ name: 'mine', place: entry.inHeader('X-Key'), answers: [run(rule) as entry.AnswerRule] })).not.toThrow();
});

test('there is a line for every dialect, and a rule to copy', () => {
  const missing = factories.filter((name) => !lines.some((line) => line.startsWith(`${name}(`)));
  expect(missing, 'docs/servers.md has no line `dialect: …` for them').toEqual([]);
  expect(rules.length).toBeGreaterThanOrEqual(3);
});
