/**
 * Goal: a page that webpack builds for production contains nothing of the panel, with or without a guard, and a
 * development page contains it. Method: the webpack that Next.js brings builds a tiny app with the packed package.
 * test/package/devtools.test.ts does the same with Vite.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeOn } from '../support/describe-on.js';

const here = import.meta.dirname;
const made = join(here, '../../.tmp/frameworks');
const reasonFile = join(made, 'missing');
const missing = existsSync(reasonFile) ? readFileSync(reasonFile, 'utf8') : undefined;

type Webpack = (options: object, done: (error: Error | null, stats: { hasErrors(): boolean; toString(how: string): string }) => void) => void;

/** Text that only the panel has, and text that every client has. */
const PANEL = /oncefetch-devtools|Lose the next answer/;
const CLIENT = /Idempotency-Key/;

const CLIENT_OF_APP = `import { createOnce } from 'oncefetch'; const once = createOnce(); console.log(once.fetch);`;
const GUARDED = `${CLIENT_OF_APP} if (process.env.NODE_ENV !== 'production') void import('oncefetch/devtools').then(({ devtools }) => devtools(once));`;
const BARE = `import { devtools } from 'oncefetch/devtools'; ${CLIENT_OF_APP} devtools(once, { open: true });`;

async function built(app: string, mode: 'production' | 'development') {
  const { webpack } = createRequire(import.meta.url)('next/dist/compiled/webpack/webpack') as { webpack: Webpack };
  const folder = join(made, 'webpack');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.js'), app);
  const options = {
    mode,
    target: 'web',
    devtool: false,
    context: folder,
    entry: './main.js',
    // Next.js brings no minifier for this webpack. The panel must be left out even without one.
    optimization: { minimize: false },
    output: { path: join(folder, 'out') },
    resolve: { modules: [join(here, 'node_modules')] },
  };
  await new Promise<void>((resolve, reject) =>
    webpack(options, (error, stats) => (error || stats.hasErrors() ? reject(error ?? new Error(stats.toString('errors-only'))) : resolve())),
  );
  const texts = readdirSync(join(folder, 'out')).map((file) => readFileSync(join(folder, 'out', file), 'utf8'));
  return { panel: texts.some((text) => PANEL.test(text)), client: texts.some((text) => CLIENT.test(text)), scripts: texts.length };
}

describeOn(missing)('webpack', () => {
  test('leaves out the panel behind a guard in production, even as a separate file', async () => {
    expect(await built(GUARDED, 'production')).toEqual({ panel: false, client: true, scripts: 1 });
  });

  test('leaves out the panel without a guard in production', async () => expect(await built(BARE, 'production')).toMatchObject({ panel: false, client: true }));

  test.each([GUARDED, BARE])('includes the panel in development', async (app) => {
    expect(await built(app, 'development')).toMatchObject({ panel: true, client: true });
  });
});
