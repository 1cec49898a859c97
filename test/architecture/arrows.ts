/** Who may import whom. */
import ts from 'typescript';
import { type Finding, finding, type Import, type Sources } from './sources.js';

const JOINED = ['core', 'dialects', 'engine', 'errors', 'http', 'option-types', 'options', 'platform', 'ports', 'stores'];

/** A layer is a folder of `src`, or a file there; `face` is `src/entries/index.ts`. Each may also import itself. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  texts: [],
  core: ['texts'],
  ports: ['core'],
  errors: ['core', 'texts'],
  dialects: ['core', 'texts'],
  engine: ['core', 'errors', 'http', 'ports', 'texts'],
  // Requests that can be sent again, the transport, and the reading of answers.
  http: ['core', 'engine', 'errors', 'ports', 'texts'],
  stores: ['core', 'errors', 'ports'],
  platform: ['core', 'errors', 'ports', 'texts'],
  // Asks a real server what it does with keys, for the command and for tests.
  probe: ['core', 'dialects'],
  testing: ['core', 'dialects', 'errors', 'ports', 'probe', 'stores'],
  // The command.
  cli: ['probe'],
  integrations: ['face'],
  // The panel for development. It reads the inside of a client, and acts through the package's own functions.
  devtools: ['check', 'core', 'engine', 'ports'],
  // The types of options, their checks, and what is used if an option is not given.
  'option-types': ['core', 'ports'],
  check: ['core', 'texts'],
  // Checks of arguments that only a mistake in the code makes wrong.
  arguments: ['core', 'texts'],
  'arguments-lean': [],
  'option-spec': ['check', 'core', 'option-types', 'texts'],
  'option-spec-lean': ['option-spec'],
  options: ['check', 'core', 'dialects', 'option-spec', 'option-types', 'ports', 'texts'],
  'default-store': ['ports', 'stores'],
  origins: ['core', 'option-types', 'ports', 'texts'],
  once: ['default-store', 'texts', ...JOINED],
  features: ['arguments', 'check', 'core', 'engine', 'errors', 'http', 'once', 'option-types', 'options', 'origins', 'ports', 'texts'],
  everything: ['features', 'option-types'],
  node: ['everything', 'once', 'option-types', 'platform'],
  'react-native': ['everything', 'once', 'option-types', 'platform', 'ports', 'stores'],
  'react-native-bundle': ['entries', 'react-native'],
  entries: ['devtools', 'face', 'features', 'node', 'once', 'react-native', 'integrations', 'probe', 'testing', ...JOINED],
};

/** The engine gets its settings from outside, and their types stand beside their defaults. Texts describe types of core. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  engine: ['options', 'option-types'],
  http: ['options', 'option-types'],
  texts: ['core'],
  // An integration that is itself a feature names the types of its parts.
  integrations: ['engine'],
};

/** A feature imports no other feature. These files are parts of one feature. */
const PARTS: Readonly<Record<string, string>> = {
  'src/features/moved-keys.ts': 'src/features/move.ts',
  'src/features/moved-known.ts': 'src/features/move.ts',
  'src/features/result-schema.ts': 'src/features/run.ts',
  'src/features/unnamed-requests.ts': 'src/features/unnamed.ts',
};

const featureOf = (path: string): string => PARTS[path] ?? path;

