/**
 * Goal: a call that gets "in progress" until its time is nearly over asks `reconcile` while it still can, even if `limits.totalMs`
 * is no longer than `limits.inProgressMs`. Method: a server that takes a second for each answer, so that the last attempt would
 * end together with the call.
 */
import { describe, expect } from 'vitest';
import type { ReconcileQuestion } from '../../src/entries/index.js';
import { answers, charged, delayed, lost } from '../support/server.js';
import { ONE, pay, resumed, SECOND, saying, test } from '../support/world.js';

const working = (seconds: number) => charged(delayed(0.95 * SECOND, answers(409, undefined, { 'retry-after': String(seconds) })));

describe.each([30, 60, 120])('a call that may take %i s', (total) => {
  test.for([3, 5, 7, 9, 11])('asks reconcile, and gives the reason, if the server sends Retry-After: %i', async (seconds, { world }) => {
    const heard: ReconcileQuestion[] = [];
    const { tab, once } = world.open({ limits: { totalMs: total * SECOND }, reconcile: saying(heard, 'done') });
    world.server.otherwise = working(seconds);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', from: 'reconcile' });
    expect(heard).toMatchObject([{ reason: 'in-progress' }]);
  });

  test('asks reconcile in time if it is a resume', async ({ world }) => {
    const stored = { namespace: 'ann', keep: { request: true } } as const;
    const before = world.open(stored);
    await world.end(before.tab, pay(before.once, ONE), charged(lost()));
    const heard: ReconcileQuestion[] = [];
    const tab = before.tab.reload();
    const once = tab.once({ ...stored, limits: { totalMs: total * SECOND }, reconcile: saying(heard, 'done') });
    world.server.otherwise = working(7);
    expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done', from: 'reconcile' } }]);
    expect(heard).toMatchObject([{ reason: 'in-progress' }]);
  });

  test('asks reconcile if the work behind a 202 is still going on', async ({ world }) => {
    const heard: ReconcileQuestion[] = [];
    const { tab, once } = world.open({ limits: { totalMs: total * SECOND }, accepted: 'poll', reconcile: saying(heard, 'done') });
    world.server.plays(charged(answers(202, {}, { location: '/jobs/1' })));
    world.server.otherwise = delayed(8 * SECOND, answers(200, { status: 'running' }));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', from: 'reconcile' });
    expect(heard).toMatchObject([{ reason: 'in-progress' }]);
  });
});
