/** Cases of the contract about scans. */
import type { Store, Stored } from '../../ports.js';
import { type Case, idsIn, must, put, record, remove, same } from './bench.js';

const all = { ns: 'ns', state: 'pending', limit: 100 } as const;
const letters = (text: string): string[] => [...text];

/** The ids of all pages; calls `between` after each page. */
async function paged(store: Store, limit: number, between: (page: number) => Promise<void> = async () => {}): Promise<string[]> {
  const found: string[] = [];
  let after: string | undefined;
  for (let page = 0; ; page++) {
    must(page < 100, 'paging comes to an end');
    const { records, next } = await store.scan({ ...all, limit, after });
    must(records.length <= limit, `at most ${limit} records a page, got ${records.length}`);
    found.push(...idsIn(records));
    if (next === undefined) return found;
    after = next;
    await between(page);
  }
}

const places: readonly Case[] = [
  {
    title: 'a scan gives the records of one namespace and state, by label and then id',
    async run({ open }) {
      const store = await open();
      await put(store, record('3', { label: 'b' }));
      await put(store, record('2', { label: 'a' }));
      await put(store, record('1', { label: 'b' }));
      await put(store, record('4', { label: 'ab' }));
      await put(store, record('5', { label: 'a', ns: 'ns2' }));
      await put(store, record('6', { label: 'a', ns: 'n' }));
      await put(store, record('7', { label: 'a', state: 'settled' }));
      await put(store, record('8', { label: 'a', state: 'retired' }));
      same(idsIn((await store.scan(all)).records), ['2', '4', '1', '3'], 'pending');
      same(idsIn((await store.scan({ ...all, state: 'settled' })).records), ['7'], 'settled');
      same(idsIn((await store.scan({ ...all, state: 'retired' })).records), ['8'], 'retired');
      same(idsIn((await store.scan({ ...all, ns: 'ns2' })).records), ['5'], 'another namespace');
      same(await store.scan({ ...all, ns: 'none' }), { records: [] }, 'a namespace without records');
      same((await store.scan({ ...all, limit: 1 })).records, [record('2', { label: 'a' })], 'whole records');
      // Records of other states and namespaces have labels that come before these.
      same(idsIn((await store.scan({ ...all, state: 'settled', limit: 1 })).records), ['7'], 'a page counts only its own state');
      same(idsIn((await store.scan({ ...all, ns: 'n', limit: 1 })).records), ['6'], 'a page counts only its own namespace');
    },
  },
  {
    title: 'a record is found where its last update put it, and nowhere else',
    async run({ open }) {
      const store = await open();
      await put(store, record('a', { label: 'old' }));
      await put(store, record('a', { label: 'new' }));
      same(idsIn((await store.scan({ ...all, prefix: 'old' })).records), [], 'old label');
      same(idsIn((await store.scan({ ...all, prefix: 'new' })).records), ['a'], 'new label');
      await put(store, record('a', { label: 'new', state: 'settled', ns: 'ns2', forgetAt: 9_000 }));
      same(idsIn((await store.scan(all)).records), [], 'old place');
      same(idsIn((await store.scan({ ns: 'ns2', state: 'settled', limit: 9 })).records), ['a'], 'new place');
      same(idsIn((await store.scan({ before: 8_999, limit: 9 })).records), [], 'old time');
      same(idsIn((await store.scan({ before: 9_001, limit: 9 })).records), ['a'], 'new time');
      await remove(store, 'a');
      same(idsIn((await store.scan({ ns: 'ns2', state: 'settled', limit: 9 })).records), [], 'removed');
      same(idsIn((await store.scan({ before: 9_001, limit: 9 })).records), [], 'removed from the times');
    },
  },
  {
    title: 'a prefix is the exact start of a label, whatever characters it has',
    async run({ open }) {
      const store = await open();
      const odd = [
        '"',
        "'",
        '%',
        '_',
        '*',
        '?',
        '[',
        '\\',
        '\\"',
        '\u0000',
        '\n',
        '\ud800',
        '\udfff',
        '\u{1F4B3}',
        '\uffff',
        '\uffff\uffff',
        ' ',
        'é',
        'e\u0301',
      ];
      const labels = odd.flatMap((text) => [text, `${text}${text}`, `x${text}`, `${text}x`]);
      for (const [n, label] of labels.entries()) await put(store, record(`r${n}`, { label }));
      for (const prefix of [...odd, ...odd.map((text) => `x${text}`), 'x', 'E', '']) {
        const found = (await store.scan({ ...all, prefix })).records.map((one) => JSON.stringify((one as Stored).label));
        same(
          found.sort(),
          labels
            .filter((label) => label.startsWith(prefix))
            .map((label) => JSON.stringify(label))
            .sort(),
          `prefix ${JSON.stringify(prefix)}`,
        );
      }
      const sorted = labels
        .map((label, n) => ({ label, id: `r${n}` }))
        .sort((a, b) => (a.label === b.label ? +(a.id > b.id) || -1 : +(a.label > b.label) || -1));
      same(
        await paged(store, 7),
        sorted.map(({ id }) => id),
        'pages of all of them, in the order of UTF-16 units',
      );
    },
  },
  {
    title: 'a label may be 2,048 characters long, and all of them count',
    async run({ open }) {
      const store = await open();
      for (const start of ['\uffff', '"']) {
        const labels = letters('cab').map((end) => start.repeat(2_047) + end);
        for (const label of labels) await put(store, record(label.slice(-1), { label }));
        same(await paged(store, 1), letters('abc'), 'pages');
        for (const label of labels) same(idsIn((await store.scan({ ...all, prefix: label })).records), [label.slice(-1)], 'a prefix that long');
      }
    },
  },
];

