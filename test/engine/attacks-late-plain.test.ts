/**
 * Goal: what is sent again without a key undoes nothing that was written since (decision 1).
 * Method: a call that waits for its next attempt, and another one to the same address meanwhile, however that is written.
 */
import { describe, expect } from 'vitest';
import type { OnceRequestInit } from '../../src/once.js';
import { answers } from '../support/server.js';
import { rest, test, URL_, watched } from '../support/world.js';

const LATER: Readonly<Record<string, readonly [string | URL, OnceRequestInit]>> = {
  'a PUT': [URL_, { method: 'PUT', body: 'new' }],
  'a PUT to the relative address': ['/api/payments', { method: 'PUT', body: 'new' }],
  'a PUT to the address with a fragment': [`${URL_}#top`, { method: 'PUT', body: 'new' }],
  'a PUT with a name': [URL_, { method: 'PUT', body: 'new', once: ['save', 2] }],
  'a PATCH without a name': [URL_, { method: 'PATCH', body: 'new' }],
  'a POST with a name': [URL_, { method: 'POST', body: 'new', once: ['add', 1] }],
};

describe.each([{ method: 'PUT', body: 'old' }, { method: 'DELETE' }])('a $method without a name', (init) => {
  test.for(Object.entries(LATER))('is not sent again after %s', async ([_, [url, later]], { world, tab }) => {
    const once = tab.once({ fetch: tab.fetch });
    world.server.plays(answers(503), answers(200));
    const first = watched(once.fetch(URL_, init));
    await rest();
    expect(await world.run(watched(once.fetch(url, later)))).toMatchObject({ status: 200 });
    expect(await world.run(first)).toMatchObject({ status: 503 });
    expect(world.server.arrivals.map(({ method }) => method)).toEqual([init.method, later.method]);
  });
});
