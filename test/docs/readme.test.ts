/** Goal: the numbers and tables of README are those of the code. Method: each is read, and compared with where it comes from. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { leanTwins } from '../../scripts/lean.mjs';
import { indexedDbStore, localStorageStore, memoryStore } from '../../src/entries/index.js';
import { clientSettings } from '../../src/options.js';
import { fencesOf, readPage, root, tableUnder } from './support/markdown.js';
import { entries, membersOf, unionOf } from './support/public-types.js';

const SIZE = /^- \*\*(\d+) kB\*\* gzipped/m;
const cellOf = (tag: string): string => (/^'[\w-]+'$/.test(tag) ? `\`${tag}\`` : tag);

/** What can be written by itself is: `UPDATE_DOCS=1`. */
const update = process.env['UPDATE_DOCS'] !== undefined;
const bytes = await bytesOfCreateOnce();
const { members, tags } = publicOptions();
if (update) {
  const { text } = readPage('README.md');
  const sized = text.replace(SIZE, `- **${Math.ceil(bytes / 1000)} kB** gzipped`);
  const rows = sized.replaceAll(/^\| `([\w.]+)` \| ([^|]*) \|/gm, (row, name: string) =>
    tags.has(name) ? `| \`${name}\` | ${cellOf(tags.get(name) ?? '')} |` : row,
  );
  writeFileSync(join(root, 'README.md'), rows);
}

const readme = readPage('README.md');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  engines: { node: string };
  version: string;
};

/** As `npm run size` does it, but from the sources, so that nothing has to be built for it. */
async function bytesOfCreateOnce(): Promise<number> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: "export { createOnce } from 'oncefetch'", resolveDir: root },
    alias: { oncefetch: join(root, 'src/entries/index.ts') },
    plugins: [leanTwins],
    absWorkingDir: root,
    outdir: join(root, 'dist'),
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    external: ['node:*'],
    write: false,
    metafile: true,
  });
  const sizes = Object.fromEntries(outputFiles.map(({ path, contents }) => [path, gzipSync(contents, { level: 9 }).length]));
  const first = new Set(Object.keys(metafile.outputs).filter((path) => metafile.outputs[path]?.entryPoint === '<stdin>'));
  for (const path of first)
    for (const { kind, path: to } of metafile.outputs[path]?.imports ?? []) if (kind === 'import-statement' && to in metafile.outputs) first.add(to);
  return [...first].reduce((total, path) => total + (sizes[join(root, path)] ?? 0), 0);
}

/** Every option by the name that README gives it, and what its documentation says of its default. */
function publicOptions(): { readonly members: ReadonlySet<string>; readonly tags: ReadonlyMap<string, string> } {
  const groups = { keep: membersOf('Keep'), limits: membersOf('Limits') };
  const single = [...membersOf('OnceOptions'), ...membersOf('OperationOptions')].filter(({ name }) => !(name in groups));
  const all = [...single, ...Object.entries(groups).flatMap(([group, own]) => own.map(({ name, tag }) => ({ name: `${group}.${name}`, tag })))];
  return { members: new Set(all.map(({ name }) => name)), tags: new Map(all.flatMap(({ name, tag }) => (tag === undefined ? [] : [[name, tag]]))) };
}

