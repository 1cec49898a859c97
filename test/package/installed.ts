/** The package as a user gets it: packed, and unpacked among its dependencies and peers, outside this repository. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface Manifest {
  readonly main: string;
  readonly 'react-native': Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

export const manifest = readJson<Manifest>(join(root, 'package.json'));

/** The entries, under their names in `src/entries`: `index` for the main one. */
export const entries = Object.keys(manifest.exports)
  .filter((name) => name !== './package.json')
  .map((name) => (name === '.' ? 'index' : name.slice(2)));

export const specifierOf = (entry: string): string => (entry === 'index' ? 'oncefetch' : `oncefetch/${entry}`);

export function run(command: string, args: readonly string[], cwd: string): { readonly ok: boolean; readonly stdout: string; readonly all: string } {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' });
  return { ok: status === 0, stdout, all: `${stdout}${stderr}${error ?? ''}` };
}

export interface Installed {
  /** A folder whose `node_modules` has the package. */
  readonly home: string;
  readonly folder: string;
  readonly tarball: string;
  readonly files: readonly string[];
  remove(): void;
}

export function install(): Installed {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'oncefetch-')));
  const modules = join(home, 'node_modules');
  const folder = join(modules, 'oncefetch');
  mkdirSync(modules);
  const packed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], root);
  const tarball = readdirSync(home).find((file) => file.endsWith('.tgz'));
  if (!packed.ok || tarball === undefined) throw new Error(`npm pack: ${packed.all}`);
  const unpacked = run('tar', ['-xzf', tarball], home);
  if (!unpacked.ok) throw new Error(`tar: ${unpacked.all}`);
  symlinkSync(join(home, 'package'), folder, 'junction');
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
  }
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) =>
      join(file.parentPath, file.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    );
  return { home, folder, tarball: join(home, tarball), files: files.sort(), remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** This Node, and the first other Node that is installed on this machine. */
export function runtimes(): { readonly version: string; readonly path: string }[] {
  const others = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const found = others.map((folder) => join(folder, 'node')).filter((path) => existsSync(path));
  const all = [process.execPath, ...found].map((path) => ({ version: run(path, ['--version'], root).stdout.trim(), path }));
  return all.filter(({ version }, index) => version !== '' && all.findIndex((one) => one.version === version) === index).slice(0, 2);
}
