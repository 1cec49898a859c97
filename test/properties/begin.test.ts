/**
 * Goal: whatever is stored under a name, and whoever calls, the one key that may have been sent is kept. Method: random records and
 * callers, one at a time and in long sequences, checked against what `begin` promises.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lifeOf, marked } from '../../src/core/begin.js';
import type { Begun } from '../../src/core/claimant.js';
import { type OnceRecord, readRecord } from '../../src/core/record.js';
import { isKeyTooOld } from '../../src/core/retention.js';
import { begin, type Call } from '../support/begin.js';
import { anyRecord, claimant, NOW, notARecord } from './arbitraries.js';
import { sampled } from './sampled.js';

const looks = sampled(fc.tuple(fc.option(anyRecord, { nil: undefined }), claimant), 1200);

/** Checks a property for any record, or none, and any caller. */
const always = (holds: (began: Begun, stored: OnceRecord | undefined, c: Call) => void): void =>
  looks(([stored, c]) => holds(begin(stored, c, NOW, NOW), stored, c));

/** Checks a property for any operation that may have been sent. */
const mayHaveBeenSent = (holds: (began: Begun, stored: OnceRecord, c: Call) => void): void =>
  always((began, stored, c) => {
    if (stored?.state === 'pending' && stored.ambiguous) holds(began, stored, c);
  });

const driven = (began: Begun) => (began.do === 'drive' ? began : undefined);

/**
 * The generation of the next key. A random key uses none up. A key that is not random stays after a "none" that no server keeps for it, and
 * after a "done" that is due to be forgotten. Any other end raises the generation.
 */
const generationAfter = (stored: OnceRecord | undefined, { repeat, fingerprint }: Call): number => {
  if (!stored) return 0;
  const { state, random, sticky, ending } = stored;
  const sameEffect = repeat === 'never' || (repeat === 'if-changed' && stored.payloads.includes(fingerprint));
  const stays = random || (state === 'retired' ? !sticky && ending?.effect === 'none' : state === 'settled' && sameEffect);
  return stored.generation + (stays ? 0 : 1);
};

describe('the key', () => {
  test('of an ambiguous operation is never replaced, inside its window or past it', () => {
    mayHaveBeenSent((began, stored) => {
      const next = driven(began)?.record;
      if (next) expect(next).toMatchObject({ key: stored.key, carrier: stored.carrier, state: 'pending', ambiguous: true });
    });
  });

  test('of an ambiguous operation is sent only inside its window', () => {
    mayHaveBeenSent((began, stored, c) => {
      // Nothing is sent for a record with a link: its work is polled (`test/engine/polled-answers.test.ts`).
      if (!isKeyTooOld(stored, c, NOW, NOW)) return;
      expect(driven(began)).toBeUndefined();
      expect(began.do).toMatch(/^(key-expired|busy|mismatch)$/);
    });
  });

  test('in the record wins over the key of the call, unless the call begins a new operation', () => {
    always((began, stored, c) => {
      const drive = driven(began);
      if (!drive) return;
      if (!drive.inserted) expect(drive.record).toMatchObject({ key: stored?.key, generation: stored?.generation });
      else expect(drive.record).toMatchObject({ key: c.key, generation: generationAfter(stored, c), random: c.keyKind === 'random' });
    });
  });

  test('that was made at random is used for one operation only', () => {
    looks(([stored, c]) => {
      // A pending record goes on under its key, and a tombstone that is due counts as removed.
      if (!stored || stored.state === 'pending' || stored.forgetAt <= NOW) return;
      expect(driven(begin(stored, { ...c, keyKind: 'random', key: stored.key }, NOW, NOW))).toBeUndefined();
    });
  });

  test('of a key strategy is asked for at most once more', () => {
    always((began, stored, c) => {
      if (began.do !== 'rekey') return;
      expect(c.keyKind).toBe('derived');
      expect(began.generation).toBe(generationAfter(stored, c));
      expect(begin(stored, { ...c, keyGeneration: began.generation }, NOW, NOW).do).not.toBe('rekey');
    });
  });

  test('that the caller gave is the one that is sent, or nothing is sent', () => {
    always((began, _, c) => {
      if (c.keyKind === 'literal' && began.do === 'drive') expect(began.record.key).toBe(c.key);
    });
  });
});

