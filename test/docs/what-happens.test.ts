/**
 * Goal: the table "What happens when…" of docs/outcomes.md is true, row by row. Method: plays each row over real HTTP;
 * a row without a test fails, and so does a test without a row.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { derived, hooks, type OnceEvent, type OnceOptions, type Outcome, outcomeOf, pending, reconciling, subscribe } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { systemClock } from '../../src/platform/shared.js';
import { memoryMedium, memoryStore } from '../../src/stores/memory.js';
import type { FaultName } from '../../src/testing/faults.js';
import { faultyStore } from '../../src/testing/faulty-store.js';
import { readPage, tableUnder } from './support/markdown.js';
import { createOnce, enter, evict, leave, reload, shop } from './support/stage.js';

vi.setConfig({ testTimeout: 30_000 });
beforeEach(() => enter('page'));
afterEach(leave);

const NAME = ['pay', 'c-42'] as const;
const ALL_LOST = Array<FaultName>(5).fill('lose-response');
const client = (options: OnceOptions = {}, over: Parameters<typeof createOnce>[1] = {}): Once => createOnce({ namespace: 'u-7', ...options }, over);

interface End {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly outcome: Outcome | undefined;
}

async function pay(once: Once, total = 4200): Promise<End> {
  try {
    const response = await once.fetch('/api/payments', { method: 'POST', body: JSON.stringify({ cart: 'c-42', total }), once: NAME });
    return { status: response.status, code: undefined, outcome: outcomeOf(response) };
  } catch (error) {
    return { status: undefined, code: (error as { code?: string }).code, outcome: outcomeOf(error) };
  }
}

/** In whole seconds, because some time passes between an event and the wait that follows it. */
const seconds = (ms: number): number => Math.round(ms / 1000);
/** A clock that is wrong by this many hours. */
const clockOff = (hours: number) => ({ ...systemClock, now: () => Date.now() + hours * 3_600_000 });
const charges = (): number => shop().server.effects.length;
const keys = (): number => new Set(shop().server.requests.map(({ key }) => key)).size;
const lose = (...faults: FaultName[]): void => shop().server.faults.next(...faults);

