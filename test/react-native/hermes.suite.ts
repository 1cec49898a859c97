/**
 * Goal: Hermes compiles and runs the published package, and the apps that Metro bundles with it. Method: the compilers
 * of React Native 0.84 to 0.88 and of Expo, which reject code that their engines cannot run. And Hermes 0.12, the
 * newest one that npm has for a desktop and older than any of these, runs the scenarios with its own clock and network.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXPECTED, judge } from './expected.js';
import type { Seen } from './realm/shop-rules.js';
import { bundleOf, environments, type Says } from './support.js';

const here = import.meta.dirname;
const made = join(here, '../../.tmp/react-native');
const FOLDER = { linux: 'linux64-bin', darwin: 'osx-bin', win32: 'win64-bin' }[process.platform as string] ?? '';
const EXE = process.platform === 'win32' ? '.exe' : '';
function executable(folder: string, name: string): string {
  const path = join(here, folder, FOLDER, `${name}${EXE}`);
  if (!existsSync(path)) throw new Error(`there is no ${path}`);
  return path;
}
/**
 * The compilers, and the apps that each compiles. React Native 0.81 has no compiler for this system, so the next
 * version's compiles its app.
 */
const COMPILERS = {
  'Hermes 250829098 (React Native 0.84 to 0.87, Expo SDK 57)': { compiler: 'node_modules/hermes-compiler/hermesc', compiles: ['0.81', '0.86', 'expo-57'] },
  'Hermes 260318099 (React Native 0.88)': { compiler: 'apps/0.88/node_modules/hermes-compiler/hermesc', compiles: ['0.88'] },
};

function compile(compiler: string, file: string): string {
  const { status, stderr } = spawnSync(executable(compiler, 'hermesc'), ['-O0', '-w', '-emit-binary', '-out', join(made, 'compiled.hbc'), file], {
    encoding: 'utf8',
  });
  return status === 0 ? 'compiled' : stderr;
}

describe.each(Object.entries(COMPILERS))('%s', (_, { compiler, compiles }) => {
  test('compiles the published file', () => expect(compile(compiler, join(made, 'node_modules/oncefetch/dist/react-native.bundle.cjs'))).toBe('compiled'));

  test.each(environments.filter(({ app, os }) => os === 'ios' && compiles.includes(app)))('compiles the app of $name', ({ app, os }) => {
    expect(compile(compiler, bundleOf(app, os))).toBe('compiled');
  });

  const example = compiles.includes('expo-57') ? (['ios', 'android'] as const) : [];
  test.each(example)('compiles the example for %s', (os) => expect(compile(compiler, bundleOf('example', os))).toBe('compiled'));

  test.each(['async function* a() {}', 'class A { static { using b = c; } }', 'import.meta.url;', '/[a--b]/v;'])('rejects %s', (bad) => {
    const file = join(made, 'bad.js');
    writeFileSync(file, bad);
    expect(compile(compiler, file)).toContain('error');
  });
});

interface Came {
  readonly scenario: string;
  readonly saw: Says;
  readonly server: { readonly requests: number; readonly charges: number; readonly aborted: number; readonly keys: string[]; readonly bodies: string[] };
}

describe('React Native 0.88.1 in a running Hermes 0.12', () => {
  let came: ReadonlyMap<string, Came>;
  beforeAll(() => {
    const file = join(made, 'hermes-0.12.js');
    const { code } = transformSync(readFileSync(join(here, 'realm/hermes/before.ts'), 'utf8'), { loader: 'ts' });
    writeFileSync(file, `${code}\n${readFileSync(bundleOf('hermes-0.12', 'ios'), 'utf8')}`);
    // Without optimisation, because this old compiler optimises some programs wrongly.
    const options = ['-w', '-Xmicrotask-queue', '-Og', file];
    const { stdout, stderr } = spawnSync(executable('node_modules/hermes-engine-cli', 'hermes'), options, { encoding: 'utf8', timeout: 60_000 });
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
    if (lines.length === 0) throw new Error(`Hermes has played nothing: ${stdout}${stderr}`);
    came = new Map(lines.map((line) => JSON.parse(line) as Came).map((one) => [one.scenario, one]));
  });

  test('has all scenarios, and no others', () => expect([...came.keys()]).toEqual(Object.keys(EXPECTED)));

  test.each(Object.keys(EXPECTED))('%s', (scenario) => {
    const { saw, server } = came.get(scenario)!;
    const seen: Seen = { ...server, keys: new Set(server.keys), bodies: new Set(server.bodies) };
    judge(scenario, 'Hermes 0.12 (React Native 0.88.1, iOS)', saw, seen);
  });
});
