/**
 * Goal: production pages get the short texts and everybody else the long ones, each from a single copy of the package.
 * Method: bundles the packed package with the conditions that bundlers set, and loads it in Node; each program prints
 * the text of an error.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installed, install, run } from './installed.js';

let installed: Installed;
beforeAll(() => void (installed = install()));
afterAll(() => installed?.remove());

const LONG = /^once: operation must be a non-empty array, got an empty one$/;
const SHORT = /^once: operation: name, got an empty one \(docs\/errors\.md#mistakes\)$/;

const PAGE = `
  import { createOnce, isOnceError, operation, outcomeOf } from 'oncefetch';
  import { defineDialect, inHeader } from 'oncefetch/dialects';
  import { useOperation } from 'oncefetch/react';
  const once = createOnce({ dialect: defineDialect({ name: 'mine', place: inHeader('X-Key') }) });
  const said = (work) => { try { work(); } catch (error) { return error.message; } };
  console.log(JSON.stringify({
    name: said(() => operation(once, [])),
    option: said(() => createOnce({ limits: { attempts: 'five' } })),
    misspelled: said(() => createOnce({ namepsace: 'anna' })),
    empty: said(() => createOnce({ namespace: '' })),
    dialect: said(() => defineDialect({ name: 'mine', place: inHeader('X-Key'), replay: true })),
    rest: [typeof useOperation, isOnceError(0), outcomeOf(0)],
  }));`;

const PRINT = 'try { loaded.operation(loaded.createOnce(), []); } catch (error) { console.log(error.message); }';

type Said = Readonly<Record<'name' | 'option' | 'misspelled' | 'empty' | 'dialect', string>>;

/** The files of the package that a bundle contains, the bundle's text, and what it prints. */
async function bundled(options: BuildOptions, contents = PAGE): Promise<{ files: string[]; text: string; printed: () => string }> {
  const file = join(installed.home, options.format === 'cjs' ? 'bundle.cjs' : 'bundle.mjs');
  const { metafile } = await build({
    stdin: { contents, resolveDir: installed.home },
    absWorkingDir: installed.home,
    tsconfigRaw: '{}',
    bundle: true,
    format: 'esm',
    platform: 'browser',
    external: ['node:*', 'react'],
    outfile: file,
    logLevel: 'error',
    ...options,
    metafile: true,
  });
  const ours = Object.keys(metafile.inputs).flatMap((path) => /^package\/dist\/((?:index|dialects|react)\b.*)$/.exec(path)?.[1] ?? []);
  return {
    files: ours.sort(),
    text: readFileSync(file, 'utf8'),
    printed: () => {
      const { ok, stdout, all } = run(process.execPath, [file], installed.home);
      expect(ok, all).toBe(true);
      return stdout.trim();
    },
  };
}

describe('a bundler for pages', () => {
  test('gets the short texts, and only these', async () => {
    const { files, text, printed } = await bundled({});
    expect(files).toEqual(['dialects.lean.js', 'index.lean.js', 'react.js']);
    expect(text).not.toContain('no attempt was answered within the limits and the retry budget');
    const said = JSON.parse(printed()) as Said;
    expect(said.name).toMatch(SHORT);
    expect(said.option).toBe('once: limits.attempts must be a number, got string');
    expect(said.misspelled).toBe('once: there is no option namepsace');
    expect(said.empty).toContain('namespace: namespace, got an empty string');
    expect(said.dialect).toBe('once: dialect mine: replay is not known');
  });

  test.each(['development', 'workerd', 'edge-light'])('gets the long ones with the condition %s, and only these', async (condition) => {
    const { files, text, printed } = await bundled({ conditions: [condition] });
    expect(files).toEqual(['dialects.js', 'index.js', 'react.js']);
    expect(text).toContain('no attempt was answered within the limits and the retry budget');
    expect((JSON.parse(printed()) as Said).name).toMatch(LONG);
  });

  test('gets the long ones for Node', async () => expect((await bundled({ platform: 'node' })).files).toEqual(['dialects.js', 'index.js', 'react.js']));

  test.each([
    ['in production', [], 'index.lean.cjs', SHORT],
    ['while developing', ['development'], 'index.cjs', LONG],
  ])('gets the same by require %s', async (_, conditions, file, says) => {
    const { files, printed } = await bundled({ conditions, format: 'cjs' }, `const loaded = require('oncefetch'); ${PRINT}`);
    expect(files).toEqual([file]);
    expect(printed()).toMatch(says);
  });
});

describe('Node', () => {
  /** Pays once, and prints the outcome in each way in which a program can ask for it. */
  const PAYS = `
    const { createOnce, operation, outcomeOf, pending, settle, memoryStore } = loaded;
    const once = createOnce({ store: memoryStore(), fetch: async () => Response.json({}, { status: 201 }) });
    const answer = await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
    await settle(once, ['pay', 2], 'done');
    const payment = operation(once, ['pay', 3]);
    payment.subscribe(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    console.log(outcomeOf(answer).effect, operation(once, ['pay', 2]).state.phase, payment.state.phase, (await pending(once)).length);`;

  test.each([
    ['import', `import * as loaded from 'oncefetch'; ${PAYS}`],
    ['require', `import { createRequire } from 'node:module'; const loaded = createRequire(process.cwd() + '/x.cjs')('oncefetch'); ${PAYS}`],
  ])('gets the outcome of a call by %s', (_, program) => {
    const { stdout, all } = run(process.execPath, ['--input-type=module', '--eval', program], installed.home);
    expect(stdout.trim(), all).toBe('done settled idle 0');
  });

  test.each([
    ['import', `import * as loaded from 'oncefetch'; ${PRINT}`],
    [
      'require',
      `import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module'; const loaded = createRequire(process.cwd() + '/x.cjs')('oncefetch'); ${PRINT}`,
    ],
  ])('gets the long texts by %s', (_, program) => {
    const { stdout, all } = run(process.execPath, ['--input-type=module', '--eval', program], installed.home);
    expect(stdout.trim(), all).toMatch(LONG);
  });
});

test('a client of one build counts as a client for the other, and each build recognises errors of the other', async () => {
  const load = (file: string) => import(pathToFileURL(join(installed.folder, 'dist', file)).href) as Promise<typeof import('oncefetch')>;
  const [full, lean] = await Promise.all([load('index.js'), load('index.lean.js')]);
  const common = createRequire(join(installed.folder, 'x.cjs'))('./dist/index.lean.cjs') as typeof import('oncefetch');
  for (const [one, other] of [
    [full, lean],
    [lean, full],
    [common, full],
  ] as const) {
    const once = one.createOnce({ namespace: 'u-1', store: one.memoryStore() });
    expect(other.namespace(once)).toBe('u-1');
    const error = await one.resumeOne(once, ['pay', 1]).catch((thrown: unknown) => thrown);
    expect(other.isOnceError(error)).toBe(true);
    expect(other.outcomeOf(error)).toMatchObject({ type: 'unknown', reason: 'record' });
  }
});
