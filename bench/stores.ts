/** What each store of a server adds: a call to its first byte and as a whole, beside bare commits of the same database. `npm run bench:stores [-- rounds]` */
import { randomUUID } from 'node:crypto';
import { createOnce, type Stored } from 'oncefetch';
import { POST } from './lib/payment.ts';
import { media } from './lib/servers.ts';
import { median, type Spread, save, spread, table } from './lib/stats.ts';
import { elapsed, FirstByte, inTurns } from './lib/turns.ts';

const CALLS = 100;
const AT_ONCE = 64;
const rounds = Number(process.argv[2] ?? 9);
const URL_ = 'http://127.0.0.1:9/v1/payments';
/** As long as the record of a named call. */
const TEXT = 'x'.repeat(600);
const DAY = 86_400_000;

interface Measured {
  readonly bare: Spread;
  readonly bareTwice: Spread;
  /** The store's own two commits, without a call around them. */
  readonly begin: Spread;
  readonly settle: Spread;
  readonly toFirstByte: Spread;
  readonly whole: Spread;
  readonly wholeOfMany: Spread;
  /** To one bare commit, and to two, in the same round. */
  readonly firstByteRatio: Spread;
  readonly wholeRatio: Spread;
  /** What the call itself takes, over a stub and in memory: no database can make it less. */
  readonly above: Spread;
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
  const store = await medium.open('records');
  const once = createOnce({ namespace: 'bench', store, fetch: first.fetch });
  let record: Stored = { id: '', ns: 'other', state: 'pending', label: '["bare"]', forgetAt: Date.now() + DAY };
  const write = (durability: 'strict' | 'relaxed') =>
    store.update(record.id, () => ({ next: { ...record, pad: TEXT } as Stored, value: undefined }), { durability });
  let n = 0;
  const call = async (): Promise<unknown> => (await once.fetch(URL_, { ...POST, once: ['pay', ++n] })).json();
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
      begin: () => {
        record = { ...record, id: randomUUID(), state: 'pending' };
        return elapsed(() => write('strict'));
      },
      settle: () => {
        record = { ...record, state: 'settled' };
        return elapsed(() => write('relaxed'));
      },
      toFirstByte: () => first.of(call),
      whole: () => elapsed(call),
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
    begin: spread(of('begin')),
    settle: spread(of('settle')),
    toFirstByte: spread(of('toFirstByte')),
    whole: spread(of('whole')),
    wholeOfMany: spread(many['many'] ?? []),
    firstByteRatio: ratio('toFirstByte', 'bare'),
    wholeRatio: ratio('whole', 'bareTwice'),
    above: spread(of('whole').map((value, round) => value - (of('bareTwice')[round] ?? Number.NaN))),
  };
  console.log(kind, Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values).toFixed(0)])));
  await once.close();
  await medium.close();
}
save('stores', { rounds, calls: CALLS, atOnce: AT_ONCE, stores: results, leftOut });
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
