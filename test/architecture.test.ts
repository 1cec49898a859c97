/**
 * Goal: the layers of `src` depend on each other in one direction only, and each file keeps the house rules. Method: the rules read the compiler's syntax
 * trees; each rule is also run on sources that break it, so that a rule that no longer finds anything fails here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkAmbient, checkSynchronous } from './architecture/ambient.js';
import { checkArrows, checkCycles, checkPackages, checkReachable, checkShapes, type Manifest } from './architecture/arrows.js';
import { checkDefaults, checkLength } from './architecture/shape.js';
import { type Finding, readTexts, Sources, type Texts } from './architecture/sources.js';

const root = join(import.meta.dirname, '..');
const texts = readTexts(root, 'src');
const ours = new Sources(texts);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest & { exports: Record<string, unknown> };

const pick = (all: Texts, folders: readonly string[]) => folders.flatMap((folder) => sourcesOf(all).within(`src/${folder}/`));

const PURE = ['core', 'dialects'];

/** The project's own sources are parsed once for all rules. */
const sourcesOf = (all: Texts): Sources => (all === texts ? ours : new Sources(all));

const RULES = {
  arrows: (all: Texts) => checkArrows(sourcesOf(all)),
  cycles: (all: Texts) => checkCycles(sourcesOf(all)),
  reachable: (all: Texts) => checkReachable(sourcesOf(all)),
  shapes: (all: Texts) => checkShapes(sourcesOf(all)),
  packages: (all: Texts) =>
    checkPackages(sourcesOf(all), { dependencies: { 'p-retry': '7.1.1', '@noble/hashes': '2.4.0' }, peerDependencies: { ky: '>=2.0.0' } }),
  ambient: (all: Texts) => checkAmbient(pick(all, [...PURE, 'engine', 'http'])),
  synchronous: (all: Texts) => checkSynchronous(pick(all, PURE)),
  length: (all: Texts) => checkLength(sourcesOf(all).within('src/')),
  defaults: (all: Texts) => checkDefaults(defaultsApply(sourcesOf(all))),
} satisfies Record<string, (all: Texts) => Finding[]>;

