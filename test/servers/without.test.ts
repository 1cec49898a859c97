/**
 * Goal: each part of a scheme that keeps the second copy out is needed. Method: the server's source with the part taken away, under
 * the faults of `sqlite.test.ts`; the run must turn red.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { withoutPostgres, withoutRedis } from '../../scripts/start-services.ts';
import { schemes } from './schemes.js';
import { PARTS } from './support/parts.js';
import { runScheme, type Services } from './support/run.js';
import { startServices, stopServices } from './support/services.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** What is stuck need not be pressed for long. */
const PRESSES_MAX = 3;

let services: Services = {};
beforeAll(async () => {
  services = await startServices();
});
afterAll(stopServices);

const missing = { sqlite: undefined, redis: withoutRedis, postgres: withoutPostgres };
const all = Object.entries(PARTS).flatMap(([name, parts]) => Object.entries(parts).map(([part, edits]) => ({ name, part, edits })));

test.each(all)('$name without its $part turns red', async ({ name, edits }) => {
  const scheme = schemes[name];
  if (!scheme) throw new Error(`there is no scheme ${name}`);
  const because = missing[scheme.server.on];
  if (because) return expect(because).toContain('there is no');
  const { doubled, lost, lies } = await runScheme(name, scheme, services, { edits, pressesMax: PRESSES_MAX });
  expect(doubled.length + lost.length + lies.length).toBeGreaterThan(0);
});
