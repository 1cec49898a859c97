/**
 * Before the tests: the apps' packages are installed from their own lockfile, and the packed package is bundled into each
 * app by its own Metro, for both systems. What has not changed since is left as it is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIfStale } from '../../scripts/build.mjs';

const here = import.meta.dirname;
const root = join(here, '../..');
const made = join(root, '.tmp/react-native');
/** Why there is nothing to test; the tests say it when they skip. */
const reasonFile = join(made, 'missing');

/** Expo's app and the example are not there yet. */
const APPS = ['0.81', '0.86', '0.88'];
const SYSTEMS = ['ios', 'android'];
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH|ENOTCACHED/;

/** @param {readonly string[]} files */
const digestOf = (files) => files.reduce((hash, file) => hash.update(readFileSync(file)), createHash('sha256')).digest('hex');
/** @param {string} stamp @param {string} digest */
const isFresh = (stamp, digest) => existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;

/** Why it could not be installed; throws where that is no excuse. */
function install() {
  const stamp = join(here, 'node_modules/.installed-from');
  const digest = digestOf([join(here, 'package-lock.json')]);
  if (isFresh(stamp, digest)) return undefined;
  const { status, stdout, stderr } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: here, encoding: 'utf8', shell: process.platform === 'win32' });
  if (status === 0) {
    writeFileSync(stamp, digest);
    return undefined;
  }
  const said = `${stdout}${stderr}`;
  const reason = UNREACHABLE.exec(said)?.[0];
  if (process.env['CI'] || !reason) throw new Error(`npm ci in test/react-native failed:\n${said.slice(-2000)}`);
  return `React Native is not installed, and the registry can't be reached (${reason})`;
}

/** The package as an app gets it. */
function unpack() {
  const modules = join(made, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(join(modules, 'oncefetch'), { recursive: true });
  /** @param {string} command @param {string[]} args */
  const run = (command, args) => {
    const { status, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
  };
  for (const file of readdirSync(made)) if (file.endsWith('.tgz')) rmSync(join(made, file));
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', made]);
  const tarball = readdirSync(made).find((file) => file.endsWith('.tgz')) ?? '';
  run('tar', ['-xzf', join(made, tarball), '-C', join(modules, 'oncefetch'), '--strip-components', '1']);
}

/** @param {string} app @param {string} os @param {string} entry @param {string} out @returns {Promise<void>} */
const bundle = (app, os, entry, out) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(here, 'realm/build.mjs'), app, os, entry, out], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`Metro could not bundle ${app} for ${os}:\n${said.slice(-3000)}`))));
  });

export async function setup() {
  mkdirSync(made, { recursive: true });
  rmSync(reasonFile, { force: true });
  const reason = install();
  if (reason !== undefined) {
    writeFileSync(reasonFile, reason);
    return;
  }
  buildIfStale();
  unpack();
  const inputs = ['package-lock.json', 'realm/scenarios.js', 'realm/build.mjs', 'apps/metro.cjs'].map((file) => join(here, file));
  const digest = digestOf([join(made, 'node_modules/oncefetch/package.json'), join(made, 'node_modules/oncefetch/dist/react-native.bundle.cjs'), ...inputs]);
  const stamp = join(made, 'bundled-from');
  if (isFresh(stamp, digest)) return;
  rmSync(stamp, { force: true });
  /** @param {string} app @param {string} entry @param {string} name */
  const bundles = (app, entry, name) => Promise.all(SYSTEMS.map((os) => bundle(app, os, entry, join(made, 'bundles', `${name}.${os}.js`))));
  for (const app of APPS) await bundles(app, 'index.js', app);
  writeFileSync(stamp, digest);
}
