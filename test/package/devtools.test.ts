/**
 * Goal: no production page contains anything of the panel, whether or not its developer guards the import; a
 * development page has it. Method: Vite and esbuild build a tiny app with the packed package for production and for
 * development; test/frameworks/devtools.test.ts does the same with webpack.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installed, install, run } from './installed.js';

let installed: Installed;
beforeAll(() => void (installed = install()));
afterAll(() => installed?.remove());

/** Texts that only the panel has: its element, and one of its sentences. */
const PANEL = /oncefetch-devtools|Lose the next answer/;
/** Text that every client has. It shows that the bundle contains the app. */
const CLIENT = /Idempotency-Key/;

const CLIENT_OF_APP = `import { createOnce } from 'oncefetch'; export const once = createOnce(); console.log(once.fetch);`;
const APPS = {
  'a guarded import()': `${CLIENT_OF_APP} if (import.meta.env.DEV) void import('oncefetch/devtools').then(({ devtools }) => devtools(once));`,
  'a guarded import': `import { devtools } from 'oncefetch/devtools'; ${CLIENT_OF_APP} if (import.meta.env.DEV) devtools(once);`,
  'an import() without a guard': `${CLIENT_OF_APP} void import('oncefetch/devtools').then(({ devtools }) => devtools(once, { open: true }));`,
  'an import without a guard': `import { devtools } from 'oncefetch/devtools'; ${CLIENT_OF_APP} devtools(once, { open: true });`,
};

/** The files and the text that a build leaves. */
interface Built {
  readonly panel: boolean;
  readonly client: boolean;
  readonly scripts: number;
}

const judged = (texts: readonly string[]): Built => ({
  panel: texts.some((text) => PANEL.test(text)),
  client: texts.some((text) => CLIENT.test(text)),
  scripts: texts.length,
});

let apps = 0;
/** Builds with `vite build`. Vitest has set NODE_ENV, which Vite would respect, so this sets it to the mode. */
async function built(app: string, mode: 'production' | 'development'): Promise<Built> {
  const root = join(installed.home, `app-${++apps}`);
  mkdirSync(root);
  writeFileSync(join(root, 'index.html'), '<!doctype html><script type="module" src="./main.js"></script>');
  writeFileSync(join(root, 'main.js'), app);
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = mode;
  try {
    await vite({ root, mode, configFile: false, logLevel: 'error', build: { outDir: 'out' } });
  } finally {
    process.env['NODE_ENV'] = before;
  }
  const files = readdirSync(join(root, 'out'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  return judged(files.map((file) => readFileSync(join(root, 'out', file), 'utf8')));
}

describe('vite build', () => {
  test.each(Object.entries(APPS))('with %s leaves nothing of the panel', async (_, app) => {
    expect(await built(app, 'production')).toMatchObject({ client: true, panel: false });
  });

  test('with the guard that the guide shows leaves not even a file for it', async () => {
    expect(await built(APPS['a guarded import()'], 'production')).toEqual({ client: true, panel: false, scripts: 1 });
  });

  test('for development includes the panel, so the tests above look for the right text', async () => {
    expect(await built(APPS['a guarded import()'], 'development')).toMatchObject({ client: true, panel: true });
  });
});

describe('esbuild', () => {
  const bundled = async (app: string, conditions: string[]): Promise<Built> => {
    const { outputFiles } = await esbuild({
      stdin: { contents: app, resolveDir: installed.home },
      tsconfigRaw: '{}',
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      outdir: join(installed.home, 'out'),
      define: { 'import.meta.env.DEV': 'false' },
      conditions,
      external: ['node:*'],
      write: false,
      logLevel: 'error',
    });
    return judged(outputFiles.map(({ text }) => text));
  };

  test('leaves the panel out behind the guard, if `define` gives the guard its value', async () => {
    expect(await bundled(APPS['a guarded import()'], [])).toMatchObject({ client: true, panel: false });
  });

  test('leaves the panel out without a guard if the condition `production` is given, and only then', async () => {
    expect(await bundled(APPS['an import without a guard'], ['production'])).toMatchObject({ client: true, panel: false });
    expect(await bundled(APPS['an import without a guard'], [])).toMatchObject({ client: true, panel: true });
  });
});

test.each([
  ['import', "import { devtools } from 'oncefetch/devtools'; import { createOnce } from 'oncefetch';"],
  ['require', "const { devtools } = require('oncefetch/devtools'); const { createOnce } = require('oncefetch');"],
])('on a server the panel does nothing, loaded by %s', (kind, load) => {
  const file = join(installed.home, kind === 'import' ? 'server.mjs' : 'server.cjs');
  writeFileSync(file, `${load} const close = devtools(createOnce(), { open: true }); console.log(typeof close, close());`);
  const { stdout, all } = run(process.execPath, [file], installed.home);
  expect(stdout.trim(), all).toContain('function undefined');
});
