/** What was wanted, what was measured, and what stands in the way. */
import { number, type Results, spreadOf } from './results.ts';
import { type Spread, table } from './stats.ts';

const RECORDS_WANTED = 1_000_000;

interface Goal {
  readonly wanted: string;
  readonly measured: string;
  /** `undefined`: it was not measured. */
  readonly met: boolean | undefined;
  /** Where it is not met. */
  readonly floor: string;
}

const atMost = (wanted: string, measured: Spread | undefined, limit: number, floor: string): Goal => ({
  wanted: `${wanted}: at most ${limit} ×`,
  measured: `${spreadOf(measured)} ×`,
  met: measured && measured.median <= limit,
  floor,
});

function inProcess({ node }: Results): Goal {
  const [ours, ky, parts] = [node?.cases['oncefetch, named'], node?.cases['ky, defaults'], Object.entries(node?.cases ?? {})];
  const ratio = ours && ky && ours.addedCpu.median / ky.addedCpu.median;
  const own = parts.filter(([name]) => name.startsWith('part: '));
  const made = own.map(([name, { addedCpu }]) => `${name.slice(6)} ${number(addedCpu.median)} µs`);
  const floor = own.reduce((sum, [, { addedCpu }]) => sum + addedCpu.median, 0);
  return {
    wanted: 'CPU that a named call adds in Node, memory store: at most 0.5 × what ky adds with its defaults',
    measured: `${number(ratio)} × (${number(ours?.addedCpu.median)} µs to ${number(ky?.addedCpu.median)} µs)`,
    met: ratio === undefined ? undefined : ratio <= 0.5,
    floor: `Measured by themselves, in the same run: ${made.join(', ')}. Together these are ${number(floor)} µs, ${number(ky && floor / ky.addedCpu.median)} × what ky adds: a call that does all of this, and nothing else. ky copies no answer, commits nothing, digests nothing. What is above the floor is spread thinly, over the promises and objects of one call, and the collection of garbage, which walks the records that stay in memory. \`run\`, which reads no HTTP answer, adds ${number(node?.cases['oncefetch, run']?.addedCpu.median)} µs.`,
  };
}

function inPages({ browsers }: Results): Goal[] {
  const { ratios, stores } = browsers?.browsers['chromium'] ?? {};
  const us = (name: string): string => number(stores?.[name]?.median);
  const floor = `A lock and a strict commit alone take ${us('bare: lock and strict commit')} µs. The same call on the memory store, which commits nothing, takes ${us('memory: to the first byte')} µs to its first byte: that is the lock, which is asked for in the tick of the call and waited for while the body is digested, and what a page's main thread does between promises. The commit looks before it writes, in one transaction, and keeps two indexes. The lock and the commit come one after the other, and [why](decisions/0016-the-lock-before-the-commit.md).`;
  return [
    atMost('From the call to the first byte, Chromium and IndexedDB, to one bare strict commit in a Web Lock', ratios?.['firstByte'], 1.15, floor),
    atMost(
      'A whole call there, to its two bare commits in a Web Lock',
      ratios?.['whole'],
      1.15,
      `As above; then the answer is read to its end, which the two bare commits do not (${us('bare: an answer read')} µs; with a copy of it, as oncefetch does, ${us('bare: an answer read, and a copy of it')} µs). To two commits with the answer read between them it is ${spreadOf(ratios?.['wholeRead'])} ×. The second commit reads the record again and compares it before it writes.`,
    ),
  ];
}

function inSqlite({ stores }: Results): Goal[] {
  const { SQLite: sqlite, memory } = stores?.stores ?? {};
  const rest = `A bare commit took ${number(sqlite?.['bare']?.median)} µs in this run, and a call in memory takes ${number(memory?.['toFirstByte']?.median)} µs to its first byte and ${number(memory?.['whole']?.median)} µs as a whole, whatever the disk does: the faster it flushes, the larger is their share. The store by itself, which looks before it writes and keeps two indexes, takes ${number(sqlite?.['begin']?.median)} µs for the first commit and ${number(sqlite?.['settle']?.median)} µs for the second; its statements are made once.`;
  return [
    atMost('From the call to the first byte, SQLite, to one bare committed insert', sqlite?.['firstByteRatio'], 1.2, rest),
    atMost('A whole call on SQLite, to its two bare commits', sqlite?.['wholeRatio'], 1.2, rest),
  ];
}

