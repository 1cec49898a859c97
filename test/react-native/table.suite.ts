/** Goal: the docs say what was seen, and no more. Method: the table there is the one of this run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cells, EXPECTED } from './expected.js';

const PAGE = join(import.meta.dirname, '../../docs/react-native.md');
const [START, END] = ['<!-- what the server saw -->\n', '\n<!-- end -->'];

test('the docs have the table of what the server saw (UPDATE_DOCS=1 writes it)', ({ skip }) => {
  skip(cells.size < Object.keys(EXPECTED).length, 'not all scenarios were run');
  const names = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))];
  const line = (all: readonly string[]) => `| ${all.join(' | ')} |`;
  const rows = Object.keys(EXPECTED).map((scenario) => line([scenario, ...names.map((name) => cells.get(scenario)?.get(name) ?? '')]));
  const table = [line(['', ...names]), line(['---', ...names.map(() => '---')]), ...rows].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(START);
  const wanted = `${before}${START}\n${table}\n${END}${rest.split(END)[1] ?? ''}`;
  if (process.env['UPDATE_DOCS']) writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});
