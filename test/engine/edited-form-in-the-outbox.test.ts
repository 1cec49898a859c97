/**
 * Goal: an edited form that waits in the outbox until the work of the first form has ended is sent once, and nobody is told earlier that it is done. Method:
 * the edited form is pressed with a consent while that work goes on, and meets another origin, a second tab, another user and a full store.
 */
import { expect, test } from 'vitest';
import { clear, type Once, resumeInBackground } from '../../src/entries/index.js';
import { answers, idle, type ScriptedServer, textOf } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, type End, MINUTE, newWorld, pay, SECOND, type World } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };
const ELSEWHERE = 'https://other.example/api/payments';

/** Each key has a job, and another payload under the key is refused. Gives the payloads of the jobs that were begun, and a function that ends all jobs. */
function jobs(server: ScriptedServer) {
  const known = new Map<string | null, { readonly text: string; readonly job: number }>();
  const begun: string[] = [];
  let status = 'running';
  server.otherwise = async (arrival, of) => {
    if (arrival.method === 'GET') return idle(answers(200, { status }))(arrival, of);
    const text = await textOf(arrival);
    const first = known.get(arrival.key);
    if (first && first.text !== text) return answers(422, { title: 'Idempotency-Key is already used' })(arrival, of);
    const job = first?.job ?? begun.push(text);
    known.set(arrival.key, { text, job });
    return answers(202, '', { location: `/jobs/${job}`, ...(first && { 'idempotent-replayed': 'true' }) })(arrival, of);
  };
  const end = (): void => void (status = 'done');
  return { begun, end };
}

/** A page whose edited form waits in the outbox. */
async function waiting() {
  const world = newWorld();
  const who = { user: 'ann' };
  const options = { namespace: () => who.user, accepted: 'poll', repeat: 'if-changed', limits: { totalMs: 40 * SECOND, inProgressMs: 5 * SECOND } } as const;
  const { begun, end } = jobs(world.server);
  const { tab, once } = world.open(options);
  const agreed = { background: { untilMs: world.clock.now() + 60 * MINUTE } };
  await world.end(tab, pay(once, agreed));
  const edited = await world.end(tab, pay(once, { ...agreed, body: EDITED }));
  expect(edited.outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
  expect(begun).toEqual([JSON.stringify(CART)]);
  return { world, who, tab, once, options, agreed, begun, end };
}

type Scene = Awaited<ReturnType<typeof waiting>>;
const press = ({ world, tab, once, agreed }: Scene, of: Once = once, by: Tab = tab): Promise<End> => world.end(by, pay(of, { ...agreed, body: EDITED }));
const inBackground = (world: World, once: Once) => world.run(resumeInBackground(once));

/** What comes between, and the outcome of the press after it. */
const CROSSINGS: Readonly<Record<string, readonly [between: (scene: Scene) => Promise<unknown>, ends: object, effects: readonly object[]]>> = {
  'a press at another origin': [
    async (scene) => {
      const { outcome } = await scene.world.end(scene.tab, pay(scene.once, { ...scene.agreed, body: EDITED, url: ELSEWHERE }));
      expect(outcome).toMatchObject({ effect: 'unknown', reason: 'elsewhere' });
      scene.end();
    },
    { type: 'fresh', certain: true },
    [CART, EDITED],
  ],
  'a press in a second tab, and the worker': [
    async (scene) => {
      const { world, options, end } = scene;
      const other = world.open(options);
      const pressed = pay(other.once, { ...scene.agreed, body: EDITED });
      const going = inBackground(world, world.open(options).once);
      end();
      expect((await world.end(other.tab, pressed)).outcome).toMatchObject({ effect: 'done' });
      await going;
    },
    { effect: 'done' },
    [CART, EDITED],
  ],
  'another user, who presses the same': [
    async (scene) => {
      const { who, end, begun } = scene;
      who.user = 'bob';
      const pressed = press(scene);
      end();
      expect((await pressed).outcome).toMatchObject({ type: 'fresh' });
      expect(await inBackground(scene.world, scene.once)).toEqual({ open: 0 });
      expect(begun).toHaveLength(2);
      who.user = 'ann';
    },
    { type: 'fresh', certain: true },
    [CART, EDITED, EDITED],
  ],
  'a log-out, which takes consent and link, and a log-in': [
    async (scene) => {
      const { world, once, who, end } = scene;
      await world.run(clear(once));
      who.user = 'bob';
      expect(await inBackground(world, once)).toEqual({ open: 0 });
      end();
      who.user = 'ann';
      expect(await inBackground(world, once)).toEqual({ open: 0 });
    },
    // The log-out took the link and the consent. The page only has the edited bytes, and the server has the first ones under the key.
    { effect: 'unknown', reason: 'mismatch' },
    [CART],
  ],
};

test.each(Object.entries(CROSSINGS))('%s: the edited form has one effect, and is told as done only then', async (_, [between, ends, effects]) => {
  const scene = await waiting();
  await between(scene);
  const { outcome } = await press(scene);
  expect(outcome).toMatchObject(ends);
  expect(await inBackground(scene.world, scene.once)).toEqual({ open: outcome?.effect === 'done' ? 0 : 1 });
  expect(scene.begun).toEqual(effects.map((one) => JSON.stringify(one)));
});

test.each([0, 1, 2, 3, 4, 5])('a store that has no room for one write, after %i calls: the edited form has one effect all the same', async (calls) => {
  const scene = await waiting();
  const { world, tab, end, begun } = scene;
  tab.faults.next(...Array.from({ length: calls }, () => 'none' as const), 'full');
  end();
  const { outcome } = await press(scene);
  // Before the first write of two, the end of the earlier form could not be stored. Before the second one, the edited form is kept in memory.
  expect(outcome?.effect === 'unknown' ? outcome : { reason: 'store' }).toMatchObject({ reason: 'store' });
  expect(begun.length).toBe(outcome?.effect === 'done' ? 2 : 1);
  await inBackground(world, scene.once);
  expect((await press(scene)).outcome).toMatchObject({ effect: 'done' });
  expect(begun).toEqual([CART, EDITED].map((one) => JSON.stringify(one)));
});
