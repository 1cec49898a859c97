/**
 * Installs the packages of tests that have their own lockfile, and unpacks oncefetch for them as an app would get it.
 * Run as a script, it installs the folders given as arguments.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const shell = process.platform === 'win32';
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH|ENOTCACHED/;

/** @param {readonly string[]} files */
export const digestOf = (files) => files.reduce((hash, file) => hash.update(readFileSync(file)), createHash('sha256')).digest('hex');
/** @param {string} stamp @param {string} digest */
export const isFresh = (stamp, digest) => existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;

/**
 * Installs the packages of a folder's lockfile, unless they are installed. Returns the reason if the registry is out of reach; throws on CI, and on any
 * other failure.
 *
 * @param {string} folder
 * @param {string} what
 * @returns {string | undefined}
 */
export function installBeside(folder, what) {
  const stamp = join(folder, 'node_modules/.installed-from');
  const digest = digestOf([join(folder, 'package-lock.json')]);
  if (isFresh(stamp, digest)) return undefined;
  const { status, stdout, stderr } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, encoding: 'utf8', shell });
  if (status === 0) {
    writeFileSync(stamp, digest);
    return undefined;
  }
  const said = `${stdout}${stderr}`;
  const reason = UNREACHABLE.exec(said)?.[0];
  if (process.env['CI'] || !reason) throw new Error(`npm ci in ${folder} failed:\n${said.slice(-2000)}`);
  return `${what} is not installed, and the registry can't be reached (${reason})`;
}

/** Packs oncefetch, and unpacks it into `made/node_modules/oncefetch`. Removes everything else from `made/node_modules`. @param {string} made */
export function unpackInto(made) {
  rmSync(join(made, 'node_modules'), { recursive: true, force: true });
  unpackBeside(made);
}

/** The same, but leaves other packages in `made/node_modules`. @param {string} made */
export function unpackBeside(made) {
  const folder = join(made, 'node_modules/oncefetch');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  /** @param {string} command @param {string[]} args */
  const run = (command, args) => {
    const { status, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', shell });
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
  };
  for (const file of readdirSync(made)) if (file.endsWith('.tgz')) rmSync(join(made, file));
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', made]);
  const tarball = readdirSync(made).find((file) => file.endsWith('.tgz')) ?? '';
  run('tar', ['-xzf', join(made, tarball), '-C', folder, '--strip-components', '1']);
}

if (import.meta.main)
  for (const folder of process.argv.slice(2)) {
    const reason = installBeside(join(root, folder), folder);
    if (reason !== undefined) console.log(reason);
  }
