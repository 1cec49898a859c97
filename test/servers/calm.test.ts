/**
 * Goal: docs/schemes says truly how many requests an operation takes when nothing goes wrong. Method: counts them on a
 * network without faults.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { withoutPostgres, withoutRedis } from '../../scripts/start-services.ts';
import { readPage, tableUnder } from '../docs/support/markdown.js';
import { describeOn } from '../support/describe-on.js';
import { schemes } from './schemes.js';
import { runScheme, type Services } from './support/run.js';
import { startServices, stopServices } from './support/services.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000, maxConcurrency: 2 });

const OPERATIONS = 10;

let services: Services = {};
beforeAll(async () => void (services = await startServices()));
afterAll(stopServices);

const said = new Map(tableUnder(readPage('docs/schemes/README.md'), '## Which one to take').map(([name = '', , , , requests = '']) => [name, requests]));
/** What the page says, for example `2: read, change` or `3 or more: …`. */
const saidOf = (scheme: string): string => [...said].find(([name, requests]) => requests && name.includes(`(${scheme}.md)`))?.[1] ?? '';

for (const [kind, missing] of [
  ['sqlite', undefined],
  ['postgres', withoutPostgres],
  ['redis', withoutRedis],
] as const)
  describeOn(missing)(`on ${kind}`, () => {
    test.concurrent.each(Object.entries(schemes).filter(([, { server }]) => server.on === kind))('%s', async (name, scheme) => {
      const { requests, effects, met } = await runScheme(name, scheme, services, { operations: OPERATIONS, calm: true });
      expect({ effects, nothingElse: met.none === requests }).toEqual({ effects: OPERATIONS * scheme.server.effects.length, nothingElse: true });
      // Rounded down, because on a busy machine a token may expire, which costs two more requests.
      const each = Math.floor(requests / OPERATIONS);
      expect(saidOf(name)).toMatch(name === 'accepted-status' ? /^3 or more/ : new RegExp(`^${each}\\b`));
      if (name === 'accepted-status') expect(each).toBeGreaterThanOrEqual(3);
    });
  });
