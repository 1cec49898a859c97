/** What was wanted, what was measured, and what stands in the way. */
import { LEAST } from './floor.ts';
import { number, type Results, ratioOf } from './results.ts';
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
  measured: `${ratioOf(measured)} ×`,
  met: measured && measured.median <= limit,
  floor,
});

function inProcess({ node }: Results): Goal {
  const [ours, ky, least, parts] = [node?.cases['oncefetch, named'], node?.cases['ky, defaults'], node?.cases[LEAST], Object.entries(node?.cases ?? {})];
  const toKy = (of: typeof ours): number | undefined => of && ky && of.addedCpu.median / ky.addedCpu.median;
  const made = parts.filter(([name]) => name.startsWith('part: ')).map(([name, { addedCpu }]) => `${name.slice(6)} ${number(addedCpu.median)} µs`);
  const ratio = toKy(ours);
  return {
    wanted: 'CPU that a named call adds in Node, memory store: at most 0.5 × what ky adds with its defaults',
    measured: `${number(ratio)} × (${number(ours?.addedCpu.median)} µs to ${number(ky?.addedCpu.median)} µs)`,
    met: ratio === undefined ? undefined : ratio <= 0.5,
    floor: `One plain function (\`bench/lib/floor.ts\`) that does what a named call cannot do without, and knows no option, no fault, no wait and no second caller, adds ${number(least?.addedCpu.median)} µs: ${number(toKy(least))} × what ky adds. ky copies no answer, commits nothing, digests nothing. What a call of oncefetch does of that, each by itself: ${made.join(', ')}. What oncefetch takes above it is mostly its own functions: checksums, its memory store, and many small things that the plain function does not know of ([where the CPU goes](#where-the-cpu-goes)). \`run\`, which reads no HTTP answer, adds ${number(node?.cases['oncefetch, run']?.addedCpu.median)} µs.`,
  };
}

const sum = (stages: Readonly<Record<string, Spread>> | undefined, ...names: string[]): string =>
  number(names.reduce((sum, name) => sum + (stages?.[name]?.median ?? Number.NaN), 0));

function inPages({ browsers }: Results): Goal[] {
  const { ratios, stages } = browsers?.browsers['chromium'] ?? {};
  const us = (...names: string[]): string => sum(stages, ...names);
  return [
    atMost(
      'From the call to the first byte, Chromium and IndexedDB, to one bare strict commit in a Web Lock',
      ratios?.['firstByte'],
      1.15,
      `The same plain function, over a bare commit, is at ${ratioOf(ratios?.['floorFirstByte'])} ×. Of a call the lock takes ${us('the lock, and meanwhile three digests')} µs and the commit ${us('the first commit')} µs; what the page itself does before, between and after them is ${us('to the lock', 'to the first commit', 'to the transport')} µs ([stages](#where-the-time-of-a-page-goes)). They come one after the other, and [why](decisions/0016-the-lock-before-the-commit.md).`,
    ),
    atMost(
      'A whole call there, to its two bare commits in a Web Lock',
      ratios?.['whole'],
      1.15,
      `The plain function is at ${ratioOf(ratios?.['floorWhole'])} ×: the answer must be read to its end between the two commits. To two commits with an answer read between them a call is ${ratioOf(ratios?.['wholeRead'])} ×. Its second commit looks at the record before it writes, which takes ${us('the second commit')} µs with the writing; it is what keeps a driver that has lost the record from writing over it.`,
    ),
  ];
}

function inSqlite({ stores }: Results): Goal[] {
  const { SQLite: sqlite, memory } = stores?.stores ?? {};
  const us = (...names: string[]): string => sum(sqlite?.stages, ...names);
  const [first, second] = ['the first commit', 'the second commit'];
  return [
    atMost(
      'From the call to the first byte, SQLite, to one bare committed insert',
      sqlite?.['firstByteRatio'],
      1.2,
      `The same plain function is at ${ratioOf(sqlite?.['floorFirstByteRatio'])} ×, over a transaction that looks before it writes and keeps two indexes, without which a store with a million records could neither list nor forget. A bare insert takes ${number(sqlite?.['bare']?.median)} µs on this disk, which flushes fast: the slower the disk, the smaller is all the rest. The first commit takes ${us(first)} µs, and what Node does before and after it ${us('to the first commit', 'to the transport')} µs; in memory, where nothing puts the process to sleep in between, the latter is ${sum(memory?.stages, 'to the first commit', 'to the transport')} µs.`,
    ),
    atMost(
      'A whole call on SQLite, to its two bare commits',
      sqlite?.['wholeRatio'],
      1.2,
      `The plain function is at ${ratioOf(sqlite?.['floorWholeRatio'])} ×, because the second bare commit, an update by its key that is not flushed, costs next to nothing (two take ${number(sqlite?.['bareTwice']?.median)} µs), and everything else is held against it. The second commit of a call takes ${us(second)} µs; reading and judging the answer ${us('the answer, read and judged')} µs.`,
    ),
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
    floor: `Named calls on IndexedDB and nothing else (no other store, no call without a name, no events, no checks of options) would be ${number(sizes?.named)} B. Driving attempts alone is ${number(sizes?.features['driving attempts'])} B of it, which is as much as all of ky. [What it is made of](#size), and [why it stays](decisions/0004-size.md).`,
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
