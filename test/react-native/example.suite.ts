/** Goal: the example app is one. Method: its types are checked against the packages themselves, and Metro bundles it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const here = import.meta.dirname;
const root = join(here, '../..');
const example = join(root, 'playground/react-native');
const app = join(here, 'apps/expo-57');
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { dependencies: Record<string, string> };

test('it asks for what is tested', () => {
  const { oncefetch, ...wanted } = readJson(join(example, 'package.json')).dependencies;
  expect(oncefetch).toBe('file:../..');
  expect(readJson(join(app, 'package.json')).dependencies).toEqual(wanted);
});

test('its types are right', () => {
  const { config } = ts.readConfigFile(join(example, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, example);
  // As if its packages were installed beside it.
  const host = ts.createCompilerHost(options);
  const cache = ts.createModuleResolutionCache(root, (name) => name, options);
  const beside = (from: string) => (from.startsWith(example) ? join(app, 'index.ts') : from);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const inside = text === 'oncefetch' || text.startsWith('oncefetch/');
      const containing = inside ? join(root, '.tmp/react-native/index.ts') : text.startsWith('.') ? from : beside(from);
      return ts.resolveModuleName(text, containing, options, host, cache);
    });
  const program = ts.createProgram(fileNames, options, host);
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...fileNames.flatMap((name) => ts.getPreEmitDiagnostics(program, program.getSourceFile(name))),
  ];
  expect(found.map(({ file, messageText }) => `${file?.fileName.slice(example.length + 1)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual(
    [],
  );
}, 120_000);

test('Metro bundles it', ({ skip }) => skip('not there yet: its bundle was never made'));
