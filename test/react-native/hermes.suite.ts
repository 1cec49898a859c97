/**
 * Goal: Hermes takes what is published, and what Metro makes of an app with it. Method: the compilers that come with React
 * Native 0.81 to 0.88 and with Expo; they refuse what their engines cannot run.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundleOf, environments } from './support.js';

const here = import.meta.dirname;
const made = join(here, '../../.tmp/react-native');
const OS = { linux: 'linux64-bin/hermesc', darwin: 'osx-bin/hermesc', win32: 'win64-bin/hermesc.exe' }[process.platform as string] ?? '';
/** Where each is, and the apps that it compiles. React Native 0.81 brings none for this system: its app goes through the next one. */
const COMPILERS = {
  'Hermes 250829098 (React Native 0.84 to 0.87, Expo SDK 57)': { compiler: 'node_modules/hermes-compiler/hermesc', compiles: ['0.81', '0.86'] },
  'Hermes 260318099 (React Native 0.88)': { compiler: 'apps/0.88/node_modules/hermes-compiler/hermesc', compiles: ['0.88'] },
};

function compile(compiler: string, file: string): string {
  const path = join(here, compiler, OS);
  if (!existsSync(path)) throw new Error(`there is no ${path}`);
  const { status, stderr } = spawnSync(path, ['-O0', '-w', '-emit-binary', '-out', join(made, 'compiled.hbc'), file], { encoding: 'utf8' });
  return status === 0 ? 'compiled' : stderr;
}

describe.each(Object.entries(COMPILERS))('%s', (_, { compiler, compiles }) => {
  test('takes the published file as it is', () => {
    expect(compile(compiler, join(made, 'node_modules/oncefetch/dist/react-native.bundle.cjs'))).toBe('compiled');
  });

  test.each(environments.filter(({ app, os }) => os === 'ios' && compiles.includes(app)))('takes the app of $name', ({ app, os }) => {
    expect(compile(compiler, bundleOf(app, os))).toBe('compiled');
  });

  test.each(['async function* a() {}', 'class A { static { using b = c; } }', 'import.meta.url;', '/[a--b]/v;'])('refuses %s', (bad) => {
    const file = join(made, 'bad.js');
    writeFileSync(file, bad);
    expect(compile(compiler, file)).toContain('error');
  });
});
