/** All snippets in one TypeScript program, under the strictest settings that a user may have. */
import { join, relative } from 'node:path';
import ts from 'typescript';
import { root } from './markdown.js';
import type { Snippet } from './snippets.js';

/** Findings by snippet, each at its line in the Markdown file. */
export function typeErrors(snippets: readonly Snippet[]): ReadonlyMap<Snippet, readonly string[]> {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const strict = {
    ...options,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    noPropertyAccessFromIndexSignature: false,
    types: ['node'],
    jsx: ts.JsxEmit.ReactJSX,
  };
  const program = ts.createProgram(
    snippets.map(({ checked }) => checked),
    strict,
  );
  const broken = program.getOptionsDiagnostics();
  if (broken.length) throw new Error(broken.map(textOf).join('\n'));
  return new Map(snippets.map((snippet) => [snippet, errorsOf(program, snippet)]));
}

function errorsOf(program: ts.Program, { checked, line, before, at }: Snippet): readonly string[] {
  const file = program.getSourceFile(checked);
  if (!file) throw new Error(`${at}: ${relative(root, checked)} is not in the program`);
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map((diagnostic) => {
    const inProgram = file.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line + 1;
    const where = inProgram > before ? `line ${line + inProgram - before - 1}` : `setup, line ${inProgram}`;
    return `${where}: ${textOf(diagnostic)}`;
  });
}

const textOf = ({ messageText }: ts.Diagnostic): string => ts.flattenDiagnosticMessageText(messageText, '\n');
