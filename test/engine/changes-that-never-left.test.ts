/** A press with another payload ends before any of it leaves. The next press must not take that payload for sent. */
import { describe, expect } from 'vitest';
import { pending } from '../../src/entries/index.js';
import { answers, charged, lost, replays, textOf } from '../support/server.js';
import { ONE, pay, rest, resumed, test } from '../support/world.js';

const CHANGED = { cart: 'c1', amount: 11 };

describe.each(['hook', 'abort', 'identity'] as const)('a changed payload that never left (%s)', (how) => {
  test.for(['if-changed', 'always'] as const)('is still sent under its own key after the replay of the earlier one (%s)', async (repeat, { world }) => {
    let user = 'ann';
    let broken = false;
    const headers = async () => (broken ? Promise.reject(new Error('no token')) : {});
    const { tab, once } = world.open({ namespace: () => user, repeat, headers, keep: { request: true }, ...ONE });
    await world.end(tab, pay(once), charged(lost()));
    tab.online = how !== 'abort';
    broken = how === 'hook';
    const stop = new AbortController();
    const call = pay(once, { body: CHANGED, signal: stop.signal });
    if (how === 'identity') user = 'bob';
    await rest();
    stop.abort(new Error('left'));
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
    [user, broken, tab.online] = ['ann', false, true];
    expect(world.server.arrivals).toHaveLength(1);
    const { outcome } = await world.end(tab, pay(once, { body: CHANGED }), replays(), answers(201));
    expect(outcome).toMatchObject({ effect: 'done', type: 'fresh', certain: true });
    expect(new Set(world.server.keys).size).toBe(2);
    expect(world.server.charged.size).toBe(2);
  });
});

test('after a changed payload that never left, resume goes on with the payload that was sent', async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann', keep: { request: true }, repeat: 'if-changed', ...ONE });
  await world.end(tab, pay(once, { meta: 'first' }), charged(lost()));
  tab.online = false;
  const stop = new AbortController();
  const [call] = await world.begin(pay(once, { body: CHANGED, meta: 'second', signal: stop.signal }));
  stop.abort(new Error('left'));
  await world.end(tab, call);
  const { once: again } = { once: tab.reload().once({ namespace: 'ann', keep: { request: true }, repeat: 'if-changed' }) };
  tab.online = true;
  expect(await world.run(pending(again))).toMatchObject([{ meta: 'first' }]);
  world.server.plays(replays());
  expect(await world.run(resumed(again))).toMatchObject([{ outcome: { effect: 'done' } }]);
  expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual([
    JSON.stringify({ cart: 'c1', amount: 10 }),
    JSON.stringify({ cart: 'c1', amount: 10 }),
  ]);
});
