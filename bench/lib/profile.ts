/** Which functions use the CPU, by samples of V8's profiler. */
import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const OWN = 'its own functions';
/** Assigns a function to an owner, by its file. The first match counts. V8 gives its own work a name in brackets. */
const WHOSE: readonly (readonly [string, RegExp])[] = [
  ['garbage collection', /^\(garbage collector\)/],
  ['libraries (p-retry, uuid)', /node_modules/],
  [OWN, /\/dist\/|bench\/lib\/floor/],
  ['Response, Headers, Request', /undici/],
  ['streams', /streams/],
  ['timers', /timers/],
  ['digests', /crypto/],
];
const REST = 'the rest: what is built into the engine, promises, URL';

/** The CPU time of a call, µs: by owner of the functions, and for oncefetch's own functions by source file. */
export interface Spent {
  readonly whose: Record<string, number>;
  readonly files: Record<string, number>;
}

async function profiled(call: () => Promise<unknown>, calls: number): Promise<Profiler.Profile> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 100 });
  await session.post('Profiler.start');
  for (let at = 0; at < calls; at++) await call();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return profile;
}

const filesOf = new Map<string, string[]>();

/** Finds the source file of a line in a bundle: the bundler writes its name above each part. */
function sourceOf(url: string, line: number): string | undefined {
  if (!/^file:.*\/dist\//.test(url)) return undefined;
  let files = filesOf.get(url);
  if (!files) {
    let file = '';
    files = readFileSync(fileURLToPath(url), 'utf8')
      .split('\n')
      .map((text) => {
        file = /^\/\/ ((src|node_modules)\/\S+)$/.exec(text)?.[1] ?? file;
        return file;
      });
    filesOf.set(url, files);
  }
  return files[line];
}

export async function spentBy(call: () => Promise<unknown>, calls: number): Promise<Spent> {
  const { nodes, samples = [], timeDeltas = [] } = await profiled(call, calls);
  const owners = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const owner = WHOSE.find(([, file]) => file.test(url || functionName))?.[0] ?? REST;
      return [id, { owner, file: owner === OWN ? sourceOf(url, lineNumber) : undefined }];
    }),
  );
  const whose = Object.fromEntries([...WHOSE.map(([owner]) => owner), REST].map((owner) => [owner, 0]));
  const files: Record<string, number> = {};
  for (const [at, id] of samples.entries()) {
    const us = (timeDeltas[at] ?? 0) / calls;
    const { owner, file } = owners.get(id) ?? { owner: REST, file: undefined };
    whose[owner] = (whose[owner] ?? 0) + us;
    if (file) files[file] = (files[file] ?? 0) + us;
  }
  return { whose, files };
}
