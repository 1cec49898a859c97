/**
 * Goal: processes that share a store have one effect per operation, whoever of them is killed when. Method: the run of
 * `npm run test:long`, with few kills; and once with a store that nobody shares, to see that it can fail.
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

// Side by side: most of their time, the lease of one who was killed is waited for.
describe.concurrent('processes that share', () => {
  describe('SQLite', one('sqlite'));
  describeOn(withoutRedis)('Redis', one('redis'));
  describeOn(withoutPostgres)('PostgreSQL', one('postgres'));
  test('nothing charge twice', { timeout: 120_000 }, async () => {
    expect((await killRun('none', KILLS)).duplicates).toBeGreaterThan(0);
  });
});
