/** Goal: the numbers and tables of README match the code. Method: reads each one, and compares it with its source. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { leanTwins } from '../../scripts/lean.mjs';
import { fencesOf, readPage, root, tableUnder } from './support/markdown.js';
import { entries } from './support/public-types.js';

const SIZE = /^- \*\*([\d.]+) kB\*\* gzipped/m;

/** `UPDATE_DOCS=1` writes what can be written automatically. */
const update = process.env['UPDATE_DOCS'] !== undefined;
const bytes = await bytesOfCreateOnce();
if (update) {
  const { text } = readPage('README.md');
  writeFileSync(join(root, 'README.md'), text.replace(SIZE, `- **${Math.ceil(bytes / 100) / 10} kB** gzipped`));
}

const readme = readPage('README.md');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  engines: { node: string };
  version: string;
};

/** Measures like `npm run size`, but from the sources, so that no build is needed. */
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

describe('the introduction', () => {
  const [top = ''] = readme.text.split('\n## ');

  test('promises in one sentence', () => expect(top).toMatch(/^# oncefetch\n\n> [^\n]+\.\n\n- /));

  test('says how much createOnce adds to a page, in kB (UPDATE_DOCS=1 writes it)', () => {
    const said = Number(SIZE.exec(top)?.[1]);
    expect(said, `createOnce is ${bytes} B`).toBeGreaterThanOrEqual(bytes / 1000);
    expect(said, `createOnce is ${bytes} B`).toBeLessThan(bytes / 1000 + 1);
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

test('the package to install has the current version', () => {
  expect(readme.text).toContain(`oncefetch-${manifest.version}.tgz`);
  expect(readme.text).toContain(`Version ${manifest.version} `);
});

test('the entries are those of the package, with their peers', () => {
  const rows = new Map(tableUnder(readme, '## Install').map(([entry = '', wants = '']) => [plainName(entry), wants]));
  expect([...rows.keys()].sort()).toEqual(entries.map(({ specifier }) => specifier).sort());
  const peers = { '@opentelemetry/api': 'oncefetch/opentelemetry', ky: 'oncefetch/ky', react: 'oncefetch/react' };
  expect(Object.keys(peers).sort()).toEqual(Object.keys(manifest.peerDependencies).sort());
  for (const [peer, entry] of Object.entries(peers)) {
    // The package can be installed beside any ky, but `oncefetch/ky` needs the version that its tests use.
    const version = `${manifest.peerDependencies[peer]} ${manifest.devDependencies[peer]}`;
    expect(rows.get(entry)?.toLowerCase()).toContain(`${peer} ${/\d+/.exec(version)?.[0]}`);
  }
});

const plainName = (cell: string): string => cell.replaceAll('`', '');

test('it has at most 150 lines, and says what oncefetch does not do', () => {
  expect(readme.text.split('\n').length).toBeLessThanOrEqual(150);
  expect(readme.text).toMatch(/\n## What it does, and what it does not\n[\s\S]*Chromium sends a POST again/);
});

test('the files that it names exist', () => {
  const named = [...readme.text.matchAll(/`((?:test|playground|src|docs|scripts)\/[\w./-]*)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
