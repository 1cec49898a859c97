/**
 * Goal: the published package is complete, loads everywhere it claims to, and contains nothing else. Method: packs it
 * and installs it as a user would, without a network.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import tsup from '../../tsup.config.js';
import { entries, type Installed, install, manifest, readJson, root, run, runtimes, specifierOf } from './installed.js';

let installed: Installed;
beforeAll(() => void (installed = install()));
afterAll(() => installed?.remove());

describe('entry points', () => {
  test('are the same in src/entries, in tsup and in package.json', () => {
    const sources = readdirSync(join(root, 'src/entries')).map((file) => file.replace(/\.tsx?$/, ''));
    expect(sources.sort()).toEqual([...entries].sort());
    const builds = [tsup].flat().filter((build) => typeof build !== 'function');
    expect(builds.map(({ format }) => format)).toEqual(['esm', 'cjs', 'esm', 'cjs', 'esm', 'cjs', 'esm', 'cjs']);
    for (const { entry } of builds.slice(0, 2)) expect(Object.keys(entry ?? {}).sort()).toEqual(entries.filter((name) => name !== PANEL).sort());
    for (const { entry } of builds.slice(2, 4)) expect(Object.keys(entry ?? {})).toEqual([PANEL]);
    for (const { entry } of builds.slice(4, 6)) expect(Object.keys(entry ?? {})).toEqual([...LEAN.map((name) => `${name}.lean`), `${PANEL}.off`]);
    expect(builds[6]?.entry).toEqual({ cli: 'src/cli.ts' });
    expect(builds[7]?.entry).toEqual({ 'react-native.bundle': 'src/react-native-bundle.ts' });
  });

  test.each(entries)('%s has ESM and CJS, each with its types', (entry) => {
    const at = (extension: string) => `./dist/${entry}.${extension}`;
    const { 'react-native': there, ...others } = manifest.exports[entry === 'index' ? '.' : `./${entry}`] as Record<string, unknown>;
    const off = (extension: string) => (entry === PANEL ? { production: at(`off.${extension}`) } : {});
    const files = (extension: string) =>
      LEAN.includes(entry) ? { ...allOf(FULL_FOR, at(extension)), default: at(`lean.${extension}`) } : { ...off(extension), default: at(extension) };
    expect(others).toEqual({ import: { types: at('d.ts'), ...files('js') }, require: { types: at('d.cts'), ...files('cjs') } });
    expect(there).toEqual(IN_REACT_NATIVE.includes(entry) ? { types: at('d.cts'), default: BUNDLE } : undefined);
  });

  test('for React Native come first, and lead to one file: bundlers take the first condition that they know', () => {
    for (const entry of IN_REACT_NATIVE) {
      const conditions = manifest.exports[entry === 'index' ? '.' : `./${entry}`] as object;
      expect(Object.keys(conditions)[0]).toBe('react-native');
    }
    const file = readFileSync(join(installed.folder, BUNDLE), 'utf8');
    // Babel would turn a dynamic import in node_modules into another bundle, and import.meta makes this one fail.
    expect(file.match(/\brequire\(|\bimport\(|import\.meta|^import |^export /gm)).toBeNull();
  });

  test('lead to the same files when Metro ignores `exports`, as some apps configure it for the sake of another package', () => {
    const chosen = (entry: string) => {
      const { 'react-native': there, import: imported } = manifest.exports[entry === 'index' ? '.' : `./${entry}`] as Readonly<
        Record<string, { readonly default: string }>
      >;
      return (there ?? imported)?.default;
    };
    // The key of `oncefetch` itself is the file that `main` names. The others are names that Metro tries only where it ignores
    // `exports`: otherwise it applies the field first, and warns in each bundle that `exports` has no such file.
    const keyOf = (entry: string) => (entry === 'index' ? manifest.main : `./${entry}.native.js`);
    const wanted = [...IN_REACT_NATIVE, 'react', 'ky', 'opentelemetry', 'dialects'].map((entry) => [keyOf(entry), chosen(entry)]);
    expect(manifest['react-native']).toEqual(Object.fromEntries(wanted));
  });
});

/** The single file that a bundler for React Native gets, so that an app has only one copy of the package. */
const BUNDLE = './dist/react-native.bundle.cjs';
const IN_REACT_NATIVE = ['index', 'react-native'];

/** The panel is for development and has its own build; a production page gets a stub in its place. */
const PANEL = 'devtools';

/** The entries that have a build with short texts for pages in production, and the conditions that select the other build. */
const LEAN = ['index', 'dialects'];
const FULL_FOR = ['development', 'node', 'workerd', 'edge-light'];
const allOf = (names: readonly string[], value: string) => Object.fromEntries(names.map((name) => [name, value]));

