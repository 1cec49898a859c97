/** Whose functions the CPU is in, by samples of the engine's own profiler. */
import { Session } from 'node:inspector/promises';

/** By the file that a function is in, the first that matches; a name in brackets is what V8 calls its own work. */
const WHOSE: readonly (readonly [string, RegExp])[] = [
  ['garbage collection', /^\(garbage collector\)/],
  ['libraries (p-retry, uuid)', /node_modules/],
  ['its own functions', /\/dist\/|bench\/lib\/floor/],
  ['Response, Headers, Request', /undici/],
  ['streams', /webstreams|streams/],
  ['timers', /timers/],
  ['digests', /crypto/],
];
const REST = 'the rest: what is built into the engine, promises, URL';

/** µs of each in a call. */
export async function whoseCpu(call: () => Promise<unknown>, calls: number): Promise<Record<string, number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 100 });
  await session.post('Profiler.start');
  for (let at = 0; at < calls; at++) await call();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const owners = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url } }) => [id, WHOSE.find(([, file]) => file.test(url || functionName))?.[0] ?? REST]),
  );
  const seen = Object.fromEntries([...WHOSE.map(([owner]) => owner), REST].map((owner) => [owner, 0]));
  for (const [at, id] of (profile.samples ?? []).entries()) {
    const owner = owners.get(id) ?? REST;
    seen[owner] = (seen[owner] ?? 0) + (profile.timeDeltas?.[at] ?? 0) / calls;
  }
  return seen;
}
