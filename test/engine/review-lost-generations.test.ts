/**
 * Goal: after a loss of the storage, a kept refusal of the first key of a name is told as "none" to nobody: the corrected request may
 * have gone out under the next key, and be done. Method: a payment that is refused, corrected and charged; the storage is lost; then the
 * same name again, by calls that can't go on to the next key.
 */
import { expect, test } from 'vitest';
import { type Outcome, resumeOne } from '../../src/entries/index.js';
import { answers, idle, lost, replays } from '../support/server.js';
import { NAME, newWorld, ONE, pay, rest, watched } from '../support/world.js';

const key = ({ generation }: { generation: number }) => `order-42-${generation}`;
const options = { namespace: 'ann', keep: { request: true } } as const;

/** Declined, then charged under the next key; the browser has cleared what it stored, and this is the next page. */
async function evicted() {
  const world = newWorld();
  const { tab, once } = world.open(options);
  await world.end(tab, pay(once, { key }), idle(answers(402, { code: 'card_declined' })));
  await world.end(tab, pay(once, { key }), idle(replays(402)));
  await world.end(tab, pay(once, { key }), answers(201));
  expect([...world.server.charged]).toEqual(['order-42-1']);
  for (const { id } of world.records as { id: string }[]) world.medium.set(id, null);
  const next = tab.reload();
  return { world, tab: next, once: next.once(options) };
}

test.for<[string, () => string | Promise<string>]>([
  ['throws', () => Promise.reject(new Error('no key today'))],
  ['never answers', () => new Promise<never>(() => {})],
])('a press whose key strategy %s when it is asked for the next key', async ([, fails]) => {
  const { world, tab, once } = await evicted();
  const end = await world.end(tab, pay(once, { key: (c) => (c.generation ? fails() : key(c)) }), idle(replays(402)));
  expect(end.outcome).toMatchObject({ effect: 'unknown' });
  // The next press goes on to the key that was charged.
  expect((await world.end(tab, pay(once, { key }), replays())).outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
});

test('a press that is given up while the next key is made', async () => {
  const { world, tab, once } = await evicted();
  const controller = new AbortController();
  const told: Outcome[] = [];
  const hangs = (c: { generation: number }) => (c.generation ? new Promise<string>(() => controller.abort()) : key(c));
  await world.end(tab, pay(once, { key: hangs, signal: controller.signal, onOutcome: (said) => void told.push(said) }), idle(replays(402)));
  await rest();
  expect(told).toMatchObject([{ effect: 'unknown' }]);
});

test('a resume, which has no other key to go on with', async () => {
  const { world, tab, once } = await evicted();
  await world.end(tab, pay(once, { ...ONE, key }), idle(lost()));
  const end = await world.end(tab, watched(resumeOne(once, NAME)), idle(replays(402)));
  expect(end.outcome).toMatchObject({ effect: 'unknown' });
  expect((await world.end(tab, pay(once, { key }), replays())).outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
});
