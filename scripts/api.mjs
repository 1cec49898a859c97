/** Writes the public API of each entry, from its built types, as `api/<entry>.api.md`, so that a change of it shows in review. */
import './require-node.mjs';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { buildIfStale } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'api');

/** @param {string} entry */
const typesOf = (entry) => join(root, 'dist', `${entry}.d.ts`);

/** @param {string} entry @param {string} reportFolder */
const configOf = (entry, reportFolder) =>
  ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: typesOf(entry),
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2022',
            lib: ['ES2022', 'DOM', 'DOM.Iterable'],
            module: 'ESNext',
            moduleResolution: 'bundler',
            strict: true,
            skipLibCheck: true,
            types: [],
          },
          files: [`dist/${entry}.d.ts`],
        },
      },
      apiReport: { enabled: true, reportFileName: `${entry}.api.md`, reportFolder, reportTempFolder: join(reportFolder, 'temp') },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: /** @type {any} */ ('warning'), addToApiReportFile: true },
          'ae-undocumented': { logLevel: /** @type {any} */ ('none') },
          'ae-missing-release-tag': { logLevel: /** @type {any} */ ('none') },
        },
        tsdocMessageReporting: { default: { logLevel: /** @type {any} */ ('none') } },
      },
    },
  });

/**
 * @param {string} entry
 * @param {string} reportFolder
 * @param {CompilerState} compilerState
 */
function extract(entry, reportFolder, compilerState) {
  const messageCallback = (/** @type {import('@microsoft/api-extractor').ExtractorMessage} */ message) => {
    message.handled = true;
  };
  Extractor.invoke(configOf(entry, reportFolder), { localBuild: true, compilerState, messageCallback });
  // Remove the position of a warning, because it changes with every build.
  return readFileSync(join(reportFolder, `${entry}.api.md`), 'utf8').replaceAll(/^\/\/ dist\/\S+ - /gm, '// ');
}

/**
 * Removes warnings about types that the main entry exports: another entry may use them without exporting them. @param {string} report @param {string} main
 */
function forgive(report, main) {
  const known = new Set([...main.matchAll(/^export (?:abstract )?(?:class|const|function|interface|type) (\w+)/gm)].map(([, name]) => name));
  return report.replaceAll(/\/\/ Warning: \(ae-forgotten-export\) The symbol "(\w+)".*\n(?:\/\/\n)?/g, (warning, name) => (known.has(name) ? '' : warning));
}

/** The report of each entry as it is now, by file name. @returns {Record<string, string>} */
export function reports() {
  buildIfStale();
  const temporary = mkdtempSync(join(tmpdir(), 'oncefetch-api-'));
  try {
    const entries = readdirSync(join(root, 'src/entries')).map((file) => file.replace(/\.tsx?$/, ''));
    // One program for all entries, because most of each would be the same libraries.
    const compiled = CompilerState.create(configOf('index', temporary), { additionalEntryPoints: entries.map(typesOf) });
    const main = extract('index', temporary, compiled);
    return Object.fromEntries(entries.map((entry) => [`${entry}.api.md`, entry === 'index' ? main : forgive(extract(entry, temporary, compiled), main)]));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The reports that are committed, by file name. @returns {Record<string, string>} */
export function committed() {
  mkdirSync(folder, { recursive: true });
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

if (import.meta.main) {
  const now = reports();
  for (const file of Object.keys(committed())) if (!(file in now)) rmSync(join(folder, file));
  for (const [file, text] of Object.entries(now)) writeFileSync(join(folder, file), text);
  console.log(`api: ${Object.keys(now).join(', ')}`);
}