describe('the first screen', () => {
  const [top = ''] = readme.text.split('\n## ');

  test('promises in one sentence', () => {
    expect(top).toMatch(/^# oncefetch\n\n> [^\n]+\.\n\n- /);
  });

  test('says what a page pays for createOnce, in kB (UPDATE_DOCS=1 writes it)', () => {
    const said = Number(SIZE.exec(top)?.[1]);
    expect(said, `createOnce is ${bytes} B`).toBeGreaterThanOrEqual(bytes / 1000);
    expect(said, `createOnce is ${bytes} B`).toBeLessThan(bytes / 1000 + 2);
  });

  test('names every dependency', () => {
    const names = Object.keys(manifest.dependencies);
    expect(top).toContain(`- **${names.length} dependencies**:`);
    for (const name of names) expect(top).toContain(`[${name}](`);
  });

  test('says where it runs', () => {
    expect(top).toContain(`Node ${manifest.engines.node.replace('>=', '')} or later`);
    expect(top).toContain(`in Node ${manifest.devDependencies['node']?.split('.')[0]}`);
  });

  test('has an example of twelve lines', () => {
    const [example] = fencesOf({ path: 'README.md', text: top });
    expect(example?.code.trimEnd().split('\n')).toHaveLength(12);
  });
});

test('the package that is to be installed has the present version', () => {
  expect(readme.text).toContain(`oncefetch-${manifest.version}.tgz`);
  expect(readme.text).toContain(`Version ${manifest.version} `);
});

test('the entries are those of the package, with their peers', () => {
  const rows = new Map(tableUnder(readme, '## Install').map(([entry = '', wants = '']) => [plainName(entry), wants]));
  expect([...rows.keys()].sort()).toEqual(entries.map(({ specifier }) => specifier).sort());
  const peers = { ky: 'oncefetch/ky', react: 'oncefetch/react', msw: 'oncefetch/testing' };
  expect(Object.keys(peers).sort()).toEqual(Object.keys(manifest.peerDependencies).sort());
  for (const [peer, entry] of Object.entries(peers))
    expect(rows.get(entry)?.toLowerCase()).toContain(`${peer} ${/\d+/.exec(manifest.peerDependencies[peer] ?? '')?.[0]}`);
});

describe('outcomes and errors', () => {
  const [outcomes, codes] = [
    tableUnder(readme, '## Outcomes and errors'),
    tableUnder({ ...readme, text: readme.text.slice(readme.text.indexOf('An error is an')) }, ''),
  ];

  test('has every type of outcome', () => {
    expect(outcomes.map(([, type]) => type?.replaceAll('`', ''))).toEqual(unionOf('Ending', 'type'));
  });

  test('has every code', () => {
    expect(codes.map(([code]) => code?.replaceAll('`', '')).sort()).toEqual([...unionOf('OnceErrorCode')].sort());
  });
});

describe('the options', () => {
  const text = readme.text.slice(readme.text.indexOf('\n## Options'));
  const tables = ['Of a client, `createOnce', 'Of a client, and of one call', 'Of one call only'].map((start) =>
    tableUnder({ ...readme, text: `\n\n${text.slice(text.indexOf(start))}` }, ''),
  );
  const rows = new Map(tables.flat().map(([name = '', value = '']) => [name.replaceAll('`', ''), value]));
  const plain = (words: string): string => words.replaceAll('`', '');

  test('are all there, and no others', () => {
    expect([...rows.keys()].sort()).toEqual([...members].sort());
  });

  test.each([...tags])('%s: its default is the one in its documentation (UPDATE_DOCS=1 writes it)', (name, tag) => {
    expect(plain(rows.get(name) ?? '')).toBe(plain(tag));
  });

  test('the defaults in the documentation are those of the code', () => {
    const { limits, keep, backoff, budget, tuning, ...settings } = clientSettings({});
    const digits = (value: unknown): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, '_');
    for (const [name, value] of Object.entries(limits)) expect(rows.get(`limits.${name}`), name).toContain(digits(value));
    expect(rows.get('keep.forMs')).toContain(digits(keep.forMs));
    expect(rows.get('keep.request')).toBe(String(keep.request));
    expect(rows.get('keep.response')).toMatch(new RegExp(`'${tuning.responseElsewhere}'.*'${tuning.responseOnServer}'.*on a server`));
    expect(rows.get('retry')).toBe(`${backoff.minDelayMs} ms to ${digits(backoff.maxDelayMs)} ms, factor ${backoff.factor}, budget ${budget}`);
    for (const name of ['repeat', 'whenBusy'] as const) expect(rows.get(name)).toBe(`\`'${settings[name]}'\``);
  });
});

test('the stores are what they claim to be', () => {
  const stores = { 'indexedDbStore()': indexedDbStore(), 'localStorageStore()': localStorageStore(), 'memoryStore()': memoryStore() };
  const rows = tableUnder(readme, '## Choosing a store').filter(([name = '']) => plainName(name) in stores);
  expect(rows.map(([name = '', reload, crash, tabs]) => [plainName(name), reload, crash?.startsWith('yes'), tabs])).toEqual(
    Object.entries(stores).map(([name, { kind, survives, shared }]) => [
      name,
      kind === 'memory' ? 'no' : 'yes',
      survives !== 'context',
      shared === 'context' ? 'no' : 'yes',
    ]),
  );
});

const plainName = (cell: string): string => cell.replaceAll('`', '');

test('the files that it names are there', () => {
  const named = [...readme.text.matchAll(/`((?:test|playground|src|docs|scripts)\/[\w./-]*)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
