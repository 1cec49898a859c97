/**
 * Goal: the types of what `once.fetch` accepts and returns are right with and without the DOM library, with each module
 * resolution, and with the oldest supported TypeScript. Method: compiles a user's program against the built types with
 * each of these compilers; the program marks what must not compile.
 */
import { join, relative } from 'node:path';
import latest from 'typescript';
import oldest from 'typescript-5.4';
import { describe, expect, test } from 'vitest';
import { root } from './installed.js';

const program = (name: string): string => join(root, 'test/types/fetch-types', name);
const PROGRAM = program('program.ts');
/** Imports the entries that are for pages only. */
const PAGE = program('page.ts');
const COMMONJS = program('commonjs.cts');

const COMPILERS: [string, typeof latest][] = [
  [oldest.version, oldest as unknown as typeof latest],
  [latest.version, latest],
];
const LIBRARIES: [string, string[], { lib: string[]; types: string[] }][] = [
  ['the DOM library', [PROGRAM, PAGE], { lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: [] }],
  ["Node's types and no DOM library", [PROGRAM], { lib: ['lib.es2023.d.ts'], types: ['node'] }],
  ['both', [PROGRAM, PAGE], { lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: ['node'] }],
];

/** A compiler parses each long library only once, and reuses the result in its next programs with the same kind of modules. */
const parsed = new Map<string, latest.SourceFile | undefined>();

function hostOf(ts: typeof latest, options: latest.CompilerOptions): latest.CompilerHost {
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, how, ...rest) => {
    const key = [ts.version, options.module, JSON.stringify(how), name].join(' ');
    if (!parsed.has(key)) parsed.set(key, getSourceFile(name, how, ...rest));
    return parsed.get(key);
  };
  return host;
}

/** The errors in the programs and in our types. Errors in a library's own types are not ours. */
function errors(ts: typeof latest, programs: string[], libraries: latest.CompilerOptions): string[] {
  const options = { target: ts.ScriptTarget.ES2022, strict: true, exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, noEmit: true, ...libraries };
  const compiled = ts.createProgram(programs, options, hostOf(ts, options));
  const ours = compiled.getSourceFiles().filter(({ fileName }) => !relative(root, fileName).startsWith('..') && !fileName.includes('node_modules'));
  return [...compiled.getOptionsDiagnostics(), ...ours.flatMap((file) => ts.getPreEmitDiagnostics(compiled, file))].map(
    ({ file, start, messageText }) =>
      `${file && relative(root, file.fileName)}:${file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
}

describe.each(COMPILERS)('TypeScript %s', (_, ts) => {
  describe.each(LIBRARIES)('with %s', (_, programs, libraries) => {
    test.each([
      ['a bundler', [], { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, skipLibCheck: false }],
      ['Node', [COMMONJS], { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: false }],
      ['Node, libraries unchecked', [COMMONJS], { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true }],
    ])('as %s resolves it', (_, further, resolution) => expect(errors(ts, [...programs, ...further], { ...libraries, ...resolution })).toEqual([]));
  });
});
