/** Runs before the tests: installs the frameworks and the packed package from their own lockfile, and builds each app for production. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { installBeside, unpackBeside } from '../../scripts/beside.mjs';
import { buildIfStale } from '../../scripts/build.mjs';

const here = import.meta.dirname;
const root = join(here, '../..');
const made = join(root, '.tmp/frameworks');
/** The reason why nothing can be tested. The tests give it when they skip. */
const reasonFile = join(made, 'missing');

/** @type {Record<string, readonly [file: string, ...args: string[]]>} */
const BUILDS = { next: ['next/dist/bin/next', 'build'], 'react-router': ['@react-router/dev/bin.js', 'build'], sveltekit: ['vite/bin/vite.js', 'build'] };

/** Builds an app, and keeps the output of the build for a test. @param {string} app @param {readonly [string, ...string[]]} build */
async function buildApp(app, [file, ...args]) {
  const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', DATABASE: ':memory:' };
  const child = spawn(process.execPath, [join(here, 'node_modules', file), ...args], { cwd: join(here, app), env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  /** @type {number | null} */
  const status = await new Promise((resolve) => child.on('close', resolve));
  const output = (await said).join('');
  if (status !== 0) throw new Error(`the build of ${app} failed:\n${output.slice(-4000)}`);
  writeFileSync(join(made, `${app}.log`), output);
}

/** Checks that package.json here has the dependencies of the project's package.json, because the unpacked package needs them. */
function checkDependencies() {
  /** @param {string} folder @returns {Record<string, string>} */
  const dependencies = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies;
  if (JSON.stringify(dependencies(root)) !== JSON.stringify(dependencies(here)))
    throw new Error('test/frameworks/package.json must have the dependencies of package.json');
}

export async function setup() {
  mkdirSync(made, { recursive: true });
  rmSync(reasonFile, { force: true });
  checkDependencies();
  const reason = installBeside(here, 'a framework');
  if (reason !== undefined) return writeFileSync(reasonFile, reason);
  buildIfStale();
  unpackBeside(here);
  await Promise.all(Object.entries(BUILDS).map(([app, build]) => buildApp(app, build)));
}
