/** Goal: docs/react-native.md says what the tests have seen, and no more. Method: compares its table and its versions with this run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cells, EXPECTED } from './expected.js';

const here = import.meta.dirname;
const PAGE = join(here, '../../docs/react-native.md');
const [START, END] = ['<!-- what the server saw -->\n', '\n<!-- end -->'];

test('the docs have the table of what the server saw (UPDATE_DOCS=1 writes it)', ({ skip }) => {
  skip(cells.size < Object.keys(EXPECTED).length, 'not all scenarios were run');
  const names = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))];
  const line = (all: readonly string[]) => `| ${all.join(' | ')} |`;
  const rows = Object.keys(EXPECTED).map((scenario) => line([scenario, ...names.map((name) => cells.get(scenario)?.get(name) ?? '')]));
  const table = [line(['scenario', ...names]), line(['---', ...names.map(() => '---')]), ...rows].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(START);
  const wanted = `${before}${START}\n${table}\n${END}${rest.split(END)[1] ?? ''}`;
  if (process.env['UPDATE_DOCS']) writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});

/** Packages whose JavaScript was tested, by the app that has them. */
const TESTED = [
  ['0.81', 'react-native'],
  ['0.81', '@react-native-async-storage/async-storage'],
  ['0.86', 'react-native'],
  ['0.88', 'react-native'],
  ['0.88', '@react-native-async-storage/async-storage'],
  ['0.88', 'react-native-mmkv'],
  ['expo-57', 'react-native'],
  ['expo-57', 'expo'],
  ['expo-57', 'expo-sqlite'],
] as const;

describe('the docs name the version that was tested', () => {
  const page = () => readFileSync(PAGE, 'utf8');
  const versionOf = (app: string, name: string) => {
    const file = findPackageJSON(name, join(here, 'apps', app, 'index.js')) ?? '';
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  };

  test.each(TESTED)('in the app %s of %s', (app, name) => expect(page()).toContain(versionOf(app, name)));
  test.each(['0.86', '0.88', 'expo-57'])("in the app %s of Hermes' compiler", (app) =>
    expect(page()).toContain(versionOf(app, 'hermes-compiler').split('.')[0]),
  );
  test('of the running Hermes', () => expect(page()).toContain(`Hermes ${versionOf('0.88', 'hermes-engine-cli').split('.').slice(0, 2).join('.')}`));
});
