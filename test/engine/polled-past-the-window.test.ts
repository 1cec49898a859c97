/**
 * Goal: work that is polled past the key window of its operation has one effect, and nothing is sent under its key again, whatever else happens. Method:
 * a 202 whose work runs longer than the key counts, then the next press, or a resume, crossed with each other feature.
 */
import { describe, expect, test } from 'vitest';
import { clear, type OnceOptions, resumeOne } from '../../src/entries/index.js';
import { answers, charged, idle } from '../support/server.js';
import { CART, type End, NAME, newWorld, pay, resumed, SECOND } from '../support/world.js';

const WINDOW = 60 * SECOND;
const EDITED = { ...CART, amount: 20 };
const ELSEWHERE = 'https://pay.example/payments';
const options: OnceOptions = { namespace: 'ann', accepted: 'poll', limits: { inProgressMs: 5 * SECOND, keyWindowMs: WINDOW } };

/** The operation, past its key window. From now on the link says `state`, and a new key is charged. */
async function pastTheWindow(state: string, more: OnceOptions = {}) {
  const { world, tab, once } = newWorld().open({ ...options, ...more });
  world.server.plays(charged(answers(202, '', { location: '/jobs/1' })));
  world.server.otherwise = idle(answers(200, { state: 'running' }));
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
  await world.clock.advance(2 * WINDOW);
  const [first] = world.server.keys;
  world.server.otherwise = (arrival, server) => (arrival.method === 'GET' ? idle(answers(200, { state })) : charged(answers(201)))(arrival, server);
  const posts = () => world.server.arrivals.filter(({ method }) => method === 'POST').map(({ key }) => key);
  return { world, tab, once, first, posts };
}
type Scene = Awaited<ReturnType<typeof pastTheWindow>>;

/** What is done, how it ends, and how many keys have gone out with a POST. */
const CROSSINGS: Record<string, readonly [OnceOptions, (scene: Scene) => Promise<End>, object, number]> = {
  'a second tab': [
    {},
    async ({ world }) => {
      const other = world.tab();
      return world.end(other, pay(other.once(options)));
    },
    { effect: 'done' },
    1,
  ],
  'another origin': [{}, async ({ world, tab, once }) => world.end(tab, pay(once, { url: ELSEWHERE })), { effect: 'unknown', reason: 'elsewhere' }, 1],
  'a headers hook that throws': [
    {},
    async ({ world, tab }) => {
      const headers = (): never => {
        throw new Error('no token');
      };
      return world.end(tab, pay(tab.once({ ...options, headers })));
    },
    { effect: 'unknown', reason: 'in-progress' },
    1,
  ],
  'a headers hook that gives a header which cannot be sent': [
    {},
    async ({ world, tab }) => world.end(tab, pay(tab.once({ ...options, headers: () => ({ 'no name': 'x' }) }))),
    { effect: 'unknown', reason: 'in-progress' },
    1,
  ],
  'an edited form, with never': [{}, async ({ world, tab, once }) => world.end(tab, pay(once, { body: EDITED })), { effect: 'done', type: 'replayed' }, 1],
  'an edited form, with if-changed': [
    { repeat: 'if-changed' },
    async ({ world, tab, once }) => world.end(tab, pay(once, { body: EDITED })),
    { effect: 'done', type: 'fresh', certain: true },
    2,
  ],
  resume: [
    {},
    async ({ world, tab, once }) => {
      await world.run(resumed(once));
      return world.end(tab, pay(once));
    },
    { effect: 'done' },
    1,
  ],
  resumeOne: [{}, async ({ world, tab, once }) => world.end(tab, resumeOne(once, NAME)), { effect: 'done' }, 1],
};

describe('work that is done past the key window', () => {
  test.each(Object.entries(CROSSINGS))('%s: it has one effect, and its key is not sent again', async (_, [more, act, ends, keys]) => {
    const scene = await pastTheWindow('done', more);
    expect((await act(scene)).outcome).toMatchObject(ends);
    expect(scene.posts().filter((key) => key === scene.first)).toHaveLength(1);
    expect(new Set(scene.posts()).size).toBe(keys);
  });

  test('a log-out removes the link; the next press, whose key has expired, is told so', async () => {
    const { world, tab, once, posts } = await pastTheWindow('done');
    await world.run(clear(once));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'key-expired' });
    expect(posts()).toHaveLength(1);
  });
});

test.each(['never', 'if-changed', 'always'] as const)('work that fails past the key window, repeat: %s: the next press has a new key', async (repeat) => {
  const { world, tab, once, first, posts } = await pastTheWindow('failed', { repeat });
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'none' });
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
  expect(posts()).toEqual([first, expect.not.stringMatching(String(first))]);
});
