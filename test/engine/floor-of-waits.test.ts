/**
 * Goal: a server that says "come back at once", again and again, is not asked hundreds of times. Method: each kind of wait
 * on a scripted world whose server never gives in; requests within the budget are counted.
 */
import { describe, expect } from 'vitest';
import { answers, charged, type Entry } from '../support/server.js';
import { MINUTE, NAME, newWorld, pay, SECOND, test, URL_, watched } from '../support/world.js';

/** What a floor of 50 ms that doubles up to 1 s lets through in a time. */
const most = (ms: number): number => 8 + ms / SECOND;

const SOON: [string, Record<string, string>][] = [
  ['Retry-After: 0', { 'retry-after': '0' }],
  ['Retry-After: 0.001', { 'retry-after': '0.001' }],
  ['retry-after-ms: 1', { 'retry-after-ms': '1' }],
  ['a date that has just passed', { 'retry-after': new Date(0).toUTCString() }],
];

async function count(entry: Entry, options: object = {}): Promise<number> {
  const world = newWorld();
  world.server.otherwise = entry;
  const { tab, once } = world.open({ limits: { totalMs: 2 * MINUTE, inProgressMs: MINUTE, attempts: 1000 }, ...options });
  await world.end(tab, pay(once));
  return world.server.arrivals.length;
}

describe.each(SOON)('%s', (_, headers) => {
  test.each([409, 423])('on %i, for work in progress', async (status) => {
    expect(await count(answers(status, { title: 'A request is outstanding' }, headers))).toBeLessThanOrEqual(most(MINUTE));
  });

  test.each([429, 503])('on %i', async (status) => {
    expect(await count(answers(status, undefined, headers), { retry: { budget: false } })).toBeLessThanOrEqual(most(2 * MINUTE));
  });

  test('on the status of work that goes on behind a 202', async () => {
    const status = answers(202, undefined, headers);
    const accepted = charged(answers(202, undefined, { location: '/jobs/1' }));
    expect(await count((arrival, server) => (arrival.method === 'GET' ? status : accepted)(arrival, server), { accepted: 'poll' })).toBeLessThanOrEqual(
      most(MINUTE),
    );
  });

  test('on a plain GET', async ({ world }) => {
    world.server.otherwise = answers(503, undefined, headers);
    const tab = world.tab();
    await world.end(tab, watched(tab.once({ fetch: tab.fetch, limits: { totalMs: MINUTE, attempts: 1000 } }).fetch(URL_)));
    expect(world.server.arrivals.length).toBeLessThanOrEqual(most(MINUTE));
  });
});

test('work in progress is asked after no more often where retry.minDelayMs is 0', async () => {
  expect(await count(answers(409), { retry: { minDelayMs: 0, maxDelayMs: 0 } })).toBeLessThanOrEqual(most(MINUTE));
});

test('a wait that the server asks for and that is long enough is taken as it is', async ({ world }) => {
  world.server.plays(...Array.from({ length: 10 }, () => answers(409, undefined, { 'retry-after': '1' })), answers(201));
  const { tab, once } = world.open();
  expect((await world.end(tab, pay(once, { operation: NAME }))).status).toBe(201);
  expect(world.server.gaps).toEqual(Array.from({ length: 10 }, () => SECOND));
});
