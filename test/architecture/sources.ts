/** The sources of `src`, parsed, and what they import. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** Path from the project's root, with `/`, and text. */
export type Texts = Readonly<Record<string, string>>;

export interface Finding {
  readonly at: string;
  readonly says: string;
}

export interface Import {
  readonly from: string;
  readonly line: number;
  readonly specifier: string;
  /** The source file that the import names, which may be missing; `undefined` for a package. */
  readonly to: string | undefined;
  /** `type`: gone after compiling. `lazy`: `import()`. */
  readonly kind: 'value' | 'type' | 'lazy';
}

export class Sources {
  readonly files: ReadonlyMap<string, ts.SourceFile>;
  readonly imports: readonly Import[];

  constructor(texts: Texts) {
    const parsed = Object.entries(texts).map(([path, text]) => [path, ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)] as const);
    this.files = new Map(parsed);
    this.imports = parsed.flatMap(([, file]) => importsOf(file, (path) => path in texts));
  }

  within(folder: string): readonly ts.SourceFile[] {
    return [...this.files.values()].filter((file) => file.fileName.startsWith(folder));
  }

  /** Every file that these files lead to, themselves included. */
  reach(starts: readonly string[], kinds: readonly Import['kind'][]): ReadonlySet<string> {
    const seen = new Set(starts.filter((path) => this.files.has(path)));
    for (const path of seen) {
      for (const { from, to, kind } of this.imports) {
        if (from === path && to !== undefined && this.files.has(to) && kinds.includes(kind)) seen.add(to);
      }
    }
    return seen;
  }
}

export function readTexts(root: string, folder: string): Texts {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => posix.join(folder, path.replaceAll('\\', '/')));
  return Object.fromEntries(paths.filter((path) => /\.tsx?$/.test(path)).map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

export const lineOf = (node: ts.Node): number => {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
};

export const finding = (node: ts.Node, says: string): Finding => ({ at: `${node.getSourceFile().fileName}:${lineOf(node)}`, says });

export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

function importsOf(file: ts.SourceFile, exists: (path: string) => boolean): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, kind: Import['kind']): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    found.push({ from: file.fileName, line: lineOf(specifier), specifier: specifier.text, to: resolve(file.fileName, specifier.text, exists), kind });
  };
  walk(file, (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly ? 'type' : 'value');
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? 'type' : 'value');
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, 'type');
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], 'lazy');
    else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) add(node.moduleReference.expression, 'value');
  });
  return found;
}

function resolve(from: string, specifier: string, exists: (path: string) => boolean): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(posix.dirname(from), specifier).replace(/\.js$/, '');
  return exists(`${path}.tsx`) ? `${path}.tsx` : `${path}.ts`;
}
