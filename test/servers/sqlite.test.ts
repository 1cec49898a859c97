/**
 * Goal: exactly one effect per operation with every textbook scheme. Method: each scheme is a real server on SQLite, in a process
 * that is killed now and then; 200 operations, most of which meet a fault on the wire; the database is the judge.
 */
import { expect, test, vi } from 'vitest';
import { schemes } from './schemes.js';
import { runScheme } from './support/run.js';
import { FAULTS } from './support/wire.js';

// Each scheme takes a few seconds on an idle machine.
vi.setConfig({ testTimeout: 120_000 });

const onSqlite = Object.entries(schemes).filter(([, { server }]) => server.on === 'sqlite');

test.each(onSqlite)('%s', async (name, scheme) => {
  const report = await runScheme(name, scheme, {});
  expect(report).toMatchObject({ operations: 200, doubled: [], lost: [], lies: [], stuck: [], effects: 200 * scheme.server.effects.length });
  expect(FAULTS.filter((fault) => report.met[fault] === 0)).toEqual(scheme.spared ?? []);
  expect(report.deaths).toBeGreaterThan(0);
  expect(report.refused).toBeGreaterThanOrEqual(scheme.refuses ?? 0);
});
