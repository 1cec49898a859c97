/** Globals that core, dialects, engine and http must not touch: these layers get the world through ports, and must run on platforms that have few globals. */
import ts from 'typescript';
import { type Finding, finding, walk } from './sources.js';

const BANNED = new Set(
  [
    'setTimeout setInterval setImmediate clearTimeout clearInterval requestAnimationFrame performance',
    'fetch XMLHttpRequest crypto localStorage sessionStorage indexedDB navigator BroadcastChannel document location window self',
    'process require Buffer console URL',
  ].flatMap((line) => line.split(' ')),
);

/** What is wrong with this use of a global, if anything is. */
const JUDGED: Readonly<Record<string, (use: ts.Identifier, checker: ts.TypeChecker) => string | undefined>> = {
  Date: (use) => {
    const { parent } = use;
    const pure = ts.isNewExpression(parent) ? parent.arguments?.length : memberOf(use) === 'parse' || memberOf(use) === 'UTC' || isInstanceOf(use);
    return pure ? undefined : 'Date reads the clock';
  },
  Math: (use) => (memberOf(use) === undefined || memberOf(use) === 'random' ? 'Math may be random' : undefined),
  AbortSignal: (use) => (memberOf(use) === 'abort' || isInstanceOf(use) ? undefined : 'AbortSignal.any and .timeout are not everywhere'),
  globalThis: (use, checker) => (isRegistryAccess(use, checker) ? undefined : 'globalThis, but for a member under Symbol.for()'),
  ...Object.fromEntries(
    ['Response', 'Request', 'Headers', 'DOMException'].map((name) => [
      name,
      (use: ts.Identifier) => (isInstanceOf(use) ? `instanceof ${name} fails across realms and polyfills` : undefined),
    ]),
  ),
};

/** Finds uses of globals. No type library is loaded, so a name that no file declares is a global. */
export function checkAmbient(files: readonly ts.SourceFile[]): Finding[] {
  const checker = checkerOf(files);
  return files.flatMap((file) => {
    const found: Finding[] = [];
    const visit = (node: ts.Node): void => {
      const says = ts.isIdentifier(node) ? judge(node, checker) : undefined;
      if (says !== undefined) found.push(finding(node, says));
      node.forEachChild((child) => {
        if (!isTypeOnly(child)) visit(child);
      });
    };
    visit(file);
    return found;
  });
}

export function checkSynchronous(files: readonly ts.SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const found: Finding[] = [];
    walk(file, (node) => {
      if (node.kind === ts.SyntaxKind.AsyncKeyword) found.push(finding(node, 'no async here'));
      if (node.kind === ts.SyntaxKind.AwaitKeyword || ts.isAwaitExpression(node)) found.push(finding(node, 'no await here'));
    });
    return found;
  });
}

function judge(node: ts.Identifier, checker: ts.TypeChecker): string | undefined {
  const { text } = node;
  if (text === 'throwIfAborted') return 'throwIfAborted is not everywhere';
  if (isName(node) || !(BANNED.has(text) || Object.hasOwn(JUDGED, text)) || !isGlobal(node, checker)) return undefined;
  return BANNED.has(text) ? `${text} is ambient` : JUDGED[text]?.(node, checker);
}

/** Whether this is the name of a member, a declaration or a label, which refers to nothing. */
function isName(node: ts.Identifier): boolean {
  const parent: { name?: ts.Node; propertyName?: ts.Node; label?: ts.Node } = node.parent as object;
  return !ts.isShorthandPropertyAssignment(node.parent) && (parent.name === node || parent.propertyName === node || parent.label === node);
}

function isGlobal(node: ts.Identifier, checker: ts.TypeChecker): boolean {
  const { parent } = node;
  const symbol = ts.isShorthandPropertyAssignment(parent) ? checker.getShorthandAssignmentValueSymbol(parent) : checker.getSymbolAtLocation(node);
  return (symbol?.declarations ?? []).every(isAmbient);
}

/** `declare` names a global, and so does `declare global`. */
const isAmbient = (declaration: ts.Declaration): boolean =>
  (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Ambient) !== 0 || ts.findAncestor(declaration, ts.isModuleDeclaration) !== undefined;

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isHeritageClause(node)) return node.token === ts.SyntaxKind.ImplementsKeyword;
  if (ts.isExpressionWithTypeArguments(node)) return false;
  return ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isModuleDeclaration(node);
}

const memberOf = ({ parent }: ts.Identifier): string | undefined => (ts.isPropertyAccessExpression(parent) ? parent.name.text : undefined);

const isInstanceOf = ({ parent }: ts.Identifier): boolean => ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;

/** Whether this is `globalThis[Symbol.for('…')]`, or a cast to a type that has only such members; the symbol may be in place or in a constant. */
function isRegistryAccess(use: ts.Identifier, checker: ts.TypeChecker): boolean {
  const isKey = (node: ts.Node): boolean => {
    const [declaration] = ts.isIdentifier(node) ? (checker.getSymbolAtLocation(node)?.declarations ?? []) : [];
    const key = declaration !== undefined && ts.isVariableDeclaration(declaration) ? declaration.initializer : node;
    return key !== undefined && ts.isCallExpression(key) && key.expression.getText() === 'Symbol.for';
  };
  const { parent } = use;
  if (ts.isElementAccessExpression(parent)) return parent.expression === use && isKey(parent.argumentExpression);
  if (!ts.isAsExpression(parent) || !ts.isTypeLiteralNode(parent.type)) return false;
  return parent.type.members.every(({ name }) => name !== undefined && ts.isComputedPropertyName(name) && isKey(name.expression));
}

function checkerOf(files: readonly ts.SourceFile[]): ts.TypeChecker {
  const options: ts.CompilerOptions = {
    noLib: true,
    noResolve: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    moduleDetection: ts.ModuleDetectionKind.Force,
  };
  const byPath = new Map(files.map((file) => [file.fileName, file]));
  const host: ts.CompilerHost = {
    getSourceFile: (path) => byPath.get(path),
    fileExists: (path) => byPath.has(path),
    readFile: (path) => byPath.get(path)?.text,
    writeFile: () => undefined,
    getDefaultLibFileName: () => 'lib.d.ts',
    getCurrentDirectory: () => '',
    getCanonicalFileName: (path) => path,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
  };
  return ts.createProgram([...byPath.keys()], options, host).getTypeChecker();
}
