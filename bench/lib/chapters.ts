/** The tables of docs/cost.md. */

import { atOnce, processes } from './many.ts';
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

A POST with a body of ${node.bodyBytes} bytes, to a stub that answers at once, in ${node.rounds} rounds. The table shows what each client adds to the stub. The first row compares the stub with itself: that is the noise. Brackets give the middle half of the rounds. Versions: ${versionsOf(node.versions)}.

${table(
  ['client', 'added, µs', 'added CPU, µs'],
  rows.map(([name, { added, addedCpu }]) => [name, spreadOf(added), spreadOf(addedCpu)]),
)}

workbox-background-sync and offline-transactions run in pages only, and are measured [there](#pages).

### Where the CPU goes

Samples of V8's profiler in µs for each call, minus those of the stub. The last column is the least that a safe call needs (\`bench/lib/floor.ts\`). The profiler itself makes each call slower.

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

oncefetch's own functions, by file. \`record.ts\` computes three checksums in each call. \`memory.ts\` is the store of this benchmark; the function in the last column has a Map instead, which counts as "the rest".

${table(['file', 'µs'], [...files.slice(0, FILES_MAX).map(([file, us]) => [`\`${file}\``, number(us)]), [`${files.length - FILES_MAX} more`, number(rest)]])}`;
}

function onLoopback({ loopback }: Results): string {
  if (!loopback) return '';
  const [one = '1', many = '64'] = Object.keys(loopback.atOnce);
  const [first, second] = [loopback.atOnce[one] ?? {}, loopback.atOnce[many] ?? {}];
  return `## Over a connection to the same machine

The time of a call as a multiple of plain fetch in the same round, and its CPU time, in ${loopback.rounds} rounds.

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
    ? `\n\nA restart with ${number(records.pending)} unsettled operations: \`pending\` lists them in pages of 100, and \`resume\` sends them to a stub, four at a time.\n\n${table(
        ['store', 'listed', 'a page, µs', 'resumed', 'per second', 'heap grew by at most'],
        Object.entries(records.stores).map(([kind, { restart: seen }]) => [
          kind,
          number(seen.listed),
          spreadOf(seen.pageUs),
          number(seen.resumed),
          number(seen.perSecond),
          `${number(seen.heapGrowth / 1e6)} MB`,
        ]),
      )}\n\nThe time of a call on a store that already holds records, as a multiple of the same call with ${records.sizes[0]} records:\n\n${table(
        ['store', ...records.sizes.map((size) => `${number(size)} records`)],
        Object.entries(records.stores).map(([kind, { calls }]) => [kind, ...records.sizes.map((size) => spreadOf(calls[size]?.ratio))]),
      )}\n\nOne sweep, in µs. It runs after an answer was given, and once a minute at most when there is nothing to remove:\n\n${table(
        ['store', ...records.sizes.map((size) => `${number(size)} records`)],
        Object.entries(records.stores).map(([kind, { sweeps }]) => [kind, ...records.sizes.map((size) => spreadOf(sweeps?.[size]?.us))]),
      )}`
    : '';
  return `## Stores of servers

Compared with the cheapest commit of the same database: one insert of a text as long as the record, flushed as that database flushes. ${stores.rounds} rounds.

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

The floor is the least that a safe call needs (\`bench/lib/floor.ts\`): the bare commits and its own steps; in SQLite, transactions that read before they write and keep two indexes. Where the time of a whole call goes, in µs of single calls:

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

With a stub in place of the network: the time until the first byte leaves, and until the answer is there. For comparison, a request on a mobile network takes about a hundred milliseconds. ${browsers.rounds} rounds, after warm-up rounds.

${table(head('oncefetch, and what its stores are made of'), rows('stores'))}

### Where the time of a page goes

A call with IndexedDB, stage by stage. These calls run one after another with nothing between them, so they are a little faster than above. Brackets give the middle half of the calls.

${table(head('stage'), rows('stages'))}

The first call of a page opens the database, and its code has not been compiled yet:

${table(head('first'), rows('first'))}

### Peers that survive a reload

workbox sends first and stores what failed. offline-transactions stores first, without a strict commit and without a lock: it elects one tab that sends for all tabs. One lock takes Chromium ${number(stores?.['one Web Lock']?.median)} µs.

${table(head('peer'), rows('peers'))}

A whole call on a store with many records:

${table(head('records'), rows('records'))}${leftOut(browsers.leftOut)}`;
}

function dialectsOf({ dialects = {}, allDialects }: NonNullable<Results['size']>): string {
  const each = Object.entries(dialects).sort(([, a], [, b]) => a - b);
  return `${each.map(([name, bytes]) => `${name} ${number(bytes)}`).join(', ')}; all ${each.length} together ${number(allDialects)}`;
}

function sizes({ size }: Results): string {
  if (!size) return '';
  return `## Size

All bundled with the same settings, minified and gzipped.

${table(
  ['bundle', 'B', 'loaded later, B'],
  [
    ...Object.entries(size.entries).map(([name, { now, later }]) => [name, number(now), later ? number(later) : '']),
    ...Object.entries(size.peers).flatMap(([name, bytes]) => (name in size.entries ? [] : [[name, number(bytes), '']])),
  ],
)}

How much smaller \`createOnce\` would be without each of its parts. Some code belongs to two parts, so the rows do not add up.

${table(
  ['part', 'B'],
  Object.entries(size.features).map(([name, bytes]) => [name, number(bytes)]),
)}

What each function adds to a page that already has \`createOnce\`, in bytes: ${Object.entries(size.functions)
    .map(([name, bytes]) => `${name} ${number(bytes)}`)
    .join(', ')}.

What each dialect adds to a page that already has \`createOnce\`, in bytes: ${dialectsOf(size)}. \`test/dialects/size.test.ts\` checks that no dialect loads another one.

What we considered to make it smaller, and how much it would save; [this decision](decisions/0004-size.md) says why we left it.

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

Entries in the tables of the process after the last operation: ${Object.entries(last?.entries ?? {})
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}. Each has an upper bound.`;
}

export const chapters = (results: Results): string =>
  [inNode, onLoopback, onServers, atOnce, processes, inPages, sizes, memory]
    .map((chapter) => chapter(results))
    .filter(Boolean)
    .join('\n\n');
