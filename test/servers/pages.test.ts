/**
 * Goal: the pages of docs/schemes show only code that these tests run. Method: every line of a page's client is in the client under test, in
 * this order, and every statement of its SQL is in the server under test.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fencesOf, readPage, tableUnder } from '../docs/support/markdown.js';
import { schemes } from './schemes.js';
import { PARTS } from './support/parts.js';
import { FAULTS } from './support/wire.js';

const source = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');
const linesOf = (code: string): string[] =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** The scheme whose page a table cell links to. */
const schemeOf = (cell = ''): string | undefined => /\((.+)\.md\)/.exec(cell)?.[1];

/** The first of `lines` that is not in `all` after the lines before it. */
function missing(lines: readonly string[], all: readonly string[]): string | undefined {
  let at = 0;
  for (const line of lines) {
    const found = all.indexOf(line, at);
    if (found < 0) return line;
    at = found + 1;
  }
  return undefined;
}

describe.each(Object.keys(schemes))('%s', (name) => {
  const fences = fencesOf(readPage(`docs/schemes/${name}.md`));
  const code = (language: string): string[] => fences.filter((fence) => fence.language === language).map((fence) => fence.code);

  test('shows lines of the client under test', () => {
    const [shown = ''] = code('ts');
    const lines = linesOf(shown).filter((line) => !/^import \{ createOnce[^}]* \} from 'oncefetch';$/.test(line));
    expect(lines.length).toBeGreaterThan(1);
    expect(missing(lines, linesOf(source(`clients/${name}.ts`)))).toBeUndefined();
  });

  test('shows SQL of the server under test', () => {
    const statements = code('sql').flatMap((sql) =>
      flat(sql)
        .split(';')
        .map((one) => one.trim())
        .filter(Boolean),
    );
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.filter((statement) => !flat(source(`${name}.ts`)).includes(statement))).toEqual([]);
  });

  test('lists the parts that the tests can remove', () => {
    const shown = tableUnder(readPage(`docs/schemes/${name}.md`), '## Its parts').map(([, comes = '', command = '']) => [
      /^\*\*(\w+)\.\*\*/.exec(comes)?.[1]?.toLowerCase(),
      command,
    ]);
    expect(shown).toEqual(Object.entries(PARTS[name] ?? {}).map(([part, { turns }]) => [turns, `\`npm run schemes -- ${name} --without ${part}\``]));
  });

  test('shows the command that runs it', () => expect(code('sh')).toEqual([`npm run schemes -- ${name}\n`]));
});

test('every scheme is in the list, and every fault in the table', () => {
  const page = readPage('docs/schemes/README.md');
  expect(tableUnder(page, '## Which there are').map(([cell]) => schemeOf(cell))).toEqual(Object.keys(schemes));
  expect(tableUnder(page, '## How they are shown').map(([cell]) => cell)).toEqual(FAULTS.map((fault) => `\`${fault}\``));
});

test('the tables have every scheme, and agree with the probe on which servers replay the first answer', () => {
  const page = readPage('docs/schemes/README.md');
  const [chosen, asks] = ['## Which one to take', '## What each asks of the client'].map((heading) => tableUnder(page, heading));
  expect(chosen?.map(([name]) => schemeOf(name))).toEqual(Object.keys(schemes));
  expect(asks?.map(([name]) => schemeOf(name))).toEqual(Object.keys(schemes));
  const found = tableUnder(readPage('docs/probe.md'), '## What it says of honest servers');
  const withoutReplay = found.filter(([, finds]) => finds?.includes('no-replay')).map(([name]) => /\/(.+)\.md/.exec(name ?? '')?.[1]);
  expect(withoutReplay.length).toBeGreaterThan(0);
  expect(chosen?.filter(([, , again]) => again?.startsWith('no:')).map(([name]) => schemeOf(name))).toEqual(withoutReplay);
});

test('`missing` finds a line that is out of order', () => expect(missing(['a', 'c', 'b'], ['a', 'b', 'c'])).toBe('b'));
