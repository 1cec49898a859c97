/**
 * Goal: a request that is stored with its operation (`keep.request`, `background`) is read as strictly as one that is not.
 * Method: JSON without a content type, as `body: JSON.stringify(…)` is sent, and a page for people as the answer.
 */
import { describe, expect, test } from 'vitest';
import { resume } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { answers, charged, idle, lost } from '../support/server.js';
import { CART, NAME, newWorld, URL_, type World, watched } from '../support/world.js';

const OPTIONS = { namespace: () => 'ann', keep: { request: true } };
const BODIES = { text: JSON.stringify(CART), bytes: new TextEncoder().encode(` ${JSON.stringify(CART)}`) };

const send = (once: Once, body: BodyInit, attempts = 4) => watched(once.fetch(URL_, { method: 'POST', body, once: { operation: NAME, limits: { attempts } } }));

/** What a captive portal gives, or a single-page app for any address. */
const page = () => idle(answers(200, '<h1>Log in</h1>', { 'content-type': 'text/html' }));

async function interrupted(world: World, body: BodyInit): Promise<void> {
  const { tab, once } = world.open(OPTIONS);
  world.server.plays(charged(lost()));
  expect(await world.end(tab, send(once, body, 1))).toMatchObject({ outcome: { effect: 'unknown' } });
  tab.kill();
}

describe.each(Object.entries(BODIES))('JSON as %s, without a content type', (_, body) => {
  test('is not done because a page in HTML came', async () => {
    const world = newWorld();
    const { tab, once } = world.open(OPTIONS);
    world.server.plays(page());
    expect(await world.end(tab, send(once, body))).toMatchObject({ outcome: { effect: 'unknown', reason: 'not-a-verdict' } });
  });

  test('nor where it is pressed again after a reload', async () => {
    const world = newWorld();
    await interrupted(world, body);
    const { tab, once } = world.open(OPTIONS);
    world.server.plays(page());
    expect(await world.end(tab, send(once, body))).toMatchObject({ outcome: { effect: 'unknown', reason: 'not-a-verdict' } });
  });

  test('nor where it is resumed', async () => {
    const world = newWorld();
    await interrupted(world, body);
    const { once } = world.open(OPTIONS);
    world.server.plays(page());
    const told = async (): Promise<unknown[]> => {
      const outcomes: unknown[] = [];
      for await (const { outcome } of resume(once)) outcomes.push(outcome);
      return outcomes;
    };
    expect(await world.run(told())).toMatchObject([{ effect: 'unknown', reason: 'not-a-verdict' }]);
  });
});
