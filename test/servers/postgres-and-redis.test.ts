/** Goal and method as in `sqlite.test.ts`, for schemes that need row locks, isolation levels, ON CONFLICT or SET NX. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { withoutPostgres, withoutRedis } from '../../scripts/start-services.ts';
import { describeOn } from '../support/describe-on.js';
import { schemes } from './schemes.js';
import { runScheme, type Services } from './support/run.js';
import { startServices, stopServices } from './support/services.js';
import { FAULTS } from './support/wire.js';

// Each scheme takes a few seconds on an idle machine.
vi.setConfig({ testTimeout: 120_000 });

let services: Services = {};
beforeAll(async () => void (services = await startServices()));
afterAll(stopServices);

for (const [kind, missing] of [
  ['postgres', withoutPostgres],
  ['redis', withoutRedis],
] as const)
  describeOn(missing)(`on ${kind}`, () => {
    test.each(Object.entries(schemes).filter(([, { server }]) => server.on === kind))('%s', async (name, scheme) => {
      const report = await runScheme(name, scheme, services);
      expect(report).toMatchObject({ operations: 200, doubled: [], lost: [], lies: [], stuck: [], effects: 200 });
      expect(FAULTS.filter((fault) => report.met[fault] === 0)).toEqual([]);
      expect(report.deaths).toBeGreaterThan(0);
    });
  });
