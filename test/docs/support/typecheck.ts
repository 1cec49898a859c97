/** Compiles all snippets in one TypeScript program, under the strictest settings that a user may have. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './markdown.js';
import type { Snippet } from './snippets.js';

const project = join(root, '.tmp', 'docs-types.json');
/** The native compiler of TypeScript 7. Its API is not needed here, and without the API it is five times as fast. */
const tsc = join(root, 'node_modules/typescript-native/bin/tsc');

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noPropertyAccessFromIndexSignature: false,
  types: ['node'],
  jsx: 'react-jsx',
};

/** The errors by snippet, each with its line in the Markdown file. */
export function typeErrors(snippets: readonly Snippet[]): ReadonlyMap<Snippet, readonly string[]> {
  mkdirSync(join(root, '.tmp'), { recursive: true });
  writeFileSync(project, JSON.stringify({ extends: '../tsconfig.json', compilerOptions, include: [], files: snippets.map(({ checked }) => checked) }));
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, '--noEmit', '--pretty', 'false', '--project', project], { cwd: root, encoding: 'utf8' });
  const byFile = new Map(snippets.map((snippet) => [relative(root, snippet.checked).replaceAll('\\', '/'), { snippet, errors: [] as string[] }]));
  // The continuation lines of an error are indented.
  for (const finding of `${stdout}${stderr}`.split(/\r?\n(?=\S)/).filter((text) => text.trim() !== '')) {
    const [, file = '', line, text = ''] = /^(.+?)\((\d+),\d+\): error (.*)/s.exec(finding) ?? [];
    const found = byFile.get(file);
    if (!found) throw new Error(finding);
    found.errors.push(`${placeOf(found.snippet, Number(line))}: ${text.trim()}`);
  }
  return new Map([...byFile.values()].map(({ snippet, errors }) => [snippet, errors]));
}

const placeOf = ({ line, before }: Snippet, inProgram: number): string =>
  inProgram > before ? `line ${line + inProgram - before - 1}` : `setup, line ${inProgram}`;
