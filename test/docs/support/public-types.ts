/** The names and the documentation of the public types. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './markdown.js';

export interface Entry {
  /** As an import names it. */
  readonly specifier: string;
  readonly path: string;
}

/** The entries in `exports` of package.json. */
export const entries: readonly Entry[] = Object.keys((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object }).exports)
  .filter((name) => name !== './package.json')
  .map((name) => ({ specifier: `oncefetch${name.slice(1)}`, path: join(root, 'src/entries', `${name === '.' ? 'index' : name.slice(2)}.ts`) }));

const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: object };
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
const program = ts.createProgram(
  entries.map(({ path }) => path),
  // Only names and comments are needed, so no other types are loaded.
  { ...options, types: [], lib: ['lib.es2022.d.ts'] },
);
const checker = program.getTypeChecker();

export interface Exported {
  readonly specifier: string;
  readonly name: string;
  readonly kind: 'function' | 'class' | 'type' | 'value';
  /** The first sentence of its documentation; empty if there is none. */
  readonly summary: string;
}

function exportsOf({ specifier, path }: Entry): readonly ts.Symbol[] {
  const file = program.getSourceFile(path);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error(`${specifier}: there is no ${path}`);
  return checker.getExportsOfModule(module).map((one) => (one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one));
}

function kindOf(symbol: ts.Symbol): Exported['kind'] {
  if (symbol.flags & ts.SymbolFlags.Class) return 'class';
  if (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) return 'type';
  return checker.getTypeOfSymbol(symbol).getCallSignatures().length > 0 ? 'function' : 'value';
}

/** The first paragraph of its documentation. */
const textOf = (symbol: ts.Symbol): string =>
  (ts.displayPartsToString(symbol.getDocumentationComment(checker)).split('\n\n')[0] ?? '').replaceAll(/\s+/g, ' ').trim();

const firstSentence = (text: string): string => /^.*?[.!?](?=\s+[A-Z`'"]|$)/.exec(text)?.[0] ?? text;

export const exported: readonly Exported[] = entries.flatMap((entry) =>
  exportsOf(entry).map((symbol) => ({ specifier: entry.specifier, name: symbol.name, kind: kindOf(symbol), summary: firstSentence(textOf(symbol)) })),
);

function mainType(name: string): ts.Type {
  const symbol = entries
    .slice(0, 1)
    .flatMap(exportsOf)
    .find((one) => one.name === name);
  if (!symbol) throw new Error(`oncefetch exports no ${name}`);
  return checker.getDeclaredTypeOfSymbol(symbol);
}

export interface Member {
  readonly name: string;
  /** The text of its `@default`. */
  readonly tag: string | undefined;
}

/** The members of a type of the main entry. */
export const membersOf = (name: string): readonly Member[] =>
  mainType(name)
    .getProperties()
    // Users never write a brand such as `~oncefetch`, so brands are left out.
    .filter(({ name }) => !name.startsWith('~'))
    .map((member) => {
      const tag = member.getJsDocTags(checker).find((one) => one.name === 'default');
      return { name: member.name, tag: tag && ts.displayPartsToString(tag.text) };
    });

/** The words of a union of string literals, or of one member in a union of objects. */
export function unionOf(name: string, member?: string): readonly string[] {
  const type = mainType(name);
  const types = type.isUnion() ? type.types : [type];
  return types.map((one) => {
    const property = member === undefined ? undefined : one.getProperty(member);
    const word = property ? checker.getTypeOfSymbol(property) : one;
    return word.isStringLiteral() ? word.value : checker.typeToString(word);
  });
}
