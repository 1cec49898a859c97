/**
 * Goal: every part that a scheme's page calls necessary is necessary. Method: runs the server's source without the
 * part, under the faults of `sqlite.test.ts`. The run must fail in the way that the page says, or pass if the page says
 * so.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { withoutPostgres, withoutRedis } from '../../scripts/start-services.ts';
import { describeOn } from '../support/describe-on.js';
import { schemes } from './schemes.js';
import { PARTS, runWithout } from './support/parts.js';
import { runScheme, type Services } from './support/run.js';
import { startServices, stopServices } from './support/services.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000, maxConcurrency: 4 });

let services: Services = {};
beforeAll(async () => void (services = await startServices()));
afterAll(stopServices);

const all = Object.entries(PARTS).flatMap(([name, parts]) => Object.entries(parts).map(([part, { turns }]) => ({ name, part, turns })));

for (const [kind, missing] of [
  ['sqlite', undefined],
  ['postgres', withoutPostgres],
  ['redis', withoutRedis],
] as const)
  describeOn(missing)(`on ${kind}`, () => {
    test.concurrent.each(all.filter(({ name }) => schemes[name]?.server.on === kind))('$name without its $part: $turns', async ({ name, part, turns }) => {
      const scheme = schemes[name];
      if (!scheme) throw new Error(`there is no scheme ${name}`);
      const { doubled, lost, lies, stuck } = await runScheme(name, scheme, services, runWithout(name, part));
      const shown = { doubles: doubled, lies, sticks: stuck, nothing: [...doubled, ...lost, ...lies, ...stuck] }[turns];
      expect(shown.length > 0, JSON.stringify({ doubled, lost, lies, stuck })).toBe(turns !== 'nothing');
    });
  });

test('every scheme has parts', () => expect(Object.keys(PARTS)).toEqual(Object.keys(schemes)));
