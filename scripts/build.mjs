/**
 * Builds `dist` completely or not at all: a failed step leaves neither a partial `dist` nor an old one that looks new.
 * `--if-stale` builds only if an input has changed since the last build.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const stamp = join(root, '.tmp', 'built-from');

function inputs() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
  const digest = createHash('sha256');
  for (const path of [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsup.config.ts',
    'scripts/build.mjs',
    'scripts/lean.mjs',
    ...sources.sort().map((path) => join('src', path)),
  ]) {
    digest
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return digest.digest('hex');
}

const isFresh = () => existsSync(dist) && existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs();

/**
 * Moves directives back to the top of CJS chunks: the conversion to CJS puts statements before them, and a directive
 * that follows a statement has no effect.
 *
 * @param {string} folder
 */
function keepDirectives(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.cjs'))) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    const [said] = /(?<=;)"use client";$/m.exec(text) ?? [];
    if (said) writeFileSync(file, `${said}${text.replace(said, '')}`);
  }
}

/**
 * Copies the type declarations for CJS, with CJS file extensions. ky has ES modules only, so each CJS declaration that
 * imports a type of ky must tell TypeScript to resolve it as an ES module.
 *
 * @param {string} folder
 */
function typesOfCjs(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.d.ts'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    const cjs = text
      .replaceAll(/(?<=(?:from|import) '\.\/[^']+\.)js(?=')/g, 'cjs')
      .replaceAll(/^import (\{.*\} from 'ky');$/gm, "import type $1 with { 'resolution-mode': 'import' };");
    writeFileSync(join(folder, name.replace(/ts$/, 'cts')), cjs);
  }
}

export function build() {
  const before = inputs();
  // Beside `dist`, so that the relative paths in the source maps stay valid.
  const made = `${dist}.${process.pid}`;
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules/tsup/dist/cli-default.js'), '--out-dir', made, '--silent'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  rmSync(stamp, { force: true });
  rmSync(dist, { recursive: true, force: true });
  if (status !== 0) {
    rmSync(made, { recursive: true, force: true });
    throw new Error('The build failed; dist was removed.');
  }
  keepDirectives(made);
  typesOfCjs(made);
  renameSync(made, dist);
  mkdirSync(join(root, '.tmp'), { recursive: true });
  writeFileSync(stamp, before);
}

export function buildIfStale() {
  if (!isFresh()) build();
}

/** Lets vitest use the build as a `globalSetup`. */
export { buildIfStale as setup };

if (import.meta.main) process.argv.includes('--if-stale') ? buildIfStale() : build();