function flat({ records, browsers }: Results): Goal[] {
  const largest = records?.sizes.at(-1) ?? 0;
  const inNode = Object.entries(records?.stores ?? {}).map(([kind, { calls }]): Goal => {
    const goal = atMost(
      `A call with ${number(RECORDS_WANTED)} records in ${kind}, to one with ${records?.sizes[0]}`,
      calls[largest]?.ratio,
      1.1,
      'The indexes of the database grow deeper, and its cache holds less of them.',
    );
    // With fewer it says nothing of more.
    return largest < RECORDS_WANTED ? { ...goal, measured: `${goal.measured} with ${number(largest)}`, met: goal.met === false ? false : undefined } : goal;
  });
  const { ratios } = browsers?.browsers['chromium'] ?? {};
  return [
    ...inNode,
    atMost('A call with 100,000 records in IndexedDB, Chromium, to one with 10', ratios?.['IndexedDB'], 1.1, 'The indexes grow deeper.'),
    atMost(
      'A call with 5,000 records in localStorage, Chromium, to one with 10',
      ratios?.['localStorage'],
      1.1,
      'A sweep reads every key; it comes once a minute at most where nothing is to be removed.',
    ),
  ];
}

function restart({ records }: Results): Goal {
  const shares = Object.values(records?.stores ?? {}).map(({ restart: { largestShareOfFirstTenth } }) => largestShareOfFirstTenth);
  const [listed, done] = (['listed', 'resumed'] as const).map((count) =>
    Object.values(records?.stores ?? {}).reduce((sum, { restart }) => sum + restart[count], 0),
  );
  const worst = shares.length ? Math.max(...shares) : undefined;
  return {
    wanted: `${number(records?.pending)} operations resumed after a restart, fair between ten kinds of name: of the first tenth, at most 0.2 are of one kind`,
    measured: `${number(worst)}; ${number(done)} of ${number(listed)} done`,
    met: worst === undefined ? undefined : worst <= 0.2,
    floor: 'Eight kinds take turns; where there are more, each next one begins when one of them is through.',
  };
}

function size({ size: sizes }: Results): Goal {
  const [ours, ky] = [sizes?.entries['createOnce']?.now, sizes?.entries['ky']?.now];
  return {
    wanted: 'createOnce with all browser stores: smaller than ky',
    measured: `${number(ours)} B to ${number(ky)} B, gzipped`,
    met: ours !== undefined && ky !== undefined ? ours < ky : undefined,
    floor: 'See [size](#size) below, and [why](decisions/0004-size.md).',
  };
}

function memory({ memory: seen }: Results): Goal {
  return {
    wanted: 'Heap and handles flat over 100,000 operations: less than one byte an operation, no handle more',
    measured: `${number(seen?.perOperation)} bytes an operation, open handles before and after: ${seen?.samples[0]?.handles} and ${seen?.samples.at(-1)?.handles}`,
    met: seen && seen.perOperation < 1 && (seen.samples.at(-1)?.handles ?? 0) <= (seen.samples[0]?.handles ?? 0),
    floor: '',
  };
}

export function goals(results: Results): string {
  const all = [inProcess(results), ...inPages(results), ...inSqlite(results), ...flat(results), restart(results), size(results), memory(results)];
  const missed = all.filter(({ met }) => met === false);
  return [
    table(
      ['goal', 'measured', 'met'],
      all.map(({ wanted, measured, met }) => [wanted, measured, met === undefined ? 'not measured in full' : met ? 'met' : '**not met**']),
    ),
    ...(missed.length ? ['What stands in the way of those that are not met:'] : []),
    missed.map(({ wanted, floor }) => `- **${wanted.split(':')[0]}.** ${floor}`).join('\n'),
  ].join('\n\n');
}
