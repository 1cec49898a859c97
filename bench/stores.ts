/** What each store of a server adds: a call to its first byte, and a whole call, compared with bare commits. `npm run bench:stores [-- rounds]` */
import { hash, randomUUID } from 'node:crypto';
import { close, createOnce } from 'oncefetch';
import { floor } from './lib/floor.ts';
import { POST } from './lib/payment.ts';
import { media } from './lib/servers.ts';
import { Stages } from './lib/stages.ts';
import { median, type Spread, save, spread, table } from './lib/stats.ts';
import { elapsed, FirstByte, inTurns } from './lib/turns.ts';

const CALLS = 100;
const AT_ONCE = 64;
const rounds = Number(process.argv[2] ?? 9);
const URL_ = 'http://127.0.0.1:9/v1/payments';
/** A text as long as the record of a named call. */
const TEXT = 'x'.repeat(600);

interface Measured {
  readonly bare: Spread;
  readonly bareTwice: Spread;
  readonly toFirstByte: Spread;
  readonly whole: Spread;
  readonly wholeOfMany: Spread;
  /** Ratios to one bare commit, and to two, in the same round. */
  readonly firstByteRatio: Spread;
  readonly wholeRatio: Spread;
  /** The same ratios for the floor, which a named call cannot do without. */
  readonly floorFirstByteRatio: Spread;
  readonly floorWholeRatio: Spread;
  /** Where the time of a whole call goes. */
  readonly stages: Readonly<Record<string, Spread>>;
}

const results: Record<string, Measured> = {};
const leftOut: Record<string, string> = {};
for (const [kind, { missing, start }] of Object.entries(media)) {
  if (missing) {
    leftOut[kind] = missing;
    console.log(`${kind} is left out: ${missing}`);
    continue;
  }
  const medium = await start();
  const first = new FirstByte();
  const stages = new Stages(first.fetch);
  const store = await medium.open('records');
  const once = createOnce({ namespace: 'bench', store: stages.store(store), fetch: stages.fetch });
  let n = 0;
  const call = async (): Promise<unknown> => (await once.fetch(URL_, { ...POST, once: ['pay', ++n] })).json();
  const atLeast = floor(
    {
      fetch: first.fetch,
      digest: (text) => hash('sha256', text, 'hex'),
      lock: async () => () => {},
      begin: (record) => medium.bare(record.id, JSON.stringify(record)),
      settle: (record) => medium.again(record.id, JSON.stringify(record)),
      ...medium.least,
    },
    URL_,
  );
  const least = async (): Promise<unknown> => (await atLeast(URL_, POST, ['pay', ++n])).json();
  const seen = await inTurns(
    {
      bare: () => elapsed(() => medium.bare(randomUUID(), TEXT)),
      bareTwice: () => {
        const id = randomUUID();
        return elapsed(async () => {
          await medium.bare(id, TEXT);
          await medium.again(id, `y${TEXT}`);
        });
      },
      floorToFirstByte: () => first.of(least),
      floorWhole: () => elapsed(least),
      toFirstByte: () => first.of(call),
      whole: () => elapsed(() => stages.of(call)),
    },
    rounds,
    CALLS,
  );
  const many = await inTurns({ many: async () => (await elapsed(() => Promise.all(Array.from({ length: AT_ONCE }, call)))) / AT_ONCE }, rounds, 5);
  const of = (name: string): readonly number[] => seen[name] ?? [];
  const ratio = (name: string, to: string): Spread => spread(of(name).map((value, round) => value / (of(to)[round] ?? Number.NaN)));
  results[kind] = {
    bare: spread(of('bare')),
    bareTwice: spread(of('bareTwice')),
    toFirstByte: spread(of('toFirstByte')),
    whole: spread(of('whole')),
    wholeOfMany: spread(many['many'] ?? []),
    firstByteRatio: ratio('toFirstByte', 'bare'),
    wholeRatio: ratio('whole', 'bareTwice'),
    floorFirstByteRatio: ratio('floorToFirstByte', 'bare'),
    floorWholeRatio: ratio('floorWhole', 'bareTwice'),
    stages: Object.fromEntries(Object.entries(stages.seen()).map(([stage, values]) => [stage, spread(values)])),
  };
  console.log(kind, Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values).toFixed(0)])));
  await close(once);
  await medium.close();
}
save('stores', { rounds, atOnce: AT_ONCE, stores: results, leftOut });
console.log(
  table(
    ['store', 'to first byte, µs', 'to a bare commit', 'whole, µs', 'to two', `of ${AT_ONCE} at once, µs`],
    Object.entries(results).map(([kind, { toFirstByte, firstByteRatio, whole, wholeRatio, wholeOfMany }]) => [
      kind,
      toFirstByte.median.toFixed(0),
      firstByteRatio.median.toFixed(2),
      whole.median.toFixed(0),
      wholeRatio.median.toFixed(2),
      wholeOfMany.median.toFixed(0),
    ]),
  ),
);
