/**
 * Runs before the tests: installs the apps' packages from their own lockfile, and bundles the packed package into each app with
 * the app's own Metro, for both systems. Does nothing if nothing has changed.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { digestOf, installBeside, isFresh, unpackInto } from '../../scripts/beside.mjs';
import { buildIfStale } from '../../scripts/build.mjs';

const here = import.meta.dirname;
const root = join(here, '../..');
const made = join(root, '.tmp/react-native');
/** The reason why nothing can be tested. The tests give it when they skip. */
const reasonFile = join(made, 'missing');

const SYSTEMS = ['ios', 'android'];
const apps = readdirSync(join(here, 'apps'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
/**
 * The bundles beside the apps' own scenarios: the example, its screen on stand-ins for its native packages, and the scenarios
 * for an older engine, which runs on this machine.
 * @type {Readonly<Record<string, readonly { name: string, entry: string, systems: readonly string[], profile?: string, standIns?: boolean }[]>>}
 */
const MORE = {
  'expo-57': [
    { name: 'example', entry: '../../../../playground/react-native/index.ts', systems: SYSTEMS },
    { name: 'checkout', entry: 'checkout.js', systems: ['ios'], standIns: true },
  ],
  0.88: [{ name: 'hermes-0.12', entry: 'hermes.js', systems: ['ios'], profile: 'default' }],
};
/** Metro keeps two cores busy for one app. */
const AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2));

/** @param {string} app @returns {Promise<void>} */
function bundle(app) {
  const all = [{ name: app, entry: 'index.js', systems: SYSTEMS }, ...(MORE[app] ?? [])];
  const bundles = all.flatMap(({ name, systems, ...how }) =>
    systems.map((platform) => ({ ...how, platform, out: join(made, 'bundles', `${name}.${platform}.js`) })),
  );
  const child = spawn(process.execPath, [join(here, 'realm/build.mjs'), app, JSON.stringify(bundles)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  return new Promise((resolve, reject) =>
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`Metro could not bundle ${app}:\n${said.slice(-3000)}`)))),
  );
}

/** The files from which the bundles are made. */
function inputs() {
  const folders = [join(here, 'apps'), join(here, 'realm'), join(root, 'playground/react-native')];
  const sources = folders.flatMap((folder) =>
    globSync('**/*.{js,cjs,mjs,ts,tsx,json}', { cwd: folder, exclude: ['**/node_modules/**'] }).map((file) => join(folder, file)),
  );
  const dist = join(made, 'node_modules/oncefetch/dist');
  return [
    ...sources.sort(),
    ...readdirSync(dist)
      .filter((file) => /\.c?js$/.test(file))
      .sort()
      .map((file) => join(dist, file)),
    // Its `exports` decide which file an app gets.
    join(made, 'node_modules/oncefetch/package.json'),
    join(here, 'package-lock.json'),
  ];
}

export async function setup() {
  mkdirSync(made, { recursive: true });
  rmSync(reasonFile, { force: true });
  const reason = installBeside(here, 'React Native');
  if (reason !== undefined) {
    writeFileSync(reasonFile, reason);
    return;
  }
  buildIfStale();
  unpackInto(made);
  const digest = digestOf(inputs());
  const stamp = join(made, 'bundled-from');
  if (isFresh(stamp, digest)) return;
  rmSync(stamp, { force: true });
  const waiting = [...apps];
  const next = async () => {
    for (let app = waiting.pop(); app !== undefined; app = waiting.pop()) await bundle(app);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  writeFileSync(stamp, digest);
}
