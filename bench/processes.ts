/**
 * Processes that share an SQLite file, on a disk that flushes in 0.1 ms and on one that takes 5 ms: calls a second, and how busy the event loop
 * is. The file is in memory, and the time of a flush is added, so that the disk is equally fast in each round. Needs Linux and a C compiler.
 * `npm run bench:processes [-- rounds]`; BEFORE=<folder of another build> also runs that build, in turn.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once as onceHeard } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { type Spread, save, spread, table } from './lib/stats.ts';

/** Long enough for V8 to compile the code, which takes a while at a few hundred calls a second. */
const WARM_UP_MS = 10_000;
const RUN_MS = 2500;
const rounds = Number(process.argv[2] ?? 5);
const CASES = [
  { processes: 1, lanes: 1, flushMs: 0.1 },
  { processes: 4, lanes: 1, flushMs: 0.1 },
  { processes: 1, lanes: 1, flushMs: 5 },
  { processes: 4, lanes: 1, flushMs: 5 },
  { processes: 1, lanes: 8, flushMs: 5 },
  { processes: 4, lanes: 16, flushMs: 5 },
] as const;
type Case = (typeof CASES)[number];
const nameOf = ({ processes, lanes, flushMs }: Case): string => `${processes} × ${lanes}, ${flushMs} ms to flush`;

const before = process.env['BEFORE'];
const builds: Record<string, string> = { oncefetch: join(import.meta.dirname, '../dist'), ...(before && { before }) };
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-processes-'));
const library = join(folder, 'slow-flush.so');
if (spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, join(import.meta.dirname, 'slow-flush.c'), '-ldl'], { stdio: 'inherit' }).status !== 0)
  throw new Error('a C compiler is wanted: apt-get install gcc libc6-dev');

interface Figures {
  readonly perSecond: number;
  /** How busy the event loop of the busiest process was. */
  readonly busy: number;
  readonly delayMs: number;
}

const lineOf = async (lines: Interface): Promise<string> => String((await onceHeard(lines, 'line'))[0]);

async function run(build: string, { processes, lanes, flushMs }: Case): Promise<Figures> {
  const place = mkdtempSync('/dev/shm/oncefetch-');
  const env = { ...process.env, LD_PRELOAD: library, FLUSH_MS: String(flushMs) };
  const children = Array.from({ length: processes }, (_, n): ChildProcess => {
    const args = [join(import.meta.dirname, 'processes-worker.ts'), build, join(place, 'once.db'), `p${n}`, String(lanes), String(WARM_UP_MS), String(RUN_MS)];
    return spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  });
  const outputs = children.map(({ stdout }) => createInterface({ input: stdout as NodeJS.ReadableStream }));
  await Promise.all(outputs.map(lineOf));
  const ends = outputs.map(lineOf);
  for (const { stdin } of children) stdin?.write('go\n');
  const told = (await Promise.all(ends)).map((line) => JSON.parse(line) as { calls: number; busy: number; delayMs: number });
  rmSync(place, { recursive: true, force: true });
  return {
    perSecond: (told.reduce((sum, { calls }) => sum + calls, 0) / RUN_MS) * 1000,
    busy: Math.max(...told.map(({ busy }) => busy)),
    delayMs: Math.max(...told.map(({ delayMs }) => delayMs)),
  };
}

const seen: Record<string, Record<string, Figures[]>> = Object.fromEntries(
  Object.keys(builds).map((build) => [build, Object.fromEntries(CASES.map((one) => [nameOf(one), []]))]),
);
for (let round = 0; round < rounds; round++)
  for (const one of CASES) for (const [name, build] of Object.entries(builds)) seen[name]?.[nameOf(one)]?.push(await run(build, one));
rmSync(folder, { recursive: true, force: true });

/** The ratio of one case to another one in the same round. */
const ratio = (build: string, one: Case, other: Case, otherBuild = build): Spread => {
  const to = seen[otherBuild]?.[nameOf(other)] ?? [];
  return spread((seen[build]?.[nameOf(one)] ?? []).map(({ perSecond }, round) => perSecond / (to[round]?.perSecond ?? Number.NaN)));
};
const results = Object.fromEntries(
  Object.keys(builds).map((build) => [
    build,
    Object.fromEntries(
      CASES.map((one) => {
        const figures = seen[build]?.[nameOf(one)] ?? [];
        const alone = CASES.find(({ processes, lanes, flushMs }) => processes === 1 && lanes === 1 && flushMs === one.flushMs) as Case;
        return [
          nameOf(one),
          {
            perSecond: spread(figures.map(({ perSecond }) => perSecond)),
            toOne: ratio(build, one, alone),
            ...(before && { toBefore: ratio(build, one, one, 'before') }),
            busy: spread(figures.map(({ busy }) => busy)),
            delayMs: spread(figures.map(({ delayMs }) => delayMs)),
          },
        ];
      }),
    ),
  ]),
);
save('processes', { rounds, builds: results });
console.log(
  table(
    ['build', 'processes × calls at once', 'a second', 'to 1 × 1', 'to before', 'loop busy', 'delay, p99, ms'],
    Object.entries(results).flatMap(([build, cases]) =>
      Object.entries(cases).map(([name, { perSecond, toOne, toBefore, busy, delayMs }]) => [
        build,
        name,
        perSecond.median.toFixed(0),
        toOne.median.toFixed(2),
        toBefore?.median.toFixed(2) ?? '',
        busy.median.toFixed(2),
        delayMs.median.toFixed(1),
      ]),
    ),
  ),
);