describe('the record that begin writes', () => {
  test('can be read, has the ids of the call, and has a higher revision than the record that it replaces', () => {
    always((began, stored, c) => {
      const next = driven(began)?.record;
      if (!next) return;
      expect(readRecord(JSON.parse(JSON.stringify(next)))?.key).toBe(next.key);
      expect([next.id, next.ns]).toEqual([c.id, c.ns]);
      expect(next.revision).toBe((stored?.revision ?? 0) + 1);
      expect(next.generation).toBeGreaterThanOrEqual(stored?.generation ?? 0);
    });
  });

  test('lists every payload that may have been sent under its key, up to fifty, the present one last', () => {
    always((began, stored, c) => {
      const drive = driven(began);
      if (!drive) return;
      const { payloads } = drive.record;
      expect(payloads.length).toBeLessThanOrEqual(50);
      expect(new Set(payloads).size).toBe(payloads.length);
      // If the record has a link, only the work behind it is polled.
      const waits = !drive.inserted && stored?.link !== undefined;
      if (!c.resumeOnly && !waits) expect(payloads.at(-1)).toBe(c.fingerprint);
      if (waits) expect(payloads).toEqual(stored.payloads);
      const before = drive.inserted || !stored ? [] : stored.payloads;
      for (const one of before.slice(payloads.length === 50 ? 1 : 0)) expect(payloads).toContain(one);
      expect(drive.changed).toBe(payloads.length > 1 || (waits && !c.resumeOnly && payloads.at(-1) !== c.fingerprint));
    });
  });

  test('keeps at most three earlier requests, the operation before it, and what was done before that', () => {
    always((began) => {
      const next = driven(began)?.record;
      expect(next?.earlier?.length ?? 0).toBeLessThanOrEqual(3);
      expect(next?.previous?.state).not.toBe('pending');
      expect(next?.previous?.previous?.state).not.toBe('pending');
      expect(next?.previous?.previous?.previous).toBeUndefined();
    });
  });

  test('never changes the time of the first attempt, and never extends the key window', () => {
    always((began, stored, c) => {
      const drive = driven(began);
      if (!drive) return;
      const { record } = drive;
      // A refused key was sent before, although nothing was sent since the key came into use again.
      expect(record.firstSentAt !== undefined).toBe(record.ambiguous || (!drive.inserted && stored?.firstSentAt !== undefined));
      if (record.firstSentAt !== undefined) expect(record.windowEndsAt).toBeLessThanOrEqual(record.firstSentAt + c.keyWindowMs);
      if (drive.inserted || !(stored?.ambiguous || stored?.firstSentAt !== undefined)) return;
      expect(record.firstSentAt).toBe(stored.firstSentAt ?? stored.createdAt);
      if (stored.windowEndsAt !== undefined) expect(record.windowEndsAt).toBeLessThanOrEqual(stored.windowEndsAt);
    });
  });

  test('is ambiguous unless the call waits before its first attempt, and stays ambiguous once it was', () => {
    always((began, stored, c) => {
      const drive = driven(began);
      if (!drive) return;
      expect(drive.record.ambiguous).toBe(!c.clean || (!drive.inserted && stored?.ambiguous === true));
      expect(drive.resumed).toBe(!drive.inserted && stored?.ambiguous === true);
    });
  });

  test('is kept for thirty days from now, or as long as settled records if that is longer', () => {
    always((began, _, { keepMs }) => {
      const next = driven(began)?.record;
      if (next) expect(next).toMatchObject({ forgetAt: NOW + Math.max(30 * 86_400_000, keepMs), touchedAt: NOW });
    });
  });

  test('keeps the fields that a newer version added while the operation goes on', () => {
    always((began, stored, c) => {
      if (!stored) return;
      const newer = Object.assign({}, stored, { v: 7, invention: { deep: [1] } });
      const next = driven(begin(newer, c, NOW, NOW))?.record;
      if (next && driven(began)?.inserted === undefined) expect(next).toMatchObject({ v: 7, invention: { deep: [1] } });
    });
  });

  test('is marked ambiguous before a first attempt, and only its times change with that', () => {
    always((began) => {
      const next = driven(began)?.record;
      if (!next || next.ambiguous) return;
      const later = marked(next, 86_400_000, NOW + 5);
      expect(readRecord(later)).toBe(later);
      const windowEndsAt = Math.min(next.windowEndsAt ?? Number.POSITIVE_INFINITY, NOW + 5 + 86_400_000);
      expect(later).toEqual({ ...next, ambiguous: true, firstSentAt: next.firstSentAt ?? NOW + 5, windowEndsAt, touchedAt: NOW + 5, sum: later.sum });
    });
  });
});

