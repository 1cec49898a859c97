/**
 * Goal: processes that share a store make one effect per operation, whichever process is killed, and whenever. Method: the run of
 * `npm run test:long` with few kills; and once without a shared store, to show that the run finds double charges.
 */
import { describe, expect, test } from 'vitest';
import { withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import { describeOn } from '../../support/describe-on.js';
import { type Kind, killRun } from './run.ts';

const KILLS = 10;

const one = (kind: Kind) => () => {
  test(`${KILLS} kills of processes that share it leave one charge per operation`, { timeout: 120_000 }, async () => {
    const figures = await killRun(kind, KILLS);
    const { operations } = figures;
    expect(figures).toMatchObject({ kills: KILLS, charges: operations, duplicates: 0, lost: 0, pending: 0 });
    expect(figures.midway).toBeGreaterThan(0);
    expect(figures.resumed).toBeGreaterThan(0);
  });
};

// Concurrent, because most of the time each run waits for the lease of a killed process to end.
describe.concurrent('processes that share', () => {
  describe('SQLite', one('sqlite'));
  describeOn(withoutRedis)('Redis', one('redis'));
  describeOn(withoutPostgres)('PostgreSQL', one('postgres'));
  test('nothing charge twice', { timeout: 120_000 }, async () => expect((await killRun('none', KILLS)).duplicates).toBeGreaterThan(0));
});
