/** Cases of the contract about many updates at once, closed stores, and damaged records. */
import type { Store, Stored } from '../../ports.js';
import { type Case, idsIn, must, put, record, rejection, remove, same } from './bench.js';

const counted = (current: unknown): number => (current as { count?: number } | undefined)?.count ?? 0;
const raise = (store: Store): Promise<number> =>
  store.update('counter', (current) => ({ next: record('counter', { count: counted(current) + 1 }), value: counted(current) + 1 }));
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

const LOOKS: readonly ((store: Store, expected: Stored | undefined) => Promise<void>)[] = [
  async (store, expected) => same(await store.read('a'), expected, 'a read'),
  async (store, expected) => same(await store.update('a', (current) => ({ value: current })), expected, 'a change that leaves it'),
  (store, expected) =>
    store.update('a', (current) => {
      must((current as Stored | undefined)?.state === expected?.state, 'what a change throws at a guess is not told');
      return { value: undefined };
    }),
  async (store, expected) => {
    for (const state of ['pending', 'settled'] as const)
      same((await store.scan({ ns: 'ns', state, limit: 9 })).records, expected?.state === state ? [expected] : [], `a scan of ${state}`);
  },
  async (store, expected) => same((await store.scan({ before: 2_000, limit: 9 })).records, expected ? [expected] : [], 'a sweep'),
];

const together: readonly Case[] = [
  {
    title: '50 updates of one record at once come one after the other',
    async run({ open }) {
      const store = await open();
      const seen = await Promise.all(upTo(50).map(() => raise(store)));
      same(
        seen.sort((a, b) => a - b),
        upTo(50),
        'each saw the one before',
      );
      same(counted(await store.read('counter')), 50, 'the last one is stored');
    },
  },
  {
    title: 'updates of one record through two stores at once come one after the other',
    needs: ['shared', 'atomic'],
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      const seen = await Promise.all(upTo(40).map((n) => raise(n % 2 ? a : b)));
      same(
        seen.sort((x, y) => x - y),
        upTo(40),
        'each saw the one before',
      );
      same([counted(await a.read('counter')), counted(await b.read('counter'))], [40, 40], 'both see the last one');
      // Each update either removes the record that is there, or inserts its own.
      const swap = (store: Store, n: number): Promise<readonly [left: number, taken: number]> =>
        store.update('swap', (current) => (current ? { next: null, value: [0, counted(current)] } : { next: record('swap', { count: n }), value: [n, 0] }));
      const swapped = await Promise.all(upTo(40).map((n) => swap(n % 2 ? a : b, n)));
      const [leaving, taking] = [0, 1].map((at) => swapped.map((one) => one[at] as number).filter(Boolean));
      same(taking?.sort(), leaving?.sort(), 'what one left was taken once, by one that removed it');
    },
  },
  {
    title: 'updates of many records at once are all stored',
    async run({ open }) {
      const store = await open();
      await Promise.all(upTo(30).map((n) => put(store, record(`r${n}`))));
      for (const n of upTo(30)) same(await store.read(`r${n}`), record(`r${n}`), `r${n}`);
    },
  },
  {
    title: 'what an update stored is there for a store opened after it resolved',
    needs: ['shared'],
    async run({ open }) {
      const [first, second] = [await open(), await open()];
      same(await second.read('a'), undefined, 'absent');
      await put(first, record('a', { count: 0 }));
      same(await second.read('a'), record('a', { count: 0 }), 'for one that was open, and has looked before');
      await first.update('a', () => ({ next: record('a', { count: 1 }), value: undefined }), { durability: 'relaxed' });
      same(await second.read('a'), record('a', { count: 1 }), 'a relaxed one, too');
      await Promise.all(upTo(20).map((n) => put(n % 2 ? first : second, record(`r${n}`))));
      for (const n of upTo(20)) same(await second.read(`r${n}`), record(`r${n}`), `r${n}, of many through both at once`);
      await first.close();
      same(await second.read('a'), record('a', { count: 1 }), 'when the one that stored it is closed');
      await second.close();
      same(await (await open()).read('a'), record('a', { count: 1 }), 'for one that is opened later');
    },
  },
  {
    title: 'a store that looked sees what another one inserts, settles and removes, however it looks, and so does one opened later',
    needs: ['shared'],
    async run({ open }) {
      const writer = await open();
      // A store for each way of looking, so that a result of one way can't make another one right.
      const eyes = await Promise.all(LOOKS.map(async (look) => ({ look, store: await open() })));
      for (const next of [null, record('a'), record('a', { state: 'settled' }), null]) {
        await writer.update('a', () => ({ next, value: undefined }));
        for (const { look, store } of eyes) for (const one of [store, await open()]) await look(one, next ?? undefined);
      }
    },
  },
  {
    title: 'whoever looks while records are written finds each whole, as it was or as it will be',
    needs: ['shared'],
    async run({ open }) {
      const [writer, reader] = [await open(), await open()];
      const body = (n: number): string => String(n).repeat(5_000);
      const write = (n: number): Promise<void> => put(writer, record('a', { count: n, body: body(n) }));
      const whole = (found: unknown): void => same(found, record('a', { count: counted(found), body: body(counted(found)) }), 'whole');
      const others = ['e', 'd', 'c', 'b'];
      await write(0);
      for (const n of upTo(8)) {
        await Promise.all(others.map((id) => put(writer, record(id))));
        const [found] = await Promise.all([
          reader.read('a'),
          write(n),
          // Change the other records, from the end towards the reader, who starts at the beginning: some are removed, some change their state.
          ...others.map((id, at) => (at % 2 ? remove(writer, id) : put(writer, record(id, { state: 'settled' })))),
          (async () => {
            for (const _ of others) {
              const { records } = await reader.scan({ ns: 'ns', state: 'pending', limit: 9 });
              must(idsIn(records).includes('a'), 'a scan gives what is there all the time');
              must(
                records.every((one) => (one as Stored).state === 'pending'),
                'a scan gives nothing of another state',
              );
              whole(records[0]);
            }
          })(),
        ]);
        whole(found);
      }
    },
  },
  {
    title: 'an update that is under way when its store is closed is stored, or rejects',
    needs: ['shared'],
    async run({ open }) {
      const store = await open();
      await put(store, record('a'));
      const ends = upTo(5).map((n) =>
        put(store, record(`r${n}`)).then(
          () => n,
          () => 0,
        ),
      );
      await store.close();
      const again = await open();
      for (const n of await Promise.all(ends)) if (n) same(await again.read(`r${n}`), record(`r${n}`), `r${n}, which resolved`);
    },
  },
  {
    title: 'the holder of an open store has one name, and is not gone',
    needs: ['shared'],
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      const name = await a.holder?.();
      if (name === undefined) return;
      same(await a.holder?.(), name, 'asked again');
      same([await a.isGone?.(name), await b.isGone?.(name)], [false, false], 'asked by itself and by another');
    },
  },
  {
    title: 'another medium is another place, and has another scope',
    async run({ open }) {
      const [store, other] = [await open(), await open('-2')];
      await put(store, record('a'));
      same([await other.read('a'), (await other.scan({ before: 2_000, limit: 9 })).records], [undefined, []], 'its records');
      must(store.scope !== other.scope, `locks are named by the scope, and ${store.scope} is the scope of both`);
    },
  },
  {
    title: 'objects that reach the same records have one scope',
    needs: ['shared'],
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      must(typeof a.scope === 'string' && a.scope !== '', 'scope is text');
      // Not for clusters: it can't always be told whether two connections lead to the same server.
      if (a.shared !== 'cluster') same(b.scope, a.scope, 'scope');
    },
  },
  {
    title: 'a closed store rejects every call with an error, and its medium stays',
    async run({ open }) {
      const store = await open();
      await put(store, record('a'));
      await store.close();
      await store.close();
      const calls = { read: () => store.read('a'), update: () => put(store, record('b')), scan: () => store.scan({ before: 1, limit: 1 }) };
      for (const [name, call] of Object.entries(calls)) {
        const error = await rejection(call(), `${name} after close`);
        must(error instanceof Error && (error as { reason?: unknown }).reason === 'closed', `${name} rejects with reason 'closed', got ${String(error)}`);
      }
    },
  },
  {
    title: 'an update costs the same among 300 records as among 10',
    needs: ['work'],
    async run({ open, work }) {
      const store = await open();
      const cost = async (): Promise<number> => {
        const before = work();
        await put(store, record('r1', { count: 1 }));
        await store.read('r1');
        return work() - before;
      };
      for (const n of upTo(10)) await put(store, record(`r${n}`));
      const few = await cost();
      for (const n of upTo(300)) await put(store, record(`r${n}`));
      must(few > 0, '`work` counts');
      same(await cost(), few, 'work of one update and one read');
    },
  },
];

