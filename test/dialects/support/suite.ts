/** What every dialect must do: its documented answers are read as documented, and the real engine speaks it. */
import { test as anyTest, describe, expect } from 'vitest';
import { carryOf } from '../../../src/core/carrier.js';
import type { Dialect } from '../../../src/core/dialect.js';
import { type Arrival, charged, type Entry, lost } from '../../support/server.js';
import { test as inWorld, newWorld, type PayOptions, pay, type World } from '../../support/world.js';
import type { Sample } from './all.js';
import { type Fixture, readFixture } from './fixtures.js';

/** A documented answer on the wire. With `done`, the effect has taken place when it comes. */
export function plays({ status, headers, body }: Pick<Fixture, 'status' | 'headers' | 'body'>, done = false): Entry {
  return ({ key }, server) => {
    if (done) server.charged.add(key);
    return new Response(body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
  };
}

/** A world whose server finds keys where the dialect puts them. */
export function worldOf(dialect: Dialect): World {
  const world = newWorld();
  world.keyOf = (wire) => carryOf(dialect.carrier, dialect.carry)?.find(wire) ?? null;
  return world;
}

/** The same world, and a client that speaks the dialect. */
export const testOf = (dialect: Dialect) => inWorld.extend('world', () => worldOf(dialect)).extend('once', ({ tab }) => tab.once({ dialect }));

export const payOf = ({ body }: Sample, more: PayOptions = {}): PayOptions => ({
  body,
  ...(body.startsWith('{') ? {} : { init: { headers: { 'content-type': 'application/x-www-form-urlencoded' } } }),
  ...more,
});

/** All that a server sees of one request. */
const wireOf = ({ url, headers, body }: Arrival) => JSON.stringify([url, [...headers].sort(), body]);

const countOf = (text: string, part: string): number => text.split(part).length - 1;

const find = (all: readonly Fixture[], fits: (one: Fixture) => boolean): Fixture | undefined => all.find(fits);

/** Reads every fixture, clean and after ambiguity. */
export function readsFixtures(dialect: Dialect, all: readonly Fixture[]): void {
  describe('reads what is documented', () => {
    anyTest.each(all.map((one) => [one.shows, one] as const))('%s', (_, fixture) => {
      expect(fixture.source.length).toBeGreaterThan(10);
      for (const ambiguous of [false, true]) {
        const kind = ambiguous ? fixture.ambiguous : fixture.clean;
        const reading = readFixture(fixture, dialect, ambiguous);
        const when = ambiguous ? 'after ambiguity' : 'clean';
        expect(reading.kind, when).toBe(kind);
        expect(reading.resource, when).toBe(fixture.resource);
        expect(reading.sticky ?? false, when).toBe(kind === 'refused' && fixture.sticky === true);
        if (fixture.replayed !== undefined) expect(reading.replayed, when).toBe(fixture.replayed);
      }
    });
  });
}

/** Drives one operation through the real engine for everything that the dialect knows. */
export function speaks(sample: Sample, all: readonly Fixture[]): void {
  const { dialect } = sample;
  const test = testOf(dialect);
  const success = find(all, ({ clean }) => clean === 'replayed') ?? find(all, ({ clean }) => clean === 'fresh');
  if (!success) throw new Error(`${dialect.name} has no fixture of a success`);
  const done = plays(success, true);

  test('puts its key where it belongs, once, and sends the same bytes again after a lost answer', async ({ world, tab, once }) => {
    const end = await world.end(tab, pay(once, payOf(sample)), charged(lost()), done);
    const key = end.outcome?.key as string;
    expect(end).toMatchObject({ status: success.status, outcome: { effect: 'done', type: success.clean, attempts: 2 } });
    expect(world.server.keys).toEqual([key, key]);
    const [first, second] = world.server.arrivals.map(wireOf);
    expect(second).toBe(first);
    expect(countOf(first as string, key)).toBe(1);
  });

  test('goes on after a reload with the wire form that was stored', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, payOf(sample, { limits: { attempts: 1 } })), charged(lost()));
    expect(world.record()).toMatchObject({ state: 'pending', carrier: dialect.carrier, dialect: dialect.name });
    const next = tab.reload();
    expect(await world.end(next, pay(next.once({ dialect }), payOf(sample)), done)).toMatchObject({ outcome: { effect: 'done', resumed: true } });
    expect(new Set(world.server.arrivals.map(wireOf)).size).toBe(1);
  });

  test('a refusal that is not known to be kept leaves the outcome open after ambiguity', async ({ world, tab, once }) => {
    const end = await world.end(tab, pay(once, payOf(sample)), charged(lost()), plays({ status: 403, headers: {} }));
    expect(end).toMatchObject({ status: 403, outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
    expect(world.record()).toMatchObject({ state: 'pending', key: end.outcome?.key });
  });

  const busy = find(all, ({ ambiguous }) => ambiguous === 'in-progress');
  if (busy) {
    test('waits for work in progress under the same key', async ({ world, tab, once }) => {
      expect(await world.end(tab, pay(once, payOf(sample)), charged(lost()), plays(busy), done)).toMatchObject({ outcome: { effect: 'done', attempts: 3 } });
      expect(new Set(world.server.keys).size).toBe(1);
      if (busy.waitsMs !== undefined) expect(world.server.gaps[1]).toBe(busy.waitsMs);
    });
  }

  const clash = find(all, ({ ambiguous }) => ambiguous === 'mismatch' || ambiguous === 'done-elsewhere');
  // A server that compares no payloads never gets a changed one.
  if (clash && dialect.answersMismatch !== false) {
    test('a changed payload after a lost answer cannot take effect beside the first one', async ({ world, tab, once }) => {
      const first = await world.end(tab, pay(once, payOf(sample, { limits: { attempts: 1 } })), charged(lost()));
      expect(first.outcome).toMatchObject({ effect: 'unknown' });
      // After a mismatch, the first payload is sent once more, to read its end.
      const second = await world.end(tab, pay(once, payOf({ ...sample, body: sample.other })), plays(clash), ...(clash.ambiguous === 'mismatch' ? [done] : []));
      expect(second).toMatchObject({
        code: clash.ambiguous === 'mismatch' ? 'ERR_ONCE_ALREADY_SETTLED' : 'ERR_ONCE_ALREADY_DONE',
        outcome: { effect: 'done' },
      });
      expect((second.error as { resource?: string }).resource).toBe(clash.resource);
      expect(new Set(world.server.keys).size).toBe(1);
    });
  }

  const kept = find(all, ({ sticky, ambiguous }) => sticky === true && ambiguous === 'refused');
  if (kept) {
    test('a refusal that the server keeps settles, and the next call gets another key', async ({ world, tab, once }) => {
      const refused = await world.end(tab, pay(once, payOf(sample)), lost(), plays(kept));
      expect(refused).toMatchObject({ status: kept.status, outcome: { type: 'rejected', effect: 'none' } });
      const paid = await world.end(tab, pay(once, payOf({ ...sample, body: sample.other })), done);
      expect(paid.outcome).toMatchObject({ effect: 'done' });
      expect(paid.outcome?.key).not.toBe(refused.outcome?.key);
    });
  }

  test('a key that does not fit is refused before anything is stored', async ({ world, tab, once }) => {
    for (const key of ['', 'a\r\nx-evil: 1', 'ключ', 'k'.repeat(1001)]) {
      expect((await world.end(tab, pay(once, payOf(sample, { key })))).error, JSON.stringify(key)).toBeInstanceOf(TypeError);
    }
    expect(world.writes).toEqual([]);
    expect(world.server.arrivals).toEqual([]);
  });
}
