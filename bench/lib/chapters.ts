/** The tables of docs/cost.md. */
import type { Spent } from './profile.ts';
import { number, type Results, spreadOf } from './results.ts';
import { type Spread, table } from './stats.ts';

const versionsOf = (versions: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(versions ?? {})
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');

function inNode({ node }: Results): string {
  if (!node) return '';
  const rows = Object.entries(node.cases).filter(([name]) => !name.startsWith('part: '));
  return `## A call in Node, without a network

Over a stub that answers at once, a POST with a body of ${node.bodyBytes} bytes. ${node.rounds} rounds. The first row is the noise: the stub beside itself. In brackets: where the middle half of the rounds lies. Versions: ${versionsOf(node.versions)}.

${table(
  ['client', 'added, µs', 'added CPU, µs'],
  rows.map(([name, { added, addedCpu }]) => [name, spreadOf(added), spreadOf(addedCpu)]),
)}

workbox-background-sync and offline-transactions are measured [in pages](#pages) only: their queues live there.

### Where the CPU goes

Samples of the engine's profiler, µs of a call, above those of the stub. The plain function (\`bench/lib/floor.ts\`) does only what a named call cannot do without. The profiler itself makes a call slower.

${cpuOf(node.profiles)}`;
}

const FILES_MAX = 12;

function cpuOf(profiles: Readonly<Record<string, Spent>> = {}): string {
  const found = Object.entries(profiles);
  const files = Object.entries(found[0]?.[1].files ?? {})
    .filter(([file]) => file.startsWith('src/'))
    .sort(([, a], [, b]) => b - a);
  const rest = files.slice(FILES_MAX).reduce((sum, [, us]) => sum + us, 0);
  return `${table(
    ['whose', ...found.map(([name]) => name)],
    Object.keys(found[0]?.[1].whose ?? {}).map((owner) => [owner, ...found.map(([, { whose }]) => number(whose[owner]))]),
  )}

Of its own functions, by file. Records are what checksums are taken of, three in a call; memory is the store of this measurement, where the plain function has a Map, which counts as the rest.

${table(['file', 'µs'], [...files.slice(0, FILES_MAX).map(([file, us]) => [`\`${file}\``, number(us)]), [`${files.length - FILES_MAX} more`, number(rest)]])}`;
}

function onLoopback({ loopback }: Results): string {
  if (!loopback) return '';
  const [one = '1', many = '64'] = Object.keys(loopback.atOnce);
  const [first, second] = [loopback.atOnce[one] ?? {}, loopback.atOnce[many] ?? {}];
  return `## Over a connection to the same machine

Time of a call to that of plain fetch in the same round; its CPU time. ${loopback.rounds} rounds.

${table(
  ['client', `${one} at a time`, 'CPU, µs', `${many} at a time`, 'CPU, µs'],
  Object.keys(first).map((name) => [
    name,
    spreadOf(first[name]?.ratio),
    number(first[name]?.cpu.median),
    spreadOf(second[name]?.ratio),
    number(second[name]?.cpu.median),
  ]),
)}`;
}

const leftOut = (of: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(of ?? {})
    .map(([name, why]) => `\n\nLeft out: ${name}, ${why}.`)
    .join('');

function onServers({ stores, records }: Results): string {
  if (!stores) return '';
  const restart = records
    ? `\n\nA restart with ${number(records.pending)} open operations: \`pending\` lists them in pages of 100, \`resume\` drives them, four at a time, over a stub.\n\n${table(
        ['store', 'listed', 'a page, µs', 'resumed', 'per second', 'heap grew by at most'],
        Object.entries(records.stores).map(([kind, { restart: seen }]) => [
          kind,
          number(seen.listed),
          spreadOf(seen.pageUs),
          number(seen.resumed),
          number(seen.perSecond),
          `${number(seen.heapGrowth / 1e6)} MB`,
        ]),
      )}\n\nA call on a store that holds records already, to the same call with ${records.sizes[0]} of them:\n\n${table(
        ['store', ...records.sizes.map((size) => `${number(size)} records`)],
        Object.entries(records.stores).map(([kind, { calls }]) => [kind, ...records.sizes.map((size) => spreadOf(calls[size]?.ratio))]),
      )}\n\nA look of the sweep, µs, which comes behind an answer, once a minute at most where nothing is to be removed:\n\n${table(
        ['store', ...records.sizes.map((size) => `${number(size)} records`)],
        Object.entries(records.stores).map(([kind, { sweeps }]) => [kind, ...records.sizes.map((size) => spreadOf(sweeps?.[size]?.us))]),
      )}`
    : '';
  return `## Stores of servers

Beside the cheapest commit of the same database: one insert of a text as long as the record, flushed to the disk as the database does it. ${stores.rounds} rounds.

${table(
  ['store', 'a bare commit, µs', 'to the first byte, µs', 'to a bare commit', 'floor', 'whole, µs', 'to two', 'floor', `of ${stores.atOnce} at once, µs each`],
  Object.entries(stores.stores).map(([kind, seen]) => [
    kind,
    number(seen['bare']?.median),
    number(seen['toFirstByte']?.median),
    spreadOf(seen['firstByteRatio']),
    number(seen['floorFirstByteRatio']?.median),
    number(seen['whole']?.median),
    spreadOf(seen['wholeRatio']),
    number(seen['floorWholeRatio']?.median),
    number(seen['wholeOfMany']?.median),
  ]),
)}${leftOut(stores.leftOut)}

The floor is one plain function (\`bench/lib/floor.ts\`) that does what a named call cannot do without, over the bare commits; in SQLite over transactions that look before they write, and two indexes. Where the time of a whole call goes, µs of single calls:

${table(['stage', ...Object.keys(stores.stores)], rowsOf(Object.values(stores.stores).map(({ stages }) => stages)))}${restart}`;
}

