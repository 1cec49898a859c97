/**
 * Goal: every later version reads and drives what 0.1.0 has stored (docs/versioning.md). Method: files with records as it writes them; the request that leaves
 * is looked at.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type OnceRecord, readRecord } from '../../src/core/record.js';
import { answers, outcomeOf, pending, requests } from '../../src/entries/index.js';
import { createOn } from '../../src/once.js';
import { nodePlatform } from '../../src/platform/node/index.js';
import { memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { resumed } from '../support/world.js';

const stored = (file: string): readonly [OnceRecord, OnceRecord] => JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', file), 'utf8'));
/** Records as 0.1.0 stores them, and as builds before it did, without an answer and without the endpoint to which the key was sent. */
const FILES = ['records-0.1.0.json', 'records-early.json'];
const ADDRESS = 'https://shop.example/api/payments';

/** A client that finds these records, a minute after they were written. */
function found(records: readonly [OnceRecord, OnceRecord]) {
  const [, open] = records;
  const medium = memoryMedium();
  for (const record of records) medium.set(record.id, structuredClone(record));
  const now = (): number => open.touchedAt + 60_000;
  const timer = (_: number, fire: () => void) => {
    const id = setTimeout(fire, 0);
    return () => clearTimeout(id);
  };
  const keys: (string | null)[] = [];
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    return Response.json({ id: 'ch_2' }, { status: 201, headers: { 'idempotent-replayed': 'true' } });
  };
  const store = { ...memoryStore({ medium, now }), survives: 'process' as const };
  return {
    keys,
    once: createOn({ ...nodePlatform(), clock: { now, monotonic: now, timer } }, { namespace: 'u-7', store, fetch, use: [answers(), requests()] }),
  };
}

describe.each(FILES)('%s', (file) => {
  const records = stored(file);
  const [settled, open] = records;

  test('each record is read as it stands', () => {
    expect(records.map(({ state }) => state)).toEqual(['settled', 'pending']);
    for (const record of records) expect(readRecord(record)).toEqual(record);
  });

  test('the settled operation is remembered, with its answer if that was stored, and nothing is sent', async () => {
    const { keys, once } = found(records);
    const call = once.fetch(ADDRESS, { method: 'POST', body: '{"cart":"c-1"}', once: ['pay', 'c-1'] });
    const told = await call.then(
      async (answer) => ({ body: await answer.json(), outcome: outcomeOf(answer) }),
      (error: { readonly code: string }) => ({ code: error.code, outcome: outcomeOf(error) }),
    );
    expect(told).toMatchObject({
      ...(settled.answer ? { body: { id: 'ch_1' } } : { code: 'ERR_ONCE_ALREADY_SETTLED' }),
      outcome: { effect: 'done', key: settled.key },
    });
    expect(keys).toEqual([]);
  });

  test('the pending operation is listed, and goes on under its key', async () => {
    const { keys, once } = found(records);
    expect(await pending(once)).toMatchObject([{ name: ['pay', 'c-2'], meta: { total: 1 } }]);
    const answer = await once.fetch(ADDRESS, { method: 'POST', body: '{"cart":"c-2"}', once: ['pay', 'c-2'] });
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', resumed: true, key: open.key });
    expect(keys).toEqual([open.key]);
  });

  test('the stored request of the pending operation can be sent again', async () => {
    const { keys, once } = found(records);
    expect(await resumed(once)).toMatchObject([{ outcome: { effect: 'done' } }]);
    expect(keys).toEqual([open.key]);
  });
});
