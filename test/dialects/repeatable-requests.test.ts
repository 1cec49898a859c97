/** Goal: both headers are right at every attempt, in whichever page it is made. Method: `support/suite.ts`, and reloads and long pauses. */
import { expect } from 'vitest';
import { repeatableRequests } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { MINUTE, pay, SECOND } from '../support/world.js';
import { plays, testOf } from './support/suite.js';

const dialect = repeatableRequests();
const test = testOf(dialect);
const ACCEPTED = plays({ status: 202, headers: { 'repeatability-result': 'accepted' } }, true);
const TOO_LATE = { status: 412, headers: { 'repeatability-result': 'rejected' } };

test('the time of the first attempt never changes, even over a reload two minutes later', async ({ world, tab, once }) => {
  const at = new Date(world.clock.now()).toUTCString();
  await world.end(tab, pay(once, { limits: { attempts: 2 } }), charged(lost()), lost());
  await world.clock.advance(2 * MINUTE);
  const next = tab.reload();
  expect(await world.end(next, pay(next.once({ dialect })), ACCEPTED)).toMatchObject({ outcome: { effect: 'done' } });
  expect(world.server.arrivals.map(({ headers }) => headers.get('repeatability-first-sent'))).toEqual([at, at, at]);
});

test('after five minutes, nothing more is sent', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  await world.clock.advance(5 * MINUTE);
  const next = tab.reload();
  expect(await world.end(next, pay(next.once({ dialect })))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  expect(world.server.arrivals).toHaveLength(1);
});

test('a 412 after ambiguity asks reconcile', async ({ world }) => {
  const asked: string[] = [];
  const { tab, once } = world.open({
    dialect,
    reconcile: async ({ reason }) => {
      asked.push(reason);
      return 'done';
    },
  });
  expect(await world.end(tab, pay(once), charged(lost()), plays(TOO_LATE))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done' } });
  expect(asked).toEqual(['refused-after-ambiguity']);
});

test('a clean 412, from a wrong clock, is a refusal', async ({ world, tab, once }) => {
  tab.skewMs = -10 * MINUTE;
  expect(await world.end(tab, pay(once), plays(TOO_LATE))).toMatchObject({ status: 412, outcome: { type: 'rejected', effect: 'none' } });
});

test('a 501 is not tried again', async ({ world, tab, once }) => {
  const end = await world.end(tab, pay(once, { limits: { totalMs: 60 * SECOND } }), plays({ status: 501, headers: {} }));
  expect(end).toMatchObject({ status: 501, outcome: { type: 'rejected', attempts: 1 } });
});
