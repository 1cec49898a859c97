/** The goals: what was wanted, what was measured, and what stands in the way. */
import { LEAST } from './floor.ts';
import { number, type Results, ratioOf } from './results.ts';
import { type Spread, table } from './stats.ts';

const RECORDS_WANTED = 1_000_000;

interface Goal {
  readonly wanted: string;
  readonly measured: string;
  /** `undefined` if it was not measured. */
  readonly met: boolean | undefined;
  /** What stands in the way, if the goal is not met. */
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
    floor: `ky keeps nothing, so it copies no answer, writes no record and computes no digest. The least that a safe call needs of these adds ${number(least?.addedCpu.median)} µs, ${number(toKy(least))} × what ky adds; we measured it with one plain function (\`bench/lib/floor.ts\`) without options, faults, waits or a second caller. Single steps, each measured alone: ${made.join(', ')}. oncefetch spends the rest mostly in its own functions: checksums, its memory store, and many small steps ([where the CPU goes](#where-the-cpu-goes)). \`run\`, which reads no HTTP answer, adds ${number(node?.cases['oncefetch, run']?.addedCpu.median)} µs.`,
  };
}

const sum = (stages: Readonly<Record<string, Spread>> | undefined, ...names: string[]): string =>
  number(names.reduce((sum, name) => sum + (stages?.[name]?.median ?? Number.NaN), 0));

function inPages({ browsers }: Results): Goal[] {
  const { ratios, stages } = browsers?.browsers['chromium'] ?? {};
  const us = (...names: string[]): string => sum(stages, ...names);
  return [
    atMost(
      'Time to the first byte in Chromium with IndexedDB, compared with one bare strict commit in a Web Lock',
      ratios?.['firstByte'],
      1.15,
      `The least that a safe call needs is at ${ratioOf(ratios?.['floorFirstByte'])} ×. In a call of oncefetch, the browser takes ${us('the lock, and meanwhile three digests')} µs for the lock and ${us('the first commit')} µs for the commit; oncefetch itself takes ${us('to the lock', 'to the first commit', 'to the transport')} µs before, between and after them ([stages](#where-the-time-of-a-page-goes)). The commit waits for the lock; [this decision](decisions/0016-the-lock-before-the-commit.md) says why.`,
    ),
    atMost(
      'A whole call there, compared with its two bare commits in a Web Lock',
      ratios?.['whole'],
      1.15,
      `The least that a safe call needs is at ${ratioOf(ratios?.['floorWhole'])} ×, because the whole answer must be read between the two commits. Compared with two commits and an answer that is read between them, a call is at ${ratioOf(ratios?.['wholeRead'])} ×. Before the second commit writes, it reads the record: a tab that has lost the operation must not overwrite the work of the tab that took it over. Reading and writing take ${us('the second commit')} µs.`,
    ),
  ];
}

function inSqlite({ stores }: Results): Goal[] {
  const { SQLite: sqlite, memory } = stores?.stores ?? {};
  const us = (...names: string[]): string => sum(sqlite?.stages, ...names);
  const [first, second] = ['the first commit', 'the second commit'];
  return [
    atMost(
      'Time to the first byte with SQLite, compared with one bare committed insert',
      sqlite?.['firstByteRatio'],
      1.2,
      `The least that a safe call needs is at ${ratioOf(sqlite?.['floorFirstByteRatio'])} ×: its transaction reads before it writes, and keeps the two indexes that listing and sweeping a million records need. A bare insert takes ${number(sqlite?.['bare']?.median)} µs because this disk flushes fast; on a slower disk all other costs count less. The first commit of oncefetch takes ${us(first)} µs; Node takes ${us('to the first commit', 'to the transport')} µs before and after it. In memory, where no flush puts the process to sleep, these steps take ${sum(memory?.stages, 'to the first commit', 'to the transport')} µs.`,
    ),
    atMost(
      'A whole call with SQLite, compared with its two bare commits',
      sqlite?.['wholeRatio'],
      1.2,
      `The least that a safe call needs is at ${ratioOf(sqlite?.['floorWholeRatio'])} ×. The second bare commit updates one row by its key without a flush, and costs almost nothing (both together ${number(sqlite?.['bareTwice']?.median)} µs), so the ratio is large although the times are small. The second commit of oncefetch takes ${us(second)} µs; reading and judging the answer takes ${us('the answer, read and judged')} µs.`,
    ),
  ];
}

function flat({ records, browsers }: Results): Goal[] {
  const largest = records?.sizes.at(-1) ?? 0;
  const inNode = Object.entries(records?.stores ?? {}).map(([kind, { calls }]): Goal => {
    const goal = atMost(
      `A call with ${number(RECORDS_WANTED)} records in ${kind}, compared with one with ${records?.sizes[0]}`,
      calls[largest]?.ratio,
      1.1,
      'The indexes grow deeper, and less of them fits in the cache.',
    );
    // A run with fewer records cannot show that the goal is met with more.
    return largest < RECORDS_WANTED ? { ...goal, measured: `${goal.measured} with ${number(largest)}`, met: goal.met === false ? false : undefined } : goal;
  });
  const besideUnknown = Object.entries(records?.stores ?? {}).map(([kind, { unknown }]) =>
    atMost(
      `A call in a process with ${number(records?.unknown)} operations that stay unknown in ${kind}, compared with one with none`,
      unknown,
      1.1,
      'The indexes grow deeper.',
    ),
  );
  const { ratios } = browsers?.browsers['chromium'] ?? {};
  return [
    ...inNode,
    ...besideUnknown,
    atMost('A call with 100,000 records in IndexedDB (Chromium), compared with one with 10', ratios?.['IndexedDB'], 1.1, 'The indexes grow deeper.'),
    atMost(
      'A call with 5,000 records in localStorage (Chromium), compared with one with 10',
      ratios?.['localStorage'],
      1.1,
      'Each sweep reads every key. When there is nothing to remove, it runs once a minute at most.',
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
    wanted: `${number(records?.pending)} operations resumed after a restart, in fair turns between ten kinds of name: at most a fifth of the first tenth is of one kind`,
    measured: `${number(worst)}; ${number(done)} of ${number(listed)} done`,
    met: worst === undefined ? undefined : worst <= 0.2,
    floor: 'Eight kinds of name take turns. With more kinds, the next one starts when one of the eight is finished.',
  };
}

function size({ size: sizes }: Results): Goal {
  const [ours, ky] = [sizes?.entries['createOnce']?.now, sizes?.entries['ky']?.now];
  return {
    wanted: 'createOnce with all browser stores: smaller than ky',
    measured: `${number(ours)} B to ${number(ky)} B, gzipped`,
    met: ours !== undefined && ky !== undefined ? ours < ky : undefined,
    floor: `Named calls on IndexedDB alone, without other stores, unnamed calls, events or checks of options, would still be ${number(sizes?.named)} B. Sending attempts and retrying them takes ${number(sizes?.features['driving attempts'])} B, about as much as all of ky. [Size](#size) lists the parts; [this decision](decisions/0004-size.md) says why they stay.`,
  };
}

function memory({ memory: seen }: Results): Goal {
  return {
    wanted: 'No leak over 100,000 operations: less than one byte of heap for each, and no more open handles',
    measured: `${number(seen?.perOperation)} bytes for each operation; open handles: ${seen?.samples[0]?.handles} before, ${seen?.samples.at(-1)?.handles} after`,
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
    ...(missed.length ? ['Why some goals are not met:'] : []),
    missed.map(({ wanted, floor }) => `- **${wanted.split(':')[0]}.** ${floor}`).join('\n'),
  ].join('\n\n');
}
