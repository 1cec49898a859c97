/** Turns a fence into a program: its setup, the snippet itself, and the code that calls it. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultName } from '../../../src/testing/faults.js';
import { type Fence, fencesOf, readPages, root } from './markdown.js';
import type { Place } from './stage.js';

const setups = join(root, 'test/docs/setups');
/** Every run writes these files again, in its own folder, because files with the same name would be served from a cache. */
const made = join(root, '.tmp', 'docs');

export interface Snippet {
  /** `README.md:12`, the first line of its code. */
  readonly at: string;
  readonly line: number;
  readonly source: string;
  /** The number of lines before those of the snippet. */
  readonly before: number;
  readonly checked: string;
  readonly run: string;
  readonly place: Place;
  /** Why the snippet is only compiled. */
  readonly typesOnly: string | undefined;
  readonly faults: readonly (FaultName | 'none')[];
  readonly expects: Expectations;
}

/** What must be true when the snippet has run. */
export interface Expectations {
  readonly shows?: readonly string[] | undefined;
  readonly charges?: number | undefined;
  readonly requests?: number | undefined;
  readonly keys?: number | undefined;
  /** How many of its own tests passed, at least. */
  readonly passes?: number | undefined;
  readonly rejects?: string | undefined;
}

const KNOWN = [
  'id',
  'needs',
  'setup',
  'place',
  'faults',
  'then',
  'shows',
  'charges',
  'requests',
  'keys',
  'passes',
  'rejects',
  'types only',
  'page',
  'page charges',
  'page charges again',
  'forgets',
];

const number = (said: readonly string[] | undefined): number | undefined => (said === undefined ? undefined : Number(said[0]));

/** The code of the earlier snippets on the same page that this snippet continues. */
export function codeBefore({ path, line, wants }: Fence): readonly string[] {
  const ids = (wants.get('needs')?.[0] ?? '').split(' ').filter(Boolean);
  return ids.map((id) => {
    const found = fences.find((one) => one.path === path && one.wants.get('id')?.[0] === id);
    if (!found) throw new Error(`${path}:${line}: there is no snippet ${id} on this page`);
    return found.code;
  });
}

function snippetOf(fence: Fence): Snippet {
  const { path, line, language, code, wants } = fence;
  const at = `${path}:${line}`;
  for (const name of wants.keys()) if (!KNOWN.includes(name)) throw new Error(`${at}: "${name}:" is none of ${KNOWN.join(', ')}`);
  const setup = wants.get('setup')?.[0];
  const file = setup === undefined ? undefined : join(setups, `${setup}.ts`);
  if (file !== undefined && !existsSync(file)) throw new Error(`${at}: there is no setup ${setup}`);
  const setting = file === undefined ? [] : [readFileSync(file, 'utf8').replaceAll("'../support/", "'../../test/docs/support/")];
  const preamble = [...setting, ...codeBefore(fence)].join('\n');
  const then = wants.get('then') ?? [];
  // The lines of `then` may use the package without an import in the snippet.
  const everything = then.some((line) => line.includes('oncefetch.')) && !preamble.includes('* as oncefetch') ? `import * as oncefetch from 'oncefetch';` : '';
  const source = [everything, preamble, code, ...then, 'export {};', ''].filter(Boolean).join('\n');
  const name = `${path.replaceAll(/\W+/g, '-')}-${line}.${language === 'tsx' ? 'tsx' : 'ts'}`;
  const place = (wants.get('place')?.[0] ?? 'page') as Place;
  return {
    at,
    line,
    source,
    before: [everything, preamble].filter(Boolean).flatMap((text) => text.split('\n')).length,
    checked: join(made, name),
    run: join(made, `run-${name}`),
    place,
    typesOnly: wants.get('types only')?.[0],
    faults: (wants.get('faults')?.[0] ?? '').split(' ').filter(Boolean) as FaultName[],
    expects: {
      shows: wants.get('shows'),
      charges: number(wants.get('charges')),
      requests: number(wants.get('requests')),
      keys: number(wants.get('keys')),
      passes: number(wants.get('passes')),
      rejects: wants.get('rejects')?.[0],
    },
  };
}

export const fences: readonly Fence[] = readPages().flatMap(fencesOf);

const PROGRAMS = ['ts', 'tsx', 'js', 'typescript', 'javascript'];

/** Excerpts of files that run elsewhere, which are no programs of their own. */
export const excerpts: readonly Fence[] = fences.filter(({ wants }) => wants.has('file'));

export const snippets: readonly Snippet[] = fences.filter((fence) => PROGRAMS.includes(fence.language) && !excerpts.includes(fence)).map(snippetOf);

/** Writes each program as two files: one to compile, and one to run. The second imports the package through the stage. */
export function write(all: readonly Snippet[]): void {
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  for (const { checked, run, source } of all) {
    writeFileSync(checked, source);
    writeFileSync(
      run,
      source.replaceAll(
        /(from\s+|import\s+)'(oncefetch(?:\/node)?|vitest)'/g,
        (_, before: string, name: string) => `${before}'../../test/docs/support/${name.replace('/', '-')}.js'`,
      ),
    );
  }
}
