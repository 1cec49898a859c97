/**
 * Goal: every export is documented by a sentence in the code and a row in docs/api.md. Method: asks the compiler for
 * the exports of the entries; `UPDATE_DOCS=1` writes the rows.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPage, readPages, root } from './support/markdown.js';
import { type Exported, entries, exported, membersOf } from './support/public-types.js';

const PATH = 'docs/api.md';

const cell = (text: string): string => text.replaceAll(/\{@link (\w+)[^}]*\}/g, '`$1`').replaceAll('|', '\\|');
const row = ({ name, kind, summary }: Exported): string => `| \`${name}\` | ${kind} | ${cell(summary)} |`;
const byName = (a: Exported, b: Exported): number => a.name.localeCompare(b.name, 'en');
const table = (specifier: string): string => {
  const own = exported.filter((one) => one.specifier === specifier);
  return [`## ${specifier}`, '', '| export | is a | for |', '| --- | --- | --- |', ...own.sort(byName).map(row)].join('\n');
};

const head = (text: string): string => text.split('\n## ')[0]?.trimEnd() ?? '';
const wanted = (): string => `${[head(readPage(PATH).text), ...entries.map(({ specifier }) => table(specifier))].join('\n\n')}\n`;

test('docs/api.md has a row for every export (UPDATE_DOCS=1 writes them)', () => {
  if (process.env['UPDATE_DOCS']) writeFileSync(join(root, PATH), wanted());
  expect(readPage(PATH).text).toBe(wanted());
});

test('every export has its own sentence in the code', () => {
  const bare = exported.filter(({ summary }) => summary === '');
  expect(bare.map(({ specifier, name }) => `${specifier}: ${name}`)).toEqual([]);
});

describe('every function and method is used in a guide, not only listed', () => {
  const guides = readPages().filter(({ path }) => path !== PATH && !path.startsWith('docs/decisions/'));
  const names = new Set(guides.flatMap(({ text }) => text.match(/\w+/g) ?? []));

  test.each(exported.filter(({ kind }) => kind === 'function').map(({ specifier, name }) => [specifier, name]))('%s: %s', (_, name) => {
    expect(names.has(name)).toBe(true);
  });

  test.each(['Once', 'Operation', 'Attempt'].flatMap((type) => membersOf(type).map(({ name }) => [type, name])))('%s.%s', (_, name) => {
    expect(names.has(name)).toBe(true);
  });
});
