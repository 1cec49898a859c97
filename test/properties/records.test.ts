/**
 * Goal: a change by the storage medium is noticed, and fields that a newer version added survive this version. Method: every single bit of
 * stored records is flipped, and records of a newer version are driven to their end.
 */
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { bare } from '../../src/core/bare.js';
import { type OnceRecord, RECORD_VERSION, readRecord, seal } from '../../src/core/record.js';
import { clear, forget, move, type Once, resumeInBackground, settle } from '../../src/entries/index.js';
import { type LooseRecord, sealed } from '../support/record.js';
import { answers, charged, type Entry, lost, replays } from '../support/server.js';
import { DAY, MINUTE, NAME, ONE, pay, rest, resumed, test, type World } from '../support/world.js';
import { anyRecord } from './arbitraries.js';
import { sampled, seed } from './sampled.js';

const records = sampled(anyRecord, 200);
/** A record as a store that keeps text returns it. */
const stored = (record: unknown): unknown => JSON.parse(JSON.stringify(record));

/** Fields that the checksum does not cover. */
const BESIDES = ['v', 'sum', 'lease', 'meta', 'previous'];

/** Every text whose bytes differ from this one's in one bit. Some are not valid UTF-8, which a reader turns into U+FFFD. */
function* flips(text: string): Generator<string> {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes.length; at++)
    for (let bit = 0; bit < 8; bit++) {
      bytes[at]! ^= 1 << bit;
      yield decoder.decode(bytes);
      bytes[at]! ^= 1 << bit;
    }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('the codec', () => {
  test('reads a sealed record unchanged, from a clone and from text as well', () => {
    records((record) => {
      expect(readRecord(record)).toBe(record);
      expect(readRecord(structuredClone(record))).toEqual(record);
      expect(readRecord(stored(record))).toEqual(record);
    });
  });

  test('seals by content: a second seal changes nothing, and fields that the checksum does not cover do not change it', () => {
    records((record) => {
      expect(seal(record)).toEqual(record);
      expect(sealed({ ...record, meta: 'other', lease: undefined, previous: record }).sum).toBe(record.sum);
    });
  });

  test('covers the fields that decide what is sent, told or forgotten', () => {
    const decides: LooseRecord = {
      forgetAt: 7,
      ending: { type: 'replayed', effect: 'done', from: 'store' },
      settledAt: 7,
      sticky: true,
      retryAt: 7,
      spentAt: 7,
      link: 'https://shop.example/jobs/7',
      request: { method: 'POST', url: '/', headers: [], body: 'other' },
      earlier: [],
      answer: { json: '7' },
    };
    records((record) => {
      for (const [name, value] of Object.entries(decides))
        if (JSON.stringify(record[name as keyof OnceRecord]) !== JSON.stringify(value)) expect(readRecord({ ...record, [name]: value }), name).toBeUndefined();
    });
  });

  test('reads a record whose key window or retention is infinite, but not NaN there, nor an infinite time of the first attempt', () => {
    const ends = ['windowEndsAt', 'forgetAt'];
    for (const name of ends)
      records((record) => {
        const endless = sealed({ ...record, [name]: Number.POSITIVE_INFINITY });
        expect(readRecord(endless), name).toBe(endless);
        if (typeof record[name as keyof OnceRecord] === 'number') expect(readRecord({ ...endless, sum: record.sum }), name).toBeUndefined();
        expect(readRecord(sealed({ ...record, [name]: Number.NaN })), name).toBeUndefined();
        expect(readRecord(sealed({ ...record, firstSentAt: Number.POSITIVE_INFINITY }))).toBeUndefined();
      });
  });

  test('accepts a record from a store that keeps absent fields as null', () => {
    const absent = Object.fromEntries(['endpoint', 'keyInUse', 'refusal', 'refusedOnly', 'madeAgain', 'dueAt', 'refusedBefore'].map((name) => [name, null]));
    records((record) => {
      const kept = { ...absent, ...(stored(record) as object) };
      expect(readRecord(kept)).toBe(kept);
    });
  });

  test('accepts a record whose fields a store keeps in another order', () => {
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, turned(member)]),
      );
    };
    records((record) => expect(readRecord(turned(stored(record)))).toEqual(record));
  });

  test('detects every flipped bit that changes a covered field', () => {
    let detected = 0;
    let harmless = 0;
    for (const record of fc.sample(
      anyRecord.filter(({ payloads }) => payloads.length < 3),
      { numRuns: 2, seed },
    )) {
      const { lease, meta, previous, ...rest } = stored(record) as OnceRecord;
      for (const text of flips(JSON.stringify(rest))) {
        const read = readRecord(parsed(text)) as Record<string, unknown> | undefined;
        if (!read) {
          detected++;
          continue;
        }
        harmless++;
        const changed = Object.entries(rest).filter(([field, value]) => !BESIDES.includes(field) && JSON.stringify(read[field]) !== JSON.stringify(value));
        if (changed.length > 0) expect({ changed, seed }).toBe('detected');
      }
    }
    expect(detected).toBeGreaterThan(harmless * 10);
  });

  test('detects two fields with swapped values, in any record', () => {
    const fields = ['id', 'ns', 'label', 'key', 'carrier', 'dialect', 'origin', 'scheme', 'raw', 'generation', 'revision', 'createdAt', 'touchedAt'] as const;
    records((record) => {
      for (const a of fields)
        for (const b of fields)
          if (record[a] !== record[b] && a < b) expect(readRecord({ ...record, [a]: record[b], [b]: record[a] }), `${a} and ${b}`).toBeUndefined();
    });
  });

  test('detects payloads that were removed, doubled or reordered', () => {
    records((record) => {
      const { payloads } = record;
      const others = [payloads.slice(1), payloads.slice(0, -1), [...payloads, payloads[0]!], ...(payloads.length > 1 ? [[...payloads].reverse()] : [])];
      for (const other of others) expect(readRecord({ ...record, payloads: other })).toBeUndefined();
    });
  });

  test('strips a record at rest to its core and its ending, and keeps nothing that a stranger could read', () => {
    records((record) => {
      const rest = bare({ ...record, answer: { json: '1' }, spentAt: 1 } as LooseRecord as OnceRecord) as unknown as Record<string, unknown>;
      for (const field of ['lease', 'meta', 'request', 'earlier', 'retryAt', 'spentAt', 'link', 'answer', 'previous']) expect(rest[field]).toBeUndefined();
      const { lease, meta, request, earlier, retryAt, link, previous, ...core } = record;
      expect(rest).toEqual(core);
      expect(readRecord(seal(rest as unknown as OnceRecord))).toEqual({ ...core, sum: expect.any(Number) });
    });
  });
});