const ROWS: Readonly<Record<string, () => Promise<void>>> = {
  'The response is lost': async () => {
    lose('lose-response');
    expect((await pay(client())).outcome).toMatchObject({ effect: 'done', type: 'replayed', attempts: 2 });
    expect([charges(), keys()]).toEqual([1, 1]);
  },
  'The tab is closed or reloaded': async () => {
    lose('hang-after-commit');
    void pay(client());
    await expect.poll(() => charges()).toBe(1);
    reload();
    // Closing a page would free its locks. Here they are still held, so the next page gets no lock manager.
    const next = client({}, { locks: undefined });
    expect((await pending(next)).map(({ name }) => name)).toEqual([NAME]);
    expect((await pay(next)).outcome).toMatchObject({ effect: 'done', resumed: true });
    expect([charges(), keys()]).toEqual([1, 1]);
  },
  'The device is offline': async () => {
    const waits: OnceEvent[] = [];
    const lost = () => Promise.reject(new TypeError('Failed to fetch'));
    const once = client({ fetch: lost }, { connectivity: { online: () => false, subscribe: () => () => {} } });
    subscribe(once, (event) => event.type === 'wait' && waits.push(event));
    expect((await pay(once)).outcome).toMatchObject({ effect: 'unknown', reason: 'offline' });
    const [first] = waits;
    expect(first).toMatchObject({ why: 'offline' });
    expect(seconds((first as { until: number }).until - (first as OnceEvent).at)).toBe(3);
    expect((await pay(client())).outcome?.effect).toBe('done');
  },
  'Two tabs pay at once': async () => {
    lose('delay');
    const ends: Outcome[] = [];
    const onOutcome = (outcome: Outcome) => ends.push(outcome);
    const [tab, both] = [client({ onOutcome }), [] as Promise<End>[]];
    both.push(pay(tab), pay(tab));
    await expect.poll(() => shop().server.requests).toHaveLength(1);
    reload();
    both.push(pay(client({ onOutcome })));
    await Promise.all(both);
    expect(ends.map(({ effect }) => effect)).toEqual(['done', 'done', 'done']);
    expect(ends.map(({ joined }) => joined)).toContain(true);
    expect([charges(), shop().server.requests.length]).toEqual([1, 1]);
  },
  'The server answers 409, in progress': async () => {
    lose('in-progress', 'in-progress');
    const waits: number[] = [];
    const once = client();
    subscribe(once, (event) => event.type === 'wait' && event.why === 'in-progress' && waits.push((event.until ?? 0) - event.at));
    expect((await pay(once)).outcome).toMatchObject({ effect: 'done', attempts: 3 });
    expect(waits.map(seconds)).toEqual([1, 1]);
    expect(keys()).toBe(1);
  },
  'The server answers 422': async () => {
    const refuses = async () => Response.json({ title: 'The card number is too short' }, { status: 422 });
    expect(await pay(client({ fetch: refuses }))).toMatchObject({ status: 422, outcome: { effect: 'none', type: 'rejected' } });
    lose(...ALL_LOST);
    await pay(client());
    expect(await pay(client({ fetch: refuses }))).toMatchObject({ outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
  },
  'Something in front of the application answers 401, 403, 404 or 429': async () => {
    for (const status of [401, 403, 404, 429]) {
      const before = keys();
      const refuses = async () => Response.json({ title: 'not here' }, { status });
      const send = (options: OnceOptions = {}) =>
        client({ limits: { attempts: 1 }, ...options }).fetch('/api/payments', { method: 'POST', body: '{}', once: ['pay', status] });
      const refused = await send({ fetch: refuses });
      expect([refused.status, outcomeOf(refused)]).toMatchObject([status, { effect: 'unknown', reason: 'refused' }]);
      expect(outcomeOf(await send())).toMatchObject({ effect: 'done', key: outcomeOf(refused)?.key });
      expect(keys() - before).toBe(1);
    }
    await leave();
    await enter('node');
    lose('unauthorized');
    const once = createOnce({ limits: { attempts: 1 } });
    const send = () => once.fetch(`${shop().origin}/api/payments`, { method: 'POST', body: '{}', once: NAME });
    expect(outcomeOf(await send())).toMatchObject({ effect: 'none', type: 'rejected' });
    expect(outcomeOf(await send())).toMatchObject({ effect: 'done' });
    expect(keys()).toBe(1);
  },
  'The next call goes to another server or path': async () => {
    lose(...ALL_LOST);
    await pay(client());
    const sent = shop().server.requests.length;
    const end = await client()
      .fetch('/api/paypal', { method: 'POST', body: '{}', once: NAME })
      .catch((error: unknown) => error);
    expect(end).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown', reason: 'elsewhere' } });
    expect(shop().server.requests).toHaveLength(sent);
  },
  'The store is full': async () => {
    const full = () => {
      const store = faultyStore({ ...memoryStore({ medium: memoryMedium() }), survives: 'process' });
      store.faults.rate('full', 1);
      return store;
    };
    const codes: string[] = [];
    const once = client({ store: full() });
    subscribe(once, (event) => event.type === 'diagnostic' && codes.push(event.code));
    expect((await pay(once)).outcome).toMatchObject({ effect: 'done', storedIn: 'memory' });
    expect(codes).toContain('store-degraded');
    reload();
    const sent = shop().server.requests.length;
    expect((await pay(client({ store: full(), durability: 'required' }))).outcome).toMatchObject({ effect: 'none', type: 'unsent' });
    expect(shop().server.requests).toHaveLength(sent);
  },
  'The clock is wrong': async () => {
    lose(...ALL_LOST);
    await pay(client());
    const clock = clockOff(-1);
    const sent = shop().server.requests.length;
    reload();
    expect(await pay(client({}, { clock }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
    expect(shop().server.requests).toHaveLength(sent);
    expect((await pay(client())).outcome?.effect).toBe('done');
    const before = charges();
    reload();
    expect((await pay(client({}, { clock: clockOff(29 * 24) }))).outcome).toMatchObject({ type: 'replayed', from: 'store' });
    expect((await pay(client({}, { clock: clockOff(31 * 24) }))).outcome).toMatchObject({ type: 'fresh' });
    expect(charges() - before).toBe(1);
  },
  'Somebody else logs in meanwhile': async () => {
    let user = 'guest-1';
    const once = client({ namespace: () => user });
    const stop = subscribe(once, (event) => {
      if (event.type === 'wait') user = 'u-7';
    });
    lose('lose-response');
    expect((await pay(once)).outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
    stop();
    expect(shop().server.requests).toHaveLength(1);
    expect((await pay(once)).outcome).toMatchObject({ effect: 'done', type: 'fresh', resumed: false });
    expect([charges(), keys()]).toEqual([2, 2]);
    user = 'guest-1';
    expect((await pay(once)).outcome).toMatchObject({ effect: 'done', resumed: true });
    expect([charges(), keys()]).toEqual([2, 2]);
  },
  'The browser clears its storage': async () => {
    for (const [id, key, made] of [
      ['c-1', undefined, 2],
      ['c-2', derived, 1],
    ] as const) {
      const before = charges();
      const send = () =>
        client({ use: [hooks()] }).fetch('/api/payments', { method: 'POST', body: JSON.stringify({ cart: id }), once: { operation: ['pay', id], key } });
      lose(...ALL_LOST);
      expect(outcomeOf(await send().catch((error: unknown) => error))?.effect).toBe('unknown');
      reload();
      evict();
      expect(outcomeOf(await send())?.effect).toBe('done');
      expect(charges() - before).toBe(made);
    }
  },
  'The server may have forgotten the key': async () => {
    lose(...ALL_LOST);
    await pay(client());
    const sent = shop().server.requests.length;
    reload();
    // Moves the clock of the page and that of its store.
    const { now } = Date;
    const aDayOn = vi.spyOn(Date, 'now').mockImplementation(() => now() + 26 * 3_600_000);
    try {
      expect(await pay(client())).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
      expect((await pay(client({ use: [reconciling()], reconcile: async () => 'done' }))).outcome).toMatchObject({ effect: 'done', from: 'reconcile' });
    } finally {
      aDayOn.mockRestore();
    }
    expect(shop().server.requests).toHaveLength(sent);
  },
};

const titles = tableUnder(readPage('docs/outcomes.md'), '## What happens when…').map(([title = '']) => title);

test('every row has a test, and every test has a row', () => expect(Object.keys(ROWS).join('\n')).toBe(titles.join('\n')));

/**
 * Rows that say how long a call waits. Time runs 25 times as fast here, so a brief delay of the processor counts as
 * half a second: a row that fails is played again.
 */
const TIMED: readonly string[] = ['The device is offline', 'The server answers 409, in progress'];

describe('what happens when…', () => {
  test('the rows that may be played again exist', () => expect(Object.keys(ROWS)).toEqual(expect.arrayContaining([...TIMED])));

  for (const [title, plays] of Object.entries(ROWS)) test(title, { retry: TIMED.includes(title) ? 4 : 0 }, plays);
});