const pages: readonly Case[] = [
  {
    title: 'pages of any size give every record once, in order, and the last one says so',
    async run({ open }) {
      const store = await open();
      // Two labels for six records, so that a page may end between records of one label.
      for (const id of ['f', 'a9', 'd', 'e', 'c', 'a10']) await put(store, record(id, { label: id < 'd' ? 'one' : 'two' }));
      for (const limit of [1, 2, 3, 4, 5, 6, 7]) same(await paged(store, limit), ['a10', 'a9', ...letters('cdef')], `pages of ${limit}`);
      const last = await store.scan({ ...all, limit: 6 });
      same(last.next, undefined, 'a full last page has no next');
    },
  },
  {
    title: 'pages leave nothing out and repeat nothing while records come and go',
    async run({ open }) {
      const store = await open();
      for (const id of letters('acegikmo')) await put(store, record(id, { label: id }));
      const found = await paged(store, 2, async (page) => {
        // Insert before and after the end of the page, and remove the very record at which it ended.
        if (page === 0) for (const id of ['b', 'f']) await put(store, record(id, { label: id }));
        if (page === 0) await remove(store, 'c');
        if (page === 1) for (const id of ['a', 'g']) await remove(store, id);
      });
      same(found, letters('acefikmo'), 'what was there all the time, and what came in before its turn');
    },
  },
  {
    title: 'a page can begin after any record, by its label and id',
    async run({ open }) {
      const store = await open();
      for (const id of letters('abcd')) await put(store, record(id, { label: 'x' }));
      const after = (id: string) => store.scan({ ...all, prefix: 'x', after: JSON.stringify(['x', id]) });
      same(idsIn((await after('b')).records), ['c', 'd'], 'after b');
      await remove(store, 'b');
      same(idsIn((await after('b')).records), ['c', 'd'], 'after b, which is gone');
      same(await after('d'), { records: [] }, 'after the last one');
    },
  },
  {
    title: 'a page of a prefix can begin after a record that comes before all with that prefix',
    async run({ open }) {
      const store = await open();
      for (const id of letters('abcde')) await put(store, record(id, { label: 'w' }));
      for (const id of letters('fg')) await put(store, record(id, { label: 'x' }));
      const { records, next } = await store.scan({ ...all, prefix: 'x', after: JSON.stringify(['w', 'a']), limit: 1 });
      same(idsIn(records), ['f'], 'the first page');
      same(idsIn((await store.scan({ ...all, prefix: 'x', after: next, limit: 1 })).records), ['g'], 'the second page');
    },
  },
];

const sweeps: readonly Case[] = [
  {
    title: 'a sweep gives what may be forgotten before a time, of all namespaces and states, the oldest first',
    async run({ open }) {
      const store = await open();
      await put(store, record('c', { forgetAt: 3_000, ns: 'ns2' }));
      await put(store, record('a', { forgetAt: 1_000, state: 'settled' }));
      await put(store, record('e', { forgetAt: 4_000_000_000_000 }));
      await put(store, record('b', { forgetAt: 2_000, state: 'retired' }));
      const sweep = async (before: number, limit = 100) => idsIn((await store.scan({ before, limit })).records);
      same(await sweep(1_000), [], 'not at its time');
      same(await sweep(1_001), ['a'], 'after it');
      same(await sweep(5_000), ['a', 'b', 'c'], 'the oldest first');
      same(await sweep(5_000, 2), ['a', 'b'], 'no more than asked for');
      await remove(store, 'a');
      same(await sweep(5_000, 2), ['b', 'c'], 'and then the others');
      same(await sweep(Number.POSITIVE_INFINITY), ['b', 'c', 'e'], 'all of them');
    },
  },
];

export const scanCases: readonly Case[] = [...places, ...pages, ...sweeps];
