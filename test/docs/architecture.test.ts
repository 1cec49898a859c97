/** Goal: docs/architecture.md matches the sources. Method: compares its paths, its table of layers and its attacks with the repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { MAY_IMPORT } from '../architecture/arrows.js';
import { walk } from '../architecture/sources.js';
import { readPage, root, tableUnder } from './support/markdown.js';

const page = readPage('docs/architecture.md');

describe('paths', () => {
  const named = [...page.text.matchAll(/`((?:src|test)\/[^`\s]*)`/g)].map(([, path = '']) => path);
  const paths = [...new Set(named)].filter((path) => !path.includes('<name>'));

  test('the page names paths', () => expect(paths.length).toBeGreaterThan(80));

  test.each(paths)('%s exists', (path) => expect(existsSync(join(root, path))).toBe(true));
});

describe('functions', () => {
  const WAY = '### The way of a key';
  const namesIn = (text: string): string[] => [...text.matchAll(/`([A-Za-z]\w*)`/g)].map(([, name = '']) => name);
  const inProse = [...page.text.matchAll(/((?:`[A-Za-z]\w*`(?:, | and | of )?)+) in `(src\/[^`]+\.ts)`/g)].map(
    ([, names = '', path = '']) => [path, namesIn(names)] as const,
  );
  const way = tableUnder(page, WAY).map(([path = '', names = '']) => [path.replaceAll('`', ''), namesIn(names)] as const);
  const named = [...inProse, ...way.filter(([path]) => path.endsWith('.ts'))].flatMap(([path, names]) => names.map((name) => ({ name, path })));

  test('the page names functions', () => expect(named.length).toBeGreaterThan(50));

  test.each(named)('$name is in $path', ({ name, path }) => expect(new RegExp(`\\b${name}\\b`).test(readFileSync(join(root, path), 'utf8'))).toBe(true));

  /** The functions of the way as their files declare them, with the names that they use. */
  const declared = way.flatMap(([path, names]) => {
    const found: (readonly [name: string, used: ReadonlySet<string>])[] = [];
    if (!path.endsWith('.ts')) return found;
    walk(ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true), (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node)) return;
      const { name = ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined } = node;
      if (!name || !names.includes(name.getText())) return;
      const used = new Set<string>();
      walk(node, (inside) => void (ts.isIdentifier(inside) && used.add(inside.text)));
      found.push([name.getText(), used]);
    });
    return found;
  });
  const [first = '', ...later] = way.flatMap(([, names]) => names);

  test(`${first} begins the way of a key`, () => expect(declared[0]?.[0]).toBe(first));

  test.each(later)('%s is on the way of a key: another function there hands on to it', (name) => {
    const others = declared.filter(([other]) => other !== name);
    expect(declared.length - others.length).toBe(1);
    expect(others.some(([, used]) => used.has(name))).toBe(true);
  });

  test('the way of a key is as long as the page says', () => {
    const [, functions, files] = /pass through (\d+) functions in (\d+) files/.exec(page.text) ?? [];
    // The last row is that of the platforms, whose function has a dot in its name.
    expect([way.flatMap(([, names]) => names).length + 1, way.length]).toEqual([Number(functions), Number(files)]);
  });
});

describe('commands for single test files', () => {
  const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8');
  const [, unhurried = ''] = /^const UNHURRIED = \[(.*?)^\];/ms.exec(config) ?? [];
  const [, folders = ''] = /include: \[('test.+), \.\.\.UNHURRIED\]/.exec(config) ?? [];
  const globsOfProof = [...`${unhurried}${folders}`.matchAll(/'(.*?)'/g)].map(([, glob = '']) => glob);
  const commands = ['docs/architecture.md', 'CONTRIBUTING.md'].flatMap((path) => [...readPage(path).text.matchAll(/--project (unit|proof)((?: test\/\S+)+)/g)]);
  const files = commands.flatMap(([, project = '', paths = '']) => (paths.match(/test\S+\.test\.ts/g) ?? []).map((file) => ({ project, file })));

  test('there are some, of both projects', () => expect(new Set(files.map(({ project }) => project))).toEqual(new Set(['unit', 'proof'])));

  test.each(files)('project $project runs $file', ({ project, file }) => {
    expect(globsOfProof.some((glob) => posix.matchesGlob(file, glob))).toBe(project === 'proof');
  });
});

test('the table of layers is the one that is enforced', () => {
  const layers = tableUnder(page, '### Who may import whom').map(([layer = '', may = '']) => [layer, may === 'nothing' ? [] : may.split(', ').sort()]);
  expect(Object.fromEntries(layers)).toEqual(Object.fromEntries(Object.entries(MAY_IMPORT).map(([layer, may]) => [layer, [...may].sort()])));
});

describe('attacks', () => {
  const rows = tableUnder(page, '## 4. The attacks').map(([attack = '', , file = '']) => [attack, file.replaceAll('`', '')] as const);

  /** `describe('A1: …', ` and `])('… (A17)', `: the first argument of a call. */
  const numbersIn = (path: string): string[] =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/\((['"`])(.*?)\1,\s/g)].flatMap(([, , title = '']) => title.match(/\bA\d{1,2}\b/g) ?? []);

  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).map((path) => posix.join('test', path.replaceAll('\\', '/')));
  const inTitles = new Set(files.filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules')).flatMap(numbersIn));

  test('are exactly those in the titles of tests, each once', () => {
    expect(inTitles.size).toBeGreaterThan(40);
    expect(rows.map(([attack]) => attack).sort()).toEqual([...inTitles].sort());
  });

  test.each(rows)('%s is in a title of %s', (attack, path) => expect(numbersIn(path)).toContain(attack));
});
