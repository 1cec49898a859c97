/** Cases of the contract about single records. */
import type { Stored } from '../../ports.js';
import { type Case, idsIn, must, put, record, rejection, remove, same } from './bench.js';

/** Tries to change a value. A store may give a copy or freeze the value, so an error is ignored. */
const spoil = (value: unknown): void => {
  try {
    (value as { label: string }).label = 'spoilt';
    ((value as { nested?: { list: unknown[] } }).nested as { list: unknown[] }).list.push('spoilt');
  } catch {}
};

/** How far a store's clock may be off, ms. Clocks differ by less; a time in another unit than ms differs by more. */
const DAY_MS = 86_400_000;

const ODD_IDS = [
  '__proto__',
  'constructor',
  'toString',
  'length',
  ' ',
  '0',
  'a/b',
  'A/b',
  '../a',
  '%2F',
  'a:b',
  "'; DROP TABLE records; --",
  'ü\u0301',
  'u\u0308\u0301',
  '\u{1F4B3}',
  'x'.repeat(300),
  'x'.repeat(301),
];

const steps: readonly Case[] = [
  {
    title: 'an absent record reads as undefined',
    async run({ open }) {
      const store = await open();
      must((await store.available?.()) ?? true, 'a store that works is available');
      same(await store.read('a'), undefined, 'read');
      same(await store.update('a', (current) => ({ value: current === undefined })), true, 'change got undefined');
      same(await store.read('a'), undefined, 'after a change that left it absent');
    },
  },
  {
    title: 'a record can be inserted, changed and removed',
    async run({ open }) {
      const store = await open();
      // Frozen, as the engine's records are: a store that writes into what it gets fails.
      await put(store, Object.freeze(record('a', { count: 1 })));
      same(await store.read('a'), record('a', { count: 1 }), 'inserted');
      await store.update('a', (current) => ({ next: { ...(current as Stored), state: 'settled' }, value: undefined }));
      same(await store.read('a'), record('a', { count: 1, state: 'settled' }), 'changed');
      await put(store, record('a', { more: 1 }));
      same(await store.read('a'), record('a', { more: 1 }), 'replaced: what the next one has not is gone');
      await remove(store, 'a');
      same(await store.read('a'), undefined, 'removed');
      await remove(store, 'a');
    },
  },
  {
    title: 'a change without `next` leaves the record as it is, and an explicit undefined is the same',
    async run({ open }) {
      const store = await open();
      await put(store, record('a'));
      await store.update('a', () => ({ value: undefined }));
      await store.update('a', () => ({ next: undefined as never, value: undefined }));
      same(await store.read('a'), record('a'), 'left');
    },
  },
  {
    title: 'a change sees the present record and the time of the store',
    async run({ open }) {
      const store = await open();
      await put(store, record('a', { count: 7 }));
      const seen = await store.update('a', (current, now) => ({ value: { current, now } }));
      same(seen.current, record('a', { count: 7 }), 'the record');
      must(Math.abs(seen.now - Date.now()) < DAY_MS, `the time is ms since 1970, got ${seen.now}`);
    },
  },
  {
    title: 'an update resolves with the value of its change, whatever it stores',
    async run({ open }) {
      const store = await open();
      const value = { some: () => 'thing' };
      must((await store.update('a', () => ({ value }))) === value, 'leaving');
      must((await store.update('a', () => ({ next: record('a'), value }))) === value, 'storing');
      must((await store.update('a', () => ({ next: null, value }))) === value, 'removing');
    },
  },
  {
    title: 'a change that throws rejects with what it threw, and stores nothing',
    async run({ open }) {
      const store = await open();
      await put(store, record('a'));
      const thrown = new Error('thrown by the change');
      const change = () => {
        throw thrown;
      };
      must((await rejection(store.update('a', change), 'update')) === thrown, 'the very same error');
      must((await rejection(store.update('b', change), 'update')) === thrown, 'of an absent record, too');
      same([await store.read('a'), await store.read('b')], [record('a'), undefined], 'nothing changed');
      await put(store, record('a', { count: 2 }));
      same(await store.read('a'), record('a', { count: 2 }), 'and the store still works');
    },
  },
  {
    title: 'strict and relaxed updates are both stored',
    async run({ open }) {
      const store = await open();
      await store.update('a', () => ({ next: record('a'), value: undefined }), { durability: 'strict' });
      await store.update('b', () => ({ next: record('b'), value: undefined }), { durability: 'relaxed' });
      await store.update('c', () => ({ next: record('c'), value: undefined }), { durability: undefined });
      same(
        [await store.read('a'), await store.read('b'), await store.read('c')],
        ['a', 'b', 'c'].map((id) => record(id)),
        'all there',
      );
    },
  },
];

const contents: readonly Case[] = [
  {
    title: 'all JSON comes back as it was, fields that the store does not know included',
    async run({ open }) {
      const store = await open();
      const odd = record('a', { nested: { list: [1, null, true, '', { deep: -1.5 }] }, text: 'quote " \' \\ \u0000 \u2028 \ud800 \u{1F4B3}' });
      await put(store, odd);
      same(await store.read('a'), odd, 'read');
      const gone = { absent: undefined, list: [{ absent: undefined }] };
      await put(store, record('c', { ...gone, gone }));
      same(await store.read('c'), record('c', { list: [{}], gone: { list: [{}] } }), 'a field that is undefined is absent, and never null');
      const owned = JSON.parse('{"__proto__":{"polluted":true}}') as object;
      await put(store, record('b', { owned }));
      same(await store.read('b'), record('b', { owned }), 'a field called __proto__ is a field');
      must(!('polluted' in {}), 'no prototype was touched');
    },
  },
  {
    title: 'a record of 100 kB comes back whole',
    async run({ open }) {
      const store = await open();
      const big = record('big', { body: 'äöü€'.repeat(25_000) });
      await put(store, big);
      same(await store.read('big'), big, 'read');
      same((await store.scan({ ns: 'ns', state: 'pending', limit: 1 })).records, [big], 'scanned');
    },
  },
  {
    title: 'odd ids are ids like others',
    async run({ open }) {
      const store = await open();
      for (const id of ODD_IDS) same(await store.read(id), undefined, `${id} is absent`);
      for (const id of ODD_IDS) await put(store, record(id));
      for (const id of ODD_IDS) same(await store.read(id), record(id), id);
      same(idsIn((await store.scan({ ns: 'ns', state: 'pending', limit: 100 })).records).sort(), [...ODD_IDS].sort(), 'all in a scan');
      for (const id of ODD_IDS) await remove(store, id);
      for (const id of ODD_IDS) same(await store.read(id), undefined, `${id} is removed`);
    },
  },
  {
    title: 'no caller can change what is stored but by an update',
    async run({ open }) {
      const store = await open();
      const fresh = () => record('a', { nested: { list: [1] } });
      const given = fresh();
      await put(store, given);
      spoil(given);
      same(await store.read('a'), fresh(), 'by what was stored');
      spoil(await store.read('a'));
      same(await store.read('a'), fresh(), 'by what was read');
      await store.update('a', (current) => {
        spoil(current);
        return { value: undefined };
      });
      same(await store.read('a'), fresh(), 'by what a change got');
      spoil((await store.scan({ ns: 'ns', state: 'pending', limit: 1 })).records[0]);
      same(await store.read('a'), fresh(), 'by what a scan gave');
    },
  },
];

export const recordCases: readonly Case[] = [...steps, ...contents];