/** One row for each stage. */
const rowsOf = (columns: readonly (Readonly<Record<string, Spread>> | undefined)[]): (string | number)[][] =>
  Object.keys(columns[0] ?? {}).map((name) => [name, ...columns.map((seen) => spreadOf(seen?.[name]))]);

function inPages({ browsers }: Results): string {
  if (!browsers) return '';
  const found = Object.entries(browsers.browsers);
  const rows = (part: 'stores' | 'stages' | 'peers' | 'records' | 'first') => rowsOf(found.map(([, seen]) => seen[part]));
  const { stores } = browsers.browsers['chromium'] ?? {};
  const head = (of: string): string[] => [of, ...found.map(([name, { version }]) => `${name} ${version.split('.')[0]}, µs`)];
  return `## Pages

Over a stub: what a page does before the first byte leaves and until the answer is there, without any network. A request over a mobile network takes a hundred milliseconds. ${browsers.rounds} rounds, after others in which the code is compiled.

${table(head('oncefetch, and what its stores are made of'), rows('stores'))}

### Where the time of a page goes

A call on IndexedDB, from one stage to the next: single calls, one behind the other and nothing else in turn with them, so they are a little faster than above. In brackets: where the middle half of the calls lies.

${table(head('stage'), rows('stages'))}

The first call of a page, which opens the database and whose code was never run before:

${table(head('first'), rows('first'))}

### Peers that survive a reload

workbox sends first and stores what failed. offline-transactions stores first; it asks for no strict commit, and for no lock: it elects one tab that sends for all of them. A lock takes Chromium ${number(stores?.['one Web Lock']?.median)} µs.

${table(head('peer'), rows('peers'))}

Full stores, the whole call:

${table(head('records'), rows('records'))}${leftOut(browsers.leftOut)}`;
}

function dialectsOf({ dialects = {}, allDialects }: NonNullable<Results['size']>): string {
  const each = Object.entries(dialects).sort(([, a], [, b]) => a - b);
  return `${each.map(([name, bytes]) => `${name} ${number(bytes)}`).join(', ')}; all ${each.length} together ${number(allDialects)}`;
}

function sizes({ size }: Results): string {
  if (!size) return '';
  return `## Size

Bundled alike, minified, gzipped.

${table(
  ['bundle', 'B', 'loaded later, B'],
  [
    ...Object.entries(size.entries).map(([name, { now, later }]) => [name, number(now), later ? number(later) : '']),
    ...Object.entries(size.peers).flatMap(([name, bytes]) => (name in size.entries ? [] : [[name, number(bytes), '']])),
  ],
)}

What createOnce would weigh less without each of its parts, and what only they need. Some is in two of them, so they do not add up.

${table(
  ['part', 'B'],
  Object.entries(size.features).map(([name, bytes]) => [name, number(bytes)]),
)}

What each function adds to a page that has createOnce, B: ${Object.entries(size.functions)
    .map(([name, bytes]) => `${name} ${number(bytes)}`)
    .join(', ')}.

What a dialect adds to a page that has createOnce, B: ${dialectsOf(size)}. That none brings another one along is a test, \`test/dialects/size.test.ts\`.

What was considered to make it smaller, and what that would bring; [why it was left](decisions/0004-size.md).

${table(
  ['instead', 'B less'],
  Object.entries(size.considered).map(([name, bytes]) => [name, number(bytes)]),
)}`;
}

function memory({ memory: seen }: Results): string {
  if (!seen) return '';
  const last = seen.samples.at(-1);
  return `## Memory

${table(
  ['operations', 'heap, MB', 'handles'],
  seen.samples.map(({ operations, heap, handles }) => [number(operations), (heap / 1e6).toFixed(2), handles]),
)}

Entries in the tables of the process at the end: ${Object.entries(last?.entries ?? {})
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}. Each has an upper bound.`;
}

export const chapters = (results: Results): string =>
  [inNode, onLoopback, onServers, inPages, sizes, memory]
    .map((chapter) => chapter(results))
    .filter(Boolean)
    .join('\n\n');
