/**
 * Goal: the package's types work with the types of each runtime and with the newest TypeScript, with and without the
 * DOM library. Method: compiles users' programs with the packed types, and checks the libraries as well.
 * `test/package/fetch-types.test.ts` has older compilers.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeOn } from '../support/describe-on.js';
import { reason } from './support/present.js';

const made = join(import.meta.dirname, '../../.tmp/runtimes/types');
const bin = join(import.meta.dirname, 'node_modules/.bin');

const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };
const NODE = { module: 'nodenext', moduleResolution: 'nodenext' };
const DOM = { lib: ['es2023', 'dom', 'dom.iterable'], types: [] };
const NODES = { lib: ['es2023'], types: ['node'] };

const PROGRAMS: readonly (readonly [title: string, program: string, options: object])[] = [
  ['fetch, with the DOM library, as a bundler resolves it', 'program.ts', { ...DOM, ...BUNDLER }],
  ['fetch, with the DOM library, as Node resolves it', 'program.ts', { ...DOM, ...NODE }],
  ["fetch, with Node's types and no DOM library, as a bundler resolves it", 'program.ts', { ...NODES, ...BUNDLER }],
  ["fetch, with Node's types and no DOM library, as Node resolves it", 'program.ts', { ...NODES, ...NODE }],
  ["fetch, with the DOM library and Node's types", 'program.ts', { ...DOM, types: ['node'], ...NODE }],
  ["a Worker, with Cloudflare's types", 'worker.ts', { ...NODES, types: ['@cloudflare/workers-types'], ...BUNDLER }],
  ["a service in Bun, with Bun's types", 'bun.ts', { ...NODES, types: ['bun-types'], ...BUNDLER }],
];
const OPTIONS = { target: 'es2022', strict: true, exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, skipLibCheck: false, noEmit: true };

function said(command: string, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(join(bin, command), args, { cwd: made, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

describeOn(reason)('types', () => {
  test.each(PROGRAMS)('the newest TypeScript accepts %s', (title, program, options) => {
    const config = `${title.replaceAll(/\W+/g, '-')}.json`;
    writeFileSync(join(made, config), JSON.stringify({ compilerOptions: { ...OPTIONS, ...options }, files: [program] }));
    expect(said('tsc', '-p', config)).toBe('');
  });

  test("Deno's own compiler accepts a service for Deno", () => expect(said('deno', 'check', '--unstable-kv', 'deno.ts')).toBe(''));
});
