/**
 * Goal: no store with a flaw passes the contract. Method: one small correct store, and flaws that are put into it one at a time.
 * Each flaw must make at least one case fail, and without a flaw no case fails.
 */
import { describe, expect, test } from 'vitest';
import type { ScanPage, ScanQuery, Store, Stored } from '../../src/ports.js';
import { storeContract } from '../../src/testing/store-contract.js';

interface Medium {
  readonly name: string;
  readonly texts: Map<string, string>;
  work: number;
}

/** The parts of a store, any of which a flaw replaces. */
interface Parts {
  read(medium: Medium, id: string): unknown;
  /** Stores `next`; `undefined` leaves the record as it is. */
  write(medium: Medium, id: string, next: Stored | null | undefined, changed: object): void;
  pause(): Promise<void> | undefined;
  late(work: () => void): void;
  page(found: Stored[], query: ScanQuery): ScanPage;
  parse(text: string): unknown;
  thrown(error: unknown): unknown;
  value<T>(value: T): T;
  now(): number;
  scope(medium: Medium): string;
  whenClosed(): void;
}

const order = (a: Stored, b: Stored): number => (a.label === b.label ? (a.id < b.id ? -1 : 1) : a.label < b.label ? -1 : 1);

const right: Parts = {
  read: (medium, id) => {
    const text = medium.texts.get(id);
    medium.work++;
    return text === undefined ? undefined : right.parse(text);
  },
  write: (medium, id, next) => {
    medium.work++;
    if (next === null) medium.texts.delete(id);
    else if (next) medium.texts.set(id, JSON.stringify(next));
  },
  pause: () => undefined,
  late: (work) => work(),
  page(found, query) {
    if ('before' in query)
      return {
        records: found
          .filter((r) => r.forgetAt < query.before)
          .sort((a, b) => a.forgetAt - b.forgetAt)
          .slice(0, query.limit),
      };
    const { ns, state, prefix = '', after, limit } = query;
    const [label, id] = JSON.parse(after ?? '["",""]') as [string, string];
    const all = found
      .filter(
        (r) =>
          r.ns === ns &&
          r.state === state &&
          r.label.startsWith(prefix) &&
          (!after || order({ ...r, label, id }, r) < 0) &&
          !(after && r.id === id && r.label === label),
      )
      .sort(order);
    const last = all[limit - 1];
    return { records: all.slice(0, limit), next: last && all.length > limit ? JSON.stringify([last.label, last.id]) : undefined };
  },
  parse: (text) => JSON.parse(text),
  thrown: (error) => error,
  value: (value) => value,
  now: () => Date.now(),
  scope: ({ name }) => `naive ${name}`,
  whenClosed: () => {
    throw Object.assign(new Error('closed'), { reason: 'closed' });
  },
};

const isSound = (r: unknown): r is Stored => typeof (r as Stored)?.label === 'string' && typeof (r as Stored).forgetAt === 'number';

function build(medium: Medium, flaw: Partial<Parts>): Store {
  const parts = { ...right, ...flaw };
  let closed = false;
  const open = () => closed && parts.whenClosed();
  return {
    kind: 'naive',
    scope: parts.scope(medium),
    survives: 'context',
    shared: 'origin',
    atomic: true,
    async read(id) {
      open();
      return parts.read(medium, id);
    },
    async update(id, change) {
      open();
      const current = parts.read(medium, id);
      const pause = parts.pause();
      if (pause) await pause;
      let changed: ReturnType<typeof change>;
      try {
        changed = change(current, parts.now());
      } catch (error) {
        throw parts.thrown(error);
      }
      parts.late(() => parts.write(medium, id, changed.next, changed));
      return parts.value(changed.value);
    },
    async scan(query) {
      open();
      return parts.page([...medium.texts.values()].map((text) => parts.parse(text)).filter(isSound), query);
    },
    async close() {
      closed = true;
    },
  };
}