/** `testing` and `probe` are tools of their own, which `options.ts` knows nothing of. */
const defaultsApply = (sources: Sources) =>
  sources.within('src/').filter(({ fileName }) => fileName !== 'src/options.ts' && !/^src\/(testing|probe)\//.test(fileName));

const print = (found: readonly Finding[]): string[] => found.map(({ at, says }) => `${at}: ${says}`);

describe('src', () => {
  test('has sources to look at', () => {
    expect(Object.keys(texts).length).toBeGreaterThan(0);
    expect(ours.imports.length).toBeGreaterThan(0);
  });

  test.each(['arrows', 'cycles', 'shapes', 'ambient', 'synchronous', 'length', 'defaults'] as const)('keeps the rule: %s', (rule) => {
    expect(print(RULES[rule](texts))).toEqual([]);
  });

  test('takes only packages that its users will have', () => expect(print(checkPackages(ours, manifest))).toEqual([]));

  test('has no file that no entry imports, directly or indirectly', ({ skip }) => {
    const missing = Object.keys(manifest.exports)
      .filter((name) => name !== './package.json')
      .map((name) => `src/entries/${name === '.' ? 'index' : name.slice(2)}.ts`)
      .filter((path) => !(path in texts));
    skip(missing.length > 0, `not written yet: ${missing.join(', ')}`);
    expect(print(checkReachable(ours))).toEqual([]);
  });
});

test.each(['test/explore/breaks.json', 'test/simulation/breaks.json'])('each line that is broken as %s says is in the sources', (list) => {
  const breaks = JSON.parse(readFileSync(join(root, list), 'utf8')) as { name: string; file: string; find: string }[];
  expect(breaks.filter(({ file, find }) => !texts[`src/${file}`]?.includes(find)).map(({ name }) => name)).toEqual([]);
});

describe('a rule can fail', () => {
  const long = (lines: number): string => 'void 0;\n'.repeat(lines);

  test.each<[keyof typeof RULES, string, Texts, string]>([
    ['arrows', 'core imports ports, even a type', { 'src/core/a.ts': `import type { A } from '../ports.js';` }, 'core must not import ports'],
    ['arrows', 'core imports a type in place', { 'src/core/a.ts': `export type A = import('../ports.js').Store;` }, 'core must not import ports'],
    ['arrows', 'dialects import errors', { 'src/dialects/a.ts': `import '../errors.js';` }, 'dialects must not import errors'],
    ['arrows', 'engine imports a store, later', { 'src/engine/a.ts': `void import('../stores/memory.js');` }, 'engine must not import stores'],
    ['arrows', 'engine imports a platform', { 'src/engine/a.ts': `export * from '../platform/browser/x.js';` }, 'engine must not import platform'],
    ['arrows', 'engine imports a value of the options', { 'src/engine/a.ts': `import { WAIT_MS } from '../options.js';` }, 'engine must not import options'],
    ['arrows', 'a store imports the engine', { 'src/stores/a.ts': `import '../engine/x.js';` }, 'stores must not import engine'],
    ['arrows', 'an integration goes behind the face', { 'src/integrations/ky.ts': `import '../once.js';` }, 'integrations must not import once'],
    ['arrows', 'an integration takes another entry', { 'src/integrations/ky.ts': `import '../entries/testing.js';` }, 'integrations must not import entries'],
    ['arrows', 'a feature imports another one', { 'src/features/a.ts': `import './pending.js';` }, 'a feature must not import another one'],
    ['arrows', 'the engine imports a feature', { 'src/engine/a.ts': `import '../features/pending.js';` }, 'engine must not import features'],
    ['arrows', 'testing imports the engine', { 'src/testing/a.ts': `import '../engine/x.js';` }, 'testing must not import engine'],
    ['arrows', 'a folder that is not a layer', { 'src/utils/a.ts': '' }, 'utils is no layer'],
    ['arrows', 'no extension', { 'src/core/a.ts': `import './b';` }, 'with its .js extension'],
    ['cycles', 'two files', { 'src/core/a.ts': `import './b.js';`, 'src/core/b.ts': `export * from './a.js';` }, 'a.ts -> src/core/b.ts -> src/core/a.ts'],
    ['cycles', 'types', { 'src/core/a.ts': `import './b.js';`, 'src/core/b.ts': `import type { A } from './a.js';` }, 'b.ts -> src/core/a.ts'],
    ['cycles', 'itself', { 'src/core/a.ts': `import './a.js';` }, 'imports itself'],
    ['reachable', 'a dead file', { 'src/entries/index.ts': `export * from '../once.js';`, 'src/once.ts': '', 'src/core/dead.ts': '' }, 'src/core/dead.ts'],
    ['shapes', 'an entry with code', { 'src/entries/index.ts': 'export const a = 1;' }, 'only re-exports'],
    ['shapes', 'a value among the ports', { 'src/ports.ts': 'export const a = 1;' }, 'types only'],
    ['packages', 'a development dependency', { 'src/core/a.ts': `import 'esbuild';` }, 'neither a dependency nor a peer'],
    ['packages', 'a peer in the main entry', { 'src/entries/index.ts': `export * from '../once.js';`, 'src/once.ts': `import 'ky';` }, 'without ky'],
    ['packages', 'Node in the main entry', { 'src/entries/index.ts': `export * from '../once.js';`, 'src/once.ts': `import 'node:fs';` }, 'without node:fs'],
    ['synchronous', 'an async arrow in core', { 'src/core/a.ts': 'export const a = async () => 1;' }, 'no async'],
    ['synchronous', 'await in a dialect', { 'src/dialects/a.ts': 'export const a = await b();' }, 'no await'],
    ['synchronous', 'for await in core', { 'src/core/a.ts': 'for await (const a of b) void a;' }, 'no await'],
    ['length', 'a long file', { 'src/core/a.ts': long(251) }, '251 lines, at most 250'],
    ['length', 'a long function', { 'src/core/a.ts': `export function a() {\n${long(69)}}\n` }, 'a function of 71 lines'],
    ['length', 'a long arrow', { 'src/core/a.ts': `export const a = () => {\n${long(69)}};\n` }, 'a function of 71 lines'],
    ['defaults', 'of a parameter', { 'src/engine/a.ts': 'export const a = (waitMs = 500) => waitMs;' }, 'the default 500'],
    ['defaults', 'of a destructured member', { 'src/stores/a.ts': 'export const a = ({ rows = 50 }) => rows;' }, 'the default 50'],
    ['defaults', 'after ??', { 'src/engine/a.ts': 'export const a = (b?: number) => b ?? 24 * 3_600_000;' }, 'the default 24 * 3_600_000'],
    ['defaults', 'after ??=', { 'src/engine/a.ts': 'export let a: number | undefined; a ??= 7;' }, 'the default 7'],
  ])('%s: %s', (rule, _, bad, says) => expect(print(RULES[rule](bad)).join('\n')).toContain(says));

  test.each([
    'Date.now()',
    'new Date()',
    'Date()',
    'const { now } = Date; now()',
    'Math.random()',
    'const { random } = Math; random()',
    `Math['random']()`,
    'setTimeout(() => 0, 1)',
    'setInterval(() => 0, 1)',
    'performance.now()',
    `fetch('/')`,
    'typeof fetch',
    'void { fetch }',
    'const { send = fetch } = {} as { send?: unknown }; send',
    'crypto.randomUUID()',
    'localStorage',
    'indexedDB',
    'navigator.onLine',
    'process.env',
    'console.log(1)',
    `new URL('/')`,
    'globalThis.fetch',
    `globalThis['fetch']`,
    'const realm = globalThis as { fetch?: unknown }; realm.fetch',
    'const KEY = "fetch"; globalThis[KEY]',
    'AbortSignal.any([])',
    'AbortSignal.timeout(1)',
    `AbortSignal['any']([])`,
    'signal.throwIfAborted()',
    'x instanceof Response',
    'x instanceof Request',
    'x instanceof Headers',
    'x instanceof DOMException',
    'declare const crypto: unknown; crypto',
    'declare global { var fetch: unknown } fetch',
    'class A extends XMLHttpRequest {}',
    'function inner(fetch: unknown) { return fetch; } inner(fetch)',
  ])('ambient: %s', (bad) => {
    for (const layer of ['core', 'dialects', 'engine', 'http']) expect(RULES.ambient({ [`src/${layer}/a.ts`]: `${bad};` })).not.toEqual([]);
  });
});

test.each<[keyof typeof RULES, string, Texts]>([
  [
    'arrows',
    'what the layers allow',
    {
      'src/engine/a.ts': `import '../core/b.js'; import '../errors.js'; import type { Store } from '../ports.js'; import type { Settings } from '../options.js'; import './b.js'; import 'p-retry';`,
    },
  ],
  ['arrows', 'the face for an integration', { 'src/integrations/ky.ts': `import '../entries/index.js';` }],
  ['cycles', 'a shared leaf', { 'src/core/a.ts': `import './b.js'; import './c.js';`, 'src/core/b.ts': `import './c.js';`, 'src/core/c.ts': '' }],
  [
    'reachable',
    'a type, and what is loaded later',
    { 'src/entries/index.ts': `export type { A } from '../ports.js';`, 'src/ports.ts': `export type A = typeof import('./core/a.js');`, 'src/core/a.ts': '' },
  ],
  [
    'packages',
    'a peer behind its own entry',
    { 'src/entries/ky.ts': `export * from '../integrations/ky.js';`, 'src/integrations/ky.ts': `import 'ky'; import 'node:fs';` },
  ],
  ['packages', 'a subpath of a dependency', { 'src/entries/index.ts': `export * from '@noble/hashes/sha2.js';` }],
  [
    'ambient',
    'pure use of the same names',
    { 'src/core/a.ts': `Date.parse('x'); new Date(0); Math.min(1, 2); a.fetch; ({ fetch: 1, crypto() {} }); x instanceof TypeError;` },
  ],
  [
    'ambient',
    'types',
    { 'src/core/a.ts': 'export type A = typeof fetch; export const a = (b: URL, c: typeof globalThis.fetch): Response | Date => c(b) as never;' },
  ],
  [
    'ambient',
    'what is handed in',
    {
      'src/engine/a.ts': `import { clock as performance } from './b.js'; export const a = (fetch: () => void, { crypto }: { crypto: number }) => [fetch(), crypto, { fetch }, performance];`,
    },
  ],
  [
    'ambient',
    'the registry',
    {
      'src/engine/a.ts': `const KEY = Symbol.for('oncefetch'); const realm = globalThis as { [KEY]?: object }; void realm[KEY]; void globalThis[Symbol.for('x')];`,
    },
  ],
  ['synchronous', 'the engine', { 'src/engine/a.ts': 'export const a = async () => await 1;' }],
  ['length', 'what is just short enough', { 'src/core/a.ts': `export function a() {\n${'void 0;\n'.repeat(68)}}\n${'\n'.repeat(180)}` }],
  [
    'defaults',
    'neutral values and options.ts',
    {
      'src/core/a.ts': `export const a = (b = 0, c = '', d = false, e = 'GET') => b ?? c ?? d ?? e ?? 1;`,
      'src/options.ts': 'export const a = (b = 500) => b;',
    },
  ],
])('a rule lets pass: %s: %s', (rule, _, good) => expect(print(RULES[rule](good))).toEqual([]));

test('no test helper registers a hook: files share a worker, so the hook would belong to the first file that imports the helper', () => {
  const helpers = Object.entries(readTexts(root, 'test')).filter(([path]) => !/\.(test|suite)\.ts$|^test\/support\/fresh\.ts$|node_modules/.test(path));
  expect(helpers.length).toBeGreaterThan(100);
  expect(helpers.filter(([, text]) => /^(before|after)(Each|All)\(/m.test(text)).map(([path]) => path)).toEqual([]);
});