describe.each(runtimes())('Node $version', ({ path, version }) => {
  /** What each entry exports, when one process loads them all. */
  function load(prelude: string, how: string): Readonly<Record<string, readonly string[]>> {
    const names = 'Object.keys(loaded).filter((name) => name !== "default" && name !== "module.exports").sort()';
    const each = `for (const entry of ${JSON.stringify(entries.map(specifierOf))}) { const loaded = ${how}; given[entry] = ${names}; }`;
    const code = `${prelude} const given = {}; ${each} console.log(JSON.stringify(given));`;
    const { ok, stdout, all } = run(path, ['--input-type=module', '--eval', code], installed.home);
    expect(ok, all).toBe(true);
    return JSON.parse(stdout) as Record<string, readonly string[]>;
  }

  test('every entry exports the same to import and require', () => {
    const imported = load('', 'await import(entry)');
    expect(Object.entries(imported).filter(([, names]) => names.length === 0)).toEqual([]);
    expect(load("import { createRequire } from 'node:module'; const require = createRequire(process.cwd() + '/x.cjs');", 'require(entry)')).toEqual(imported);
  });

  test.each(['import', 'require'])('a client loaded by %s can also list, settle and forget operations after its first one', (how) => {
    const load = how === 'import' ? (entry: string) => `await import('${entry}')` : (entry: string) => `createRequire(process.cwd() + '/x.cjs')('${entry}')`;
    const code = `import { createRequire } from 'node:module';
      const { createOnce, forget, outcomeOf, pending, run, settle } = { ...${load('oncefetch')}, createOnce: (${load('oncefetch/node')}).createOnce };
      const fetch = async () => { throw new TypeError('lost'); };
      const once = createOnce({ namespace: 'billing', fetch, limits: { attempts: 1 } });
      const told = [];
      for (const id of [1, 2]) told.push(outcomeOf(await once.fetch('https://shop.example', { method: 'POST', once: ['pay', id] }).catch((error) => error))?.effect);
      await settle(once, ['pay', 1], 'done');
      await forget(once, ['pay', 2], { evenIfUnknown: true });
      console.log(JSON.stringify([...told, await run(once, ['pay', 3], () => 'paid'), (await pending(once)).length]));`;
    const { stdout, all } = run(path, ['--input-type=module', '--eval', code], installed.home);
    expect(stdout.trim(), all).toBe('["unknown","unknown","paid",0]');
  });

  test('is a version that package.json permits', () => expect(Number(version.slice(1).split('.')[0])).toBeGreaterThanOrEqual(20));
});