const layerOf = (path: string): string => path.replace(/^src\//, '').replace(/\/.*|\.tsx?$/, '');

const at = ({ from, line }: Import): string => `${from}:${line}`;

export function checkArrows({ files, imports }: Sources): Finding[] {
  const strangers = [...files.keys()].filter((path) => !(layerOf(path) in MAY_IMPORT));
  return [
    ...strangers.map((path) => ({ at: path, says: `${layerOf(path)} is no layer: name it in MAY_IMPORT` })),
    ...imports.flatMap((one): Finding[] => {
      if (one.to === undefined) return [];
      if (!one.specifier.endsWith('.js')) return [{ at: at(one), says: `write '${one.specifier}' with its .js extension` }];
      const [from, to] = [layerOf(one.from), layerOf(one.to)];
      if (from === 'features' && to === 'features' && featureOf(one.to) !== featureOf(one.from))
        return [{ at: at(one), says: `a feature must not import another one (${one.specifier})` }];
      const allowed = [from, ...(MAY_IMPORT[from] ?? []), ...((one.kind === 'type' && MAY_IMPORT_TYPES[from]) || [])];
      if (allowed.includes(to) || (one.to === 'src/entries/index.ts' && allowed.includes('face'))) return [];
      return [{ at: at(one), says: `${from} must not import ${to} (${one.specifier})` }];
    }),
  ];
}

/** Cycles of imports, those of types included: two files that need each other's types can't be read one after the other. */
export function checkCycles({ files, imports }: Sources): Finding[] {
  const found: Finding[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push({ at: path, says: `imports itself: ${[...trail.slice(start), path].join(' -> ')}` });
    if (start >= 0 || done.has(path)) return;
    for (const { from, to, kind } of imports) if (from === path && kind !== 'lazy' && to !== undefined) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return found;
}

const isEntry = (path: string): boolean => /^src\/(entries\/[^/]+|react-native-bundle\.ts)$/.test(path);

/** Nothing imports this file: `bin` of package.json names what is built from it. */
const COMMAND = 'src/cli.ts';

/** Production builds put these files in the places of others (`scripts/lean.mjs`, `tsup.config.ts`). */
const TWINS = [
  'src/texts/lean.ts',
  'src/option-spec-lean.ts',
  'src/arguments-lean.ts',
  'src/dialects/definition-check-lean.ts',
  'src/stores/memory-records-lean.ts',
  'src/stores/only-options-lean.ts',
  'src/engine/memory-room-lean.ts',
  'src/engine/owner-lean.ts',
  'src/engine/nested-lean.ts',
  'src/engine/channel-lean.ts',
  'src/http/native-lean.ts',
  'src/http/fetch-options-lean.ts',
  'src/platform/detect-lean.ts',
  'src/devtools/off.ts',
];

export function checkReachable(sources: Sources): Finding[] {
  const reached = sources.reach([...TWINS, COMMAND, ...[...sources.files.keys()].filter(isEntry)], ['value', 'type', 'lazy']);
  return [...sources.files.keys()].filter((path) => !reached.has(path)).map((path) => ({ at: path, says: 'no entry leads here' }));
}

/** An entry only re-exports, apart from a directive to bundlers; `ports.ts` has only types. */
export function checkShapes({ files }: Sources): Finding[] {
  const directive = (node: ts.Statement): boolean => ts.isExpressionStatement(node) && ts.isStringLiteral(node.expression);
  const reExport = (node: ts.Statement): boolean => directive(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined);
  const type = (node: ts.Statement): boolean =>
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true) ||
    (ts.isExportDeclaration(node) && node.isTypeOnly);
  return [...files.values()].flatMap((file) => {
    const [rule, says] = isEntry(file.fileName)
      ? [reExport, 'an entry only re-exports']
      : file.fileName === 'src/ports.ts'
        ? [type, 'ports are types only']
        : [];
    return rule === undefined || says === undefined ? [] : file.statements.filter((node) => !rule(node)).map((node) => finding(node, says));
  });
}

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/**
 * Packages come from `dependencies`, or from `peerDependencies` behind an entry of their own: the main entry must load without them, and without Node. A
 * development dependency would be bundled silently.
 */
export function checkPackages(sources: Sources, { dependencies = {}, peerDependencies = {} }: Manifest): Finding[] {
  const main = sources.reach(['src/entries/index.ts'], ['value']);
  return sources.imports.flatMap((one): Finding[] => {
    if (one.to !== undefined) return [];
    const name = packageOf(one.specifier);
    // An entry beside the main one may import what an app may import.
    if (name === 'oncefetch' && /^src\/(integrations|devtools)\//.test(one.from)) return [];
    if (one.specifier.startsWith('node:'))
      return main.has(one.from) && one.kind === 'value' ? [{ at: at(one), says: `the main entry must load without ${name}` }] : [];
    if (name in dependencies) return [];
    if (!(name in peerDependencies)) return [{ at: at(one), says: `${name} is neither a dependency nor a peer` }];
    return main.has(one.from) && one.kind !== 'lazy' ? [{ at: at(one), says: `the main entry must load without ${name}` }] : [];
  });
}