describe('the record that begin finds', () => {
  test('is never overwritten if it is damaged or no record at all', () => {
    sampled(fc.tuple(notARecord, claimant), 1000)(([stored, c]) => expect(begin(stored, c, NOW, NOW)).toEqual({ do: 'corrupt' }));
  });

  test('is never changed, and leads to the same decision every time', () => {
    always((began, stored, c) => {
      const before = JSON.stringify(stored);
      expect(begin(stored, c, NOW, NOW)).toEqual(began);
      expect(JSON.stringify(stored)).toBe(before);
    });
  });

  test('is continued by a call that only resumes if it is pending, and such a call begins nothing new', () => {
    always((began, stored, c) => {
      if (!c.resumeOnly) return;
      const drive = driven(began);
      if (!drive) return;
      expect(stored?.state).toBe('pending');
      expect(drive.inserted).toBeUndefined();
      expect(drive).toMatchObject({ otherBytes: false, record: { key: stored?.key, payloads: stored?.payloads, scheme: stored?.scheme, raw: stored?.raw } });
    });
  });

  test('answers later calls once it has settled, until it is due to be forgotten', () => {
    always((began, stored, c) => {
      if (stored?.state !== 'settled' || stored.forgetAt <= NOW || c.repeat === 'always' || c.resumeOnly) return;
      // The record lists every payload that may have taken effect.
      const same = stored.payloads.includes(c.fingerprint);
      if (same || c.repeat === 'never') expect(began.do).toBe('remembered');
    });
  });

  test('answers a call that waited while the operation ended, if the payload is the same', () => {
    always((began, stored, c) => {
      if (!stored || stored.state === 'pending' || !c.lookBefore || c.lookBefore.ended === lifeOf(stored)) return;
      // A key that was used up, perhaps by an operation whose record is lost, gives no end to tell.
      if (stored.sticky && stored.ending?.effect === 'unknown') return;
      if (stored.payloads.at(-1) === c.fingerprint) expect(began.do).toBe('remembered');
    });
  });

  test("is left to another driver that has a lease, until the lease expires by the store's clock", () => {
    always((began, stored, c) => {
      const held =
        stored?.state === 'pending' &&
        stored.lease !== undefined &&
        !stored.lease.locked &&
        stored.lease.owner !== c.owner &&
        stored.lease.until > NOW &&
        stored.lease.until < NOW + 86_400_000;
      expect(began.do === 'busy').toBe(held);
      if (held && began.do === 'busy') expect(began.ms).toBe((stored.lease?.until ?? 0) - NOW);
      const lease = driven(began)?.record.lease;
      const earlier = lease?.earlier;
      const ms = Math.min(c.attemptMs, c.totalMs);
      const resumes = c.resumeOnly || undefined;
      if (began.do === 'drive') expect(lease).toEqual(c.leaseMs && { owner: 'me', until: NOW + 15_000, ms, earlier, locked: c.locked, resumes });
    });
  });

  test('has a lease that counts the last attempt of this driver and those of earlier ones', () => {
    always((began, stored, c) => {
      const lease = driven(began)?.record.lease;
      if (!lease) return;
      const arrives = lease.earlier ?? 0;
      const counts = stored?.lease?.owner !== c.owner || stored?.lease?.earlier;
      const before = stored?.state === 'pending' && stored.ambiguous && counts && stored.key === driven(began)?.record.key && stored.lease;
      if (before && before.until < NOW + 86_400_000) expect(arrives).toBe(Math.max(before.until + (before.ms ?? 0), before.earlier ?? 0));
      else expect(arrives).toBe(0);
    });
  });
});

test('over any sequence of calls one key is used until the operation settles, and the record lists every payload sent under it', () => {
  const step = fc.tuple(claimant, fc.integer({ min: -400_000, max: 3 * 3_600_000 }), fc.constantFrom('dies', 'dies', 'dies', 'settles'));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      let stored: OnceRecord | undefined;
      let now = NOW;
      const sent: string[] = [];
      for (const [caller, ms, then] of steps) {
        now += ms;
        const began = begin(stored, caller, now, now);
        const drive = driven(began);
        if (!drive) continue;
        if (drive.inserted) sent.length = 0;
        if (stored?.state === 'pending' && stored.ambiguous) expect(drive.record.key).toBe(stored.key);
        stored = drive.record;
        if (!stored.ambiguous) stored = marked(stored, caller.keyWindowMs, now);
        if (!caller.resumeOnly) sent.push(caller.fingerprint);
        for (const one of sent) expect(stored.payloads).toContain(one);
        // A store returns a copy. A settled record is swept here, so the store is empty.
        stored = then === 'settles' ? undefined : (JSON.parse(JSON.stringify(stored)) as OnceRecord);
      }
    }),
    { numRuns: 100 },
  );
});