describe('the package', () => {
  const dist = () => installed.files.filter((file) => file.startsWith('dist/'));
  const text = (file: string) => readFileSync(join(installed.folder, file), 'utf8');

  test('contains what a user needs and nothing else', () => {
    const others = installed.files.filter((file) => !/^(dist|docs)\//.test(file));
    expect(others).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'llms.txt', 'package.json']);
    const guides = installed.files.filter((file) => file.startsWith('docs/'));
    expect(guides.filter((file) => !/\.(md|svg)$|^docs\/(images\/(playground|devtools)\.jpg|grafana\.json)$/.test(file))).toEqual([]);
    // The pictures are for people who are still choosing a package. Whoever reads the installed guides has chosen already,
    // so the guides stay small.
    expect(guides.reduce((bytes, file) => bytes + readFileSync(join(installed.folder, file)).length, 0)).toBeLessThan(875_000);
    expect(dist().filter((file) => !/\.(js|cjs|d\.ts|d\.cts)$/.test(file.replace(/\.map$/, '')))).toEqual([]);
  });

  test('has no file in dist that is unreachable from the entries', () => {
    const wanted = new Set([
      ...entries.flatMap((entry) => ['js', 'cjs', 'd.ts', 'd.cts'].map((extension) => `dist/${entry}.${extension}`)),
      ...[...LEAN.map((entry) => `${entry}.lean`), `${PANEL}.off`].flatMap((file) => [`dist/${file}.js`, `dist/${file}.cjs`]),
    ]);
    for (const file of wanted) {
      for (const [, name] of text(file).matchAll(/['"]\.\/([^'"]+)['"]/g)) {
        const types = /\.d\.c?ts$/.test(file) ? name?.replace(/\.js$/, '.d.ts').replace(/\.cjs$/, '.d.cts') : name;
        if (types !== undefined && dist().includes(`dist/${types}`)) wanted.add(`dist/${types}`);
      }
      if (dist().includes(`${file}.map`)) wanted.add(`${file}.map`);
    }
    wanted.add(BUNDLE.slice(2));
    for (const command of Object.values(manifest.bin)) wanted.add(command.slice(2));
    expect(dist().filter((file) => !wanted.has(file))).toEqual([]);
    expect([...wanted].filter((file) => !dist().includes(file))).toEqual([]);
  });

  test('gives each export for require its value only once', () => {
    const given = (file: string) => [...text(file).matchAll(/\bexports\.(\w+) \S{0,3}=(?!=)/g)].map(([, name]) => name);
    const files = dist().filter((file) => file.endsWith('.cjs') && file !== BUNDLE.slice(2));
    expect(files.flatMap(given).length).toBeGreaterThan(200);
    expect(files.flatMap((file) => given(file).filter((name, at, all) => all.indexOf(name) !== at))).toEqual([]);
  });

  test('has types for require that refer to no file of those for import', () => {
    const types = dist().filter((file) => file.endsWith('.d.cts'));
    expect(types.map((file) => file.replace(/cts$/, 'ts')).sort()).toEqual(dist().filter((file) => file.endsWith('.d.ts')));
    expect(types.filter((file) => /\b(?:from |import[ (])['"]\.[^'"]*(?<!\.cjs)['"]/.test(text(file)))).toEqual([]);
  });

  // The step that converts a chunk to CJS takes an assignment to a private member for one to an export with the same
  // name: `this.#look = exports.look = …`.
  test('has no file for require in which an export stands in place of a private member', () => {
    const taken = dist()
      .filter((file) => file.endsWith('.cjs'))
      .flatMap((file) => text(file).match(/(?<=#\w+ = )exports\.\w+(?= = )/g) ?? []);
    expect(taken).toEqual([]);
  });

  test('imports only what is installed with it, and the peers of its entries', () => {
    const imported = dist()
      .filter((file) => /\.(js|cjs)$/.test(file) && file !== BUNDLE.slice(2))
      .flatMap((file) => [...text(file).matchAll(/\b(?:from|import|require\()\s*["']((?:@[\w-]+\/)?[a-z][\w-]*)(?:\/[^"']*)?["']/g)].map(([, name]) => name));
    // The texts of errors contain imports from the package itself.
    const brought = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies), 'oncefetch'];
    expect([...new Set(imported)].filter((name) => !brought.includes(name as string))).toEqual([]);
  });

  test('adds no dependency that needs a newer Node than the package itself', () => {
    const { packages } = readJson<{ packages: Record<string, { engines?: { node?: string }; dependencies?: Record<string, string> }> }>(
      join(root, 'package-lock.json'),
    );
    const { engines } = readJson<{ engines: { node: string } }>(join(root, 'package.json'));
    const whole = (names: readonly string[]): string[] =>
      names.flatMap((name) => [name, ...whole(Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {}))]);
    const asks = whole(Object.keys(manifest.dependencies)).map((name) => [name, packages[`node_modules/${name}`]?.engines?.node ?? '*'] as const);
    expect(asks.length).toBeGreaterThan(4);
    // A package manager that enforces `engines`, as Yarn 1 does, would refuse to install it. A range that is not a lower bound fails here, too.
    const ours = `${engines.node.replace('>=', '')}.0`;
    const later = (range: string): boolean => (/^>= ?([\d.]+)$/.exec(range)?.[1] ?? 'later').localeCompare(ours, 'en', { numeric: true }) > 0;
    expect(asks.filter(([, range]) => range !== '*' && later(range))).toEqual([]);
  });

  test('has source maps that contain their sources', () => {
    const maps = dist().filter((file) => file.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(0);
    for (const file of maps) {
      const map = JSON.parse(text(file)) as { sources: string[]; sourcesContent?: string[] };
      expect(map.sourcesContent, file).toHaveLength(map.sources.length);
      expect(
        map.sources.filter((source) => !source.startsWith('../src/')),
        file,
      ).toEqual([]);
    }
  });

  test('does not contain the path of the folder in which it was built', () => {
    expect(installed.files.filter((file) => text(file).includes(root))).toEqual([]);
    const { packages } = readJson<{ packages: Record<string, { resolved?: string }> }>(join(root, 'package-lock.json'));
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  test('passes publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: installed.folder, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  test('passes are-the-types-wrong', () => {
    const attw = run(
      process.execPath,
      [
        join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js'),
        installed.tarball,
        '--profile',
        'strict',
        '--exclude-entrypoints',
        'package.json',
        '--no-color',
      ],
      installed.home,
    );
    expect(attw.ok, attw.all).toBe(true);
  });
});
