/** Cases of the contract about many updates at once, closed stores, and damaged records. */
import type { Store } from '../../ports.js';
import { type Case, idsIn, must, put, record, rejection, remove, same } from './bench.js';

const counted = (current: unknown): number => (current as { count?: number } | undefined)?.count ?? 0;
const raise = (store: Store): Promise<number> =>
  store.update('counter', (current) => ({ next: record('counter', { count: counted(current) + 1 }), value: counted(current) + 1 }));
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

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
      await second.close();
      same(await (await open()).read('a'), record('a', { count: 1 }), 'for one that is opened later');
    },
  },
  {
    title: 'what an origin shares has one scope, however often it is opened',
    needs: ['shared'],
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      must(typeof a.scope === 'string' && a.scope !== '', 'scope is text');
      if (a.shared === 'origin') same(b.scope, a.scope, 'scope');
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
