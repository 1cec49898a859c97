/**
 * Goal: a request that is stored with its operation (`keep.request`, `background`) is sent and read like a request that is not
 * stored. Method: JSON without a content type, as `body: JSON.stringify(…)` is sent, and an HTML page as the answer; conditional
 * requests; hooks.
 */
import { describe, expect } from 'vitest';
import type { Once } from '../../src/once.js';
import { answers, charged, idle, lost, replays } from '../support/server.js';
import { CART, NAME, rest, resumed, test, URL_, type World, watched } from '../support/world.js';

const OPTIONS = { namespace: () => 'ann', keep: { request: true } };
const BODIES = { text: JSON.stringify(CART), bytes: new TextEncoder().encode(` ${JSON.stringify(CART)}`) };

const send = (once: Once, body: BodyInit, attempts = 4) => watched(once.fetch(URL_, { method: 'POST', body, once: { operation: NAME, limits: { attempts } } }));

/** What a captive portal answers, or a single-page app at any address. */
const page = () => idle(answers(200, '<h1>Log in</h1>', { 'content-type': 'text/html' }));

async function interrupted(world: World, body: BodyInit): Promise<void> {
  const { tab, once } = world.open(OPTIONS);
  expect(await world.end(tab, send(once, body, 1), charged(lost()))).toMatchObject({ outcome: { effect: 'unknown' } });
  tab.kill();
}

describe.each(Object.entries(BODIES))('JSON as %s, without a content type', (_, body) => {
  test('is not settled by an HTML page', async ({ world }) => {
    const { tab, once } = world.open(OPTIONS);
    expect(await world.end(tab, send(once, body), page())).toMatchObject({ outcome: { effect: 'unknown', reason: 'not-a-verdict' } });
  });

  test('is not settled by an HTML page when it is pressed again after a reload', async ({ world }) => {
    await interrupted(world, body);
    const { tab, once } = world.open(OPTIONS);
    expect(await world.end(tab, send(once, body), page())).toMatchObject({ outcome: { effect: 'unknown', reason: 'not-a-verdict' } });
  });

  test('is not settled by an HTML page when it is resumed', async ({ world }) => {
    await interrupted(world, body);
    const { once } = world.open(OPTIONS);
    world.server.plays(page());
    expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'unknown', reason: 'not-a-verdict' } }]);
  });
});

test('a resume sends the conditions of the stored request, so that it does not overwrite what is there meanwhile', async ({ world }) => {
  const { tab, once } = world.open(OPTIONS);
  const headers = { 'if-none-match': '*', 'if-unmodified-since': 'Tue, 14 Nov 2023 22:13:20 GMT', 'content-encoding': 'gzip' };
  world.server.plays(lost(), answers(412));
  await world.end(tab, watched(once.fetch(URL_, { method: 'PUT', headers, body: 'x', once: { operation: NAME, limits: { attempts: 1 } } })));
  expect(await world.run(resumed(tab.reload().once(OPTIONS)))).toMatchObject([{ outcome: { effect: 'unknown' } }]);
  expect(world.server.arrivals.map((arrival) => Object.fromEntries(arrival.headers))).toMatchObject([headers, headers]);
});

test('an onOutcome that rejects is also reported when an operation is resumed', async ({ world }) => {
  await interrupted(world, BODIES.text);
  const mine = new Error('a bug of the app');
  const { tab, once } = world.open({ ...OPTIONS, onOutcome: () => Promise.reject(mine) as never });
  world.server.plays(replays());
  expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done' } }]);
  await rest();
  expect(tab.reported).toEqual([mine]);
});
