/**
 * Goal: users' programs in `test/types` compile against the built types, and the ones that must not, do not. Method: the
 * compiler, with each resolution that users have. A program that imports an entry which does not exist yet is left out by name.
 */
import { join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { entries, root, specifierOf } from './installed.js';

const folder = join(root, 'test/types');
const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile) as { config: object };
const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder);

const there = new Set(entries.map(specifierOf));

function missingFor(path: string): string[] {
  const text = ts.sys.readFile(path) ?? '';
  const imports = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  const strangers = imports.filter((specifier) => /^[a-z@]/.test(specifier) && !/^(oncefetch|node:)/.test(specifier));
  const absent = strangers.filter((specifier) => !ts.sys.directoryExists(join(root, 'node_modules', specifier)));
  return [...imports.filter((specifier) => /^oncefetch(\/|$)/.test(specifier) && !there.has(specifier)), ...absent];
}

const programs = fileNames.map((path) => ({ path, name: relative(folder, path), missing: missingFor(path) }));
const compiled = programs.filter(({ missing }) => missing.length === 0);

/** What is wrong in our programs and in our types; in a library's own it is the library's. */
function errors(resolution: ts.CompilerOptions): string[] {
  const program = ts.createProgram(
    compiled.map(({ path }) => path),
    { ...options, ...resolution },
  );
  const ours = program.getSourceFiles().filter(({ fileName }) => !relative(root, fileName).startsWith('..') && !fileName.includes('node_modules'));
  return [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...ours.flatMap((file) => ts.getPreEmitDiagnostics(program, file))].map(
    ({ file, start, messageText }) => {
      const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
      return `${file === undefined ? '' : relative(root, file.fileName)}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    },
  );
}

test.for(programs.filter(({ missing }) => missing.length > 0))('$name waits', ({ missing }, { skip }) => {
  skip(`not there yet: ${missing.join(', ')}`);
});

test('what must not compile is among what is compiled', () => {
  expect(compiled.map(({ name }) => name)).toEqual(expect.arrayContaining(['must-not-compile.ts', 'user-1-checkout-without-react.ts']));
});

describe.each<[string, ts.CompilerOptions]>([
  ['a bundler', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ['Node', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
])('as %s resolves it', (_, resolution) => {
  test(`compiles ${compiled.map(({ name }) => name).join(', ')}`, () => {
    expect(errors(resolution)).toEqual([]);
  });
});
