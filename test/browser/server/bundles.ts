/** The scripts of other realms. Each copy is a separate bundle, as two packages on one page would be. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface Bundles {
  /** The file with this path in the copy: `realm.js`, `lib.js`, and what they load. */
  file(path: string): string | undefined;
  /** The package as one classic script, with the global `oncefetch`. */
  readonly classic: string;
}

let made: Promise<Bundles> | undefined;

export function bundles(): Promise<Bundles> {
  made ??= make();
  return made;
}

async function make(): Promise<Bundles> {
  const shared = {
    bundle: true,
    write: false,
    absWorkingDir: root,
    target: 'es2022',
    logLevel: 'error',
    alias: { oncefetch: './src/entries/index.ts' },
  } as const;
  const [modules, classic] = await Promise.all([
    build({
      ...shared,
      entryPoints: { realm: 'test/browser/realm/realm.ts', lib: 'test/browser/realm/lib.ts' },
      format: 'esm',
      splitting: true,
      outdir: 'out',
    }),
    build({ ...shared, entryPoints: ['test/browser/realm/lib.ts'], format: 'iife', globalName: 'oncefetch' }),
  ]);
  const files = new Map(modules.outputFiles.map(({ path, text }) => [path.replaceAll('\\', '/').split('/out/')[1] ?? path, text]));
  return { file: (path) => files.get(path), classic: classic.outputFiles[0]?.text ?? '' };
}