const DAMAGED = [42, 'half a rec', [], {}, { id: 'bad' }, record('bad', { forgetAt: 'soon' as never }), record('bad', { label: 7 as never })];

const damage: readonly Case[] = [
  {
    title: 'a damaged record is handed over as it is, stays, and can be removed',
    needs: ['plant'],
    async run({ open, plant }) {
      for (const [n, bad] of DAMAGED.entries()) {
        const [store, id] = [await open(), `bad${n}`];
        await plant(id, bad);
        same(await store.read(id), bad, 'read');
        same(await store.update(id, (current) => ({ value: current })), bad, 'what a change sees');
        same(await store.read(id), bad, 'it stays when it is left');
        await remove(store, id);
        same(await store.read(id), undefined, 'removed');
      }
    },
  },
  {
    title: 'damaged records break no scan and no sweep',
    needs: ['plant'],
    async run({ open, plant }) {
      const store = await open();
      await put(store, record('a'));
      for (const [n, bad] of DAMAGED.entries()) await plant(`bad${n}`, bad);
      await put(store, record('b'));
      const sound = (records: readonly unknown[]) => idsIn(records).filter((id) => id === 'a' || id === 'b');
      same(sound((await store.scan({ ns: 'ns', state: 'pending', limit: 100 })).records), ['a', 'b'], 'scan');
      same(sound((await store.scan({ before: 2_000, limit: 100 })).records).sort(), ['a', 'b'], 'sweep');
      for (const [n, bad] of DAMAGED.entries()) same(await store.read(`bad${n}`), bad, 'and all are kept');
    },
  },
];

export const togetherCases: readonly Case[] = [...together, ...damage];