/** The titles of the cases that fail. */
async function failures(flaw: Partial<Parts>): Promise<string[]> {
  const media = new Map<string, Medium>();
  const mediumOf = (name: string): Medium => media.get(name) ?? (media.set(name, { name, texts: new Map(), work: 0 }).get(name) as Medium);
  const cases: [string, () => Promise<void>][] = [];
  storeContract({
    name: 'naive',
    test: (title, run) => cases.push([title, run]),
    open: (name) => build(mediumOf(name), flaw),
    plant: (name, id, value) => {
      mediumOf(name).texts.set(id, JSON.stringify(value));
    },
    work: () => [...media.values()].reduce((sum, { work }) => sum + work, 0),
  });
  const failed: string[] = [];
  for (const [title, run] of cases) await run().catch((error: Error) => failed.push(`${title.replace('naive: ', '')} (${error.message})`));
  return failed;
}

const cached = new WeakMap<Medium, Map<string, unknown>>();
const plain: Record<string, string> = {};
const named = (query: ScanQuery, change: (q: Extract<ScanQuery, { ns: string }>) => ScanPage): ((found: Stored[]) => ScanPage) =>
  'ns' in query ? () => change(query) : (found) => right.page(found, query);

let scopes = 0;

const FLAWS: Record<string, Partial<Parts>> = {
  'has another scope in each tab': { scope: () => `naive ${scopes++}` },
  'returns null for an absent record': { read: (medium, id) => right.read(medium, id) ?? null },
  'returns the very object that it stores': {
    read: (medium, id) => {
      const all = cached.get(medium) ?? new Map();
      cached.set(medium, all);
      if (medium.texts.has(id) && !all.has(id)) all.set(id, right.read(medium, id));
      medium.work++;
      return medium.texts.has(id) ? all.get(id) : undefined;
    },
    write: (medium, id, next, changed) => {
      right.write(medium, id, next, changed);
      if (next !== undefined) cached.get(medium)?.set(id, next);
    },
  },
  'changes the record that it is given': {
    write: (medium, id, next, changed) => {
      right.write(medium, id, next, changed);
      if (next) Object.assign(next, { _id: id });
    },
  },
  'does not remove': { write: (medium, id, next, changed) => right.write(medium, id, next ?? undefined, changed) },
  'takes an explicit undefined for a removal': {
    write: (medium, id, next, changed) => right.write(medium, id, 'next' in changed ? (next ?? null) : undefined, changed),
  },
  'reads and writes in two steps': { pause: () => new Promise((done) => setTimeout(done, 1)) },
  'resolves before it has stored': { late: (work) => void setTimeout(work, 5) },
  'wraps what a change throws': { thrown: (error) => new Error('store', { cause: error }) },
  'swallows what a change throws': { thrown: () => undefined },
  'drops fields that it does not know': {
    write: (medium, id, next, changed) => {
      if (!next) return right.write(medium, id, next, changed);
      const { ns, state, label, forgetAt } = next;
      right.write(medium, id, { id: next.id, ns, state, label, forgetAt }, changed);
    },
  },
  'writes null for what is undefined': {
    write: (medium, id, next, changed) =>
      right.write(medium, id, next && JSON.parse(JSON.stringify(next, (_, value) => (value === undefined ? null : value))), changed),
  },
  'copies the value': { value: (value) => (value === undefined ? value : JSON.parse(JSON.stringify(value))) },
  'has no time': { now: () => undefined as never },
  'gives the time in seconds': { now: () => Date.now() / 1000 },
  'gives the time since the process began': { now: () => performance.now() },
  'has one scope for all places': { scope: () => 'naive' },
  'keeps fields that the next record does not have': {
    write: (medium, id, next, changed) => right.write(medium, id, next && { ...(right.read(medium, id) as object), ...next }, changed),
  },
  'folds the case of an id': {
    read: (medium, id) => right.read(medium, id.toLowerCase()),
    write: (medium, id, next, changed) => right.write(medium, id.toLowerCase(), next, changed),
  },
  'has no room for a long label': {
    write: (medium, id, next, changed) => {
      if (next && next.label.length > 1_000) throw new Error('too long for the index');
      right.write(medium, id, next, changed);
    },
  },
  'compares only the beginning of a label': {
    page: (found, query) =>
      named(query, (q) => {
        const { records, ...rest } = right.page(
          found.map((r) => ({ ...r, label: r.label.slice(0, 255) })),
          q,
        );
        return { ...rest, records: (records as Stored[]).map(({ id }) => found.find((r) => r.id === id)) };
      })(found),
  },
  'cuts a text off at 64 kB': {
    write: (medium, id, next, changed) =>
      right.write(medium, id, next && { ...next, ...('body' in next && { body: String(next.body).slice(0, 65_536) }) }, changed),
  },
  'keeps records in a plain object': {
    read: (medium, id) => {
      medium.work++;
      const text = plain[id];
      return typeof text === 'string' ? (medium.texts.has(id) ? right.parse(medium.texts.get(id) as string) : undefined) : text;
    },
    write: (medium, id, next, changed) => {
      right.write(medium, id, next, changed);
      plain[id] = 'there';
    },
  },
  'does more work for a read if it has more records': {
    read: (medium, id) => {
      medium.work += medium.texts.size;
      return right.read(medium, id);
    },
  },
  'goes on working when it is closed': { whenClosed: () => {} },
  'rejects with null when closed': {
    whenClosed: () => {
      throw null;
    },
  },
  'rejects without a reason when closed': {
    whenClosed: () => {
      throw new Error('no reason');
    },
  },
  'hides a damaged record': {
    read: (medium, id) => {
      const found = right.read(medium, id);
      return isSound(found) ? found : undefined;
    },
  },
  'throws at a damaged record': {
    parse: (text) => {
      const found = JSON.parse(text) as Stored;
      if (typeof found !== 'object' || !found.label) throw new Error('damaged');
      return found;
    },
  },
  'removes a damaged record': {
    read: (medium, id) => {
      const found = right.read(medium, id);
      if (found !== undefined && !isSound(found)) medium.texts.delete(id);
      return found;
    },
  },
  'scans in the order of insertion': {
    page: (found, query) =>
      'before' in query
        ? right.page(found, query)
        : { records: (right.page(found, query).records as Stored[]).sort((a, b) => found.indexOf(a) - found.indexOf(b)) },
  },
  'scans in the order of UTF-8': {
    page: (found, query) =>
      'before' in query
        ? right.page(found, query)
        : { records: (right.page(found, query).records as Stored[]).sort((a, b) => Buffer.compare(Buffer.from(a.label), Buffer.from(b.label)) || order(a, b)) },
  },
  'counts the limit before it looks at the state': {
    page: (found, query) =>
      named(query, (q) => {
        const { records, ...rest } = right.page(
          found.map((r) => ({ ...r, state: q.state })),
          q,
        );
        return { ...rest, records: (records as Stored[]).map(({ id }) => found.find((r) => r.id === id)).filter((r) => r?.state === q.state) };
      })(found),
  },
  'counts the limit before it looks at the namespace': {
    page: (found, query) =>
      named(query, (q) => {
        const { records, ...rest } = right.page(
          found.map((r) => ({ ...r, ns: q.ns })),
          q,
        );
        return { ...rest, records: (records as Stored[]).map(({ id }) => found.find((r) => r.id === id)).filter((r) => r?.ns === q.ns) };
      })(found),
  },
  'scans by label alone': {
    page: (found, query) => {
      const { records, ...rest } = right.page(found, query);
      return 'before' in query
        ? { records }
        : { ...rest, records: (records as Stored[]).reverse().sort((a, b) => (a.label < b.label ? -1 : +(a.label > b.label))) };
    },
  },
  'mixes up namespaces': {
    page: (found, query) =>
      named(query, (q) =>
        right.page(
          found.map((r) => (r.ns.startsWith(q.ns) ? { ...r, ns: q.ns } : r)),
          q,
        ),
      )(found),
  },
  'mixes up states': {
    page: (found, query) =>
      named(query, (q) =>
        right.page(
          found.map((r) => ({ ...r, state: q.state })),
          q,
        ),
      )(found),
  },
  'takes a prefix for a pattern': {
    page: (found, query) =>
      named(query, ({ prefix = '', ...q }) => {
        const like = new RegExp(
          `^${prefix
            .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
            .replace(/%/g, '.*')
            .replace(/_/g, '.')}`,
          's',
        );
        return right.page(
          found.filter((r) => like.test(r.label)),
          q,
        );
      })(found),
  },
  'ignores the case of a prefix': {
    page: (found, query) =>
      named(query, ({ prefix = '', ...q }) =>
        right.page(
          found.filter((r) => r.label.toLowerCase().startsWith(prefix.toLowerCase())),
          q,
        ),
      )(found),
  },
  'ends a prefix at the last character': {
    page: (found, query) =>
      named(query, ({ prefix = '', ...q }) =>
        right.page(
          found.filter((r) => r.label >= prefix && r.label < `${prefix}\uffff`),
          q,
        ),
      )(found),
  },
  'pages by number': {
    page: (found, query) =>
      named(query, ({ after, ...q }) => {
        const from = Number(after ?? 0);
        const all = right.page(found, { ...q, limit: 1_000 }).records;
        return { records: all.slice(from, from + q.limit), next: all.length > from + q.limit ? String(from + q.limit) : undefined };
      })(found),
  },
  'says that there is more when there is not': {
    page: (found, query) =>
      ({ next: JSON.stringify(['', '']), ...Object.fromEntries(Object.entries(right.page(found, query)).filter(([, v]) => v !== undefined)) }) as ScanPage,
  },
  'pages by label alone': {
    page: (found, query) => {
      const page = right.page(found, query);
      return { ...page, next: page.next && JSON.stringify([(JSON.parse(page.next) as string[])[0], '\uffff']) };
    },
  },
  'ignores the limit': { page: (found, query) => right.page(found, { ...query, limit: 1_000 }) },
  'sweeps what is due at this very moment': { page: (found, query) => right.page(found, 'before' in query ? { ...query, before: query.before + 1 } : query) },
  'sweeps in any order': {
    page: (found, query) => ('before' in query ? { records: (right.page(found, query).records as Stored[]).reverse() } : right.page(found, query)),
  },
  'sweeps only one namespace': { page: (found, query) => right.page('before' in query ? found.filter((r) => r.ns === 'ns') : found, query) },
  'sweeps only what has ended': { page: (found, query) => right.page('before' in query ? found.filter((r) => r.state !== 'pending') : found, query) },
};

describe('the contract', () => {
  test('passes a store without a flaw', async () => expect(await failures({})).toEqual([]));

  test.each(Object.keys(FLAWS))('fails a store that %s', async (name) => expect((await failures(FLAWS[name] ?? {})).length).toBeGreaterThan(0));

  test('reports the cases that it left out, and why', async () => {
    const cases: (() => Promise<void>)[] = [];
    const report = storeContract({
      name: 'x',
      shared: false,
      test: (_, run) => cases.push(run),
      open: (name) => ({ ...build({ name, texts: new Map(), work: 0 }, {}), atomic: false }),
    });
    for (const run of cases) await run();
    expect(report.ran).toEqual([]);
    expect(report.left.map(({ because }) => because)).toEqual([
      ...Array(7).fill('a second opening does not reach the same records'),
      'no `work` was given',
      'no `plant` was given',
      'no `plant` was given',
    ]);
  });
});