describe('a record of a newer version', () => {
  const NEWER = RECORD_VERSION + 6;
  const INVENTION = { deep: [1, { a: null }], text: 'x' };

  test('is read and sealed with the fields that this version does not know', () => {
    records((record) => {
      const newer = Object.assign({}, record, { v: NEWER, invention: INVENTION });
      expect(readRecord(stored(newer))).toEqual(newer);
      expect(seal(newer)).toMatchObject({ v: NEWER, invention: INVENTION });
      expect(bare(newer)).toMatchObject({ v: NEWER, invention: INVENTION });
    });
  });

  test.for<[string, Entry[], OnceRecord['state']]>([
    ['is continued and stays unknown', [lost()], 'pending'],
    ['is continued and done', [answers(201)], 'settled'],
    ['is continued and gets a Retry-After', [answers(503, '', { 'retry-after': '7200' })], 'pending'],
    ['is continued and refused for good', [answers(402, '', { 'idempotent-replayed': 'true' })], 'retired'],
  ])('%s: the fields of the newer version survive every rewrite', async ([_, script, state], { world }) => {
    const key = await world.interrupted(charged(lost()));
    world.damage((record) => ({ ...record, v: NEWER, invention: INVENTION }));
    const { tab, once } = world.open();
    if (state === 'retired') world.server.charged.clear();
    await world.end(tab, pay(once, { limits: { attempts: 1 } }), ...script);
    expect(world.record()).toMatchObject({ v: NEWER, key, state, invention: INVENTION });
    expect(readRecord(world.record())).toBeDefined();
  });

  test.for<[string, (once: Once, world: World) => Promise<unknown>, OnceRecord['state'], answer?: Entry]>([
    ['clear', (once) => clear(once), 'pending'],
    ['move', (once) => move(once, 'guest'), 'pending'],
    ['settle done', (once) => settle(once, NAME, 'done'), 'settled'],
    ['settle none', (once) => settle(once, NAME, 'none'), 'retired'],
    ['forget', (once) => forget(once, NAME, { evenIfUnknown: true }), 'retired'],
    ['resume', (once) => resumed(once), 'settled', replays()],
    ['resumeInBackground', (once) => resumeInBackground(once), 'settled', replays()],
    ['resumeInBackground, after the consent', (once, { clock }) => clock.advance(2 * MINUTE).then(() => resumeInBackground(once)), 'pending'],
    ['a sweep', (once, { clock }) => clock.advance(40 * DAY).then(() => pay(once, { operation: ['other'] })), 'pending', answers(201)],
  ])('%s: its fields survive, and so does its key', async ([what, act, state, answer], { world }) => {
    const namespace = what === 'move' ? 'guest' : 'ann';
    const { tab, once } = world.open({ namespace });
    await world.end(tab, pay(once, { ...ONE, keep: { request: true }, background: { untilMs: world.clock.now() + MINUTE } }), lost());
    world.damage((record) => sealed({ ...record, ...({ v: NEWER, invention: INVENTION } as object) }));
    const { key } = world.record() as OnceRecord;
    const later = tab.reload().once({ namespace: 'ann' });
    if (answer) world.server.plays(answer);
    await world.run(act(later, world));
    await rest();
    expect(world.record()).toMatchObject({ v: NEWER, key, state, invention: INVENTION });
    expect(readRecord(world.record())).toBeDefined();
  });
});
