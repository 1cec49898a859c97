/**
 * Mutation testing: changes the sources of core, engine and http in every way that StrykerJS knows, and by leaving out one statement at
 * a time, and reports the changes that no test notices. `npm run test:mutation -- --slice core`, or `engine`, or files.
 */
import '../require-node.mjs';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Works on a copy, so that it never touches the sources themselves. */
const copy = join(root, '.tmp', 'mutation');

/** The results of the last run. A run judges only mutants of changed code again, and survivors that a new test reaches. */
const known = join(root, '.tmp', 'mutation-incremental.json');

const { values } = parseArgs({
  options: {
    slice: { type: 'string', multiple: true, default: ['core', 'engine', 'http'] },
    /** Folders of tests. Fewer folders take a fraction of the time, and let more mutants survive. */
    tests: { type: 'string', default: 'core,engine,properties,errors,dialects' },
    /** Judges all mutants again. */
    force: { type: 'boolean', default: false },
  },
});

/** @param {string} slice */
const filesOf = (slice) => {
  if (slice.endsWith('.ts')) return [slice];
  return readdirSync(join(root, 'src', slice))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${slice}/${name}`);
};

/**
 * Puts braces around each statement that has neighbours: Stryker can empty a block, but does not remove single
 * statements.
 * @param {string} text
 */
function withBraces(text) {
  /** @type {[at: number, what: string][]} */
  const inserts = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const among = ts.isBlock(node.parent) || ts.isCaseOrDefaultClause(node.parent) ? node.parent.statements.length : 0;
    if (ts.isExpressionStatement(node) && among > 1 && !/^super\(/.test(node.getText())) inserts.push([node.getStart(), '{'], [node.getEnd(), '}']);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true), visit);
  let out = text;
  for (const [at, what] of inserts.sort(([a], [b]) => b - a)) out = out.slice(0, at) + what + out.slice(at);
  return out;
}

/** @param {readonly string[]} files */
function prepare(files) {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const name of ['src', 'test', 'docs', 'scripts', 'package.json', 'tsconfig.json']) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
  for (const file of files) if (!existsSync(join(copy, file))) throw new Error(`there is no ${file}`);
  // Braces go into all files that may be mutated, so that earlier results for files outside the slice stay valid.
  for (const file of ['core', 'engine', 'http'].flatMap(filesOf)) writeFileSync(join(copy, file), withBraces(readFileSync(join(copy, file), 'utf8')));
}

const files = values.slice.flatMap(filesOf);
prepare(files);
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/@stryker-mutator/core/bin/stryker.js',
    'run',
    'scripts/mutation/stryker.json',
    ...['--mutate', files.join(',')],
    ...['--incremental', '--incrementalFile', known],
    ...(values.force ? ['--force'] : []),
  ],
  { cwd: copy, stdio: 'inherit', env: { ...process.env, MUTATION_TESTS: values.tests } },
);
if (status !== 0) process.exit(status ?? 1);
const { leftOut } = JSON.parse(readFileSync(join(copy, 'left-out.json'), 'utf8'));
for (const one of leftOut) console.log(`left out, because it fails without a mutant: ${one}`);
