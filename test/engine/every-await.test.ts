/**
 * Goal: whatever happens, and whenever, a payment takes effect once, nobody is told otherwise, and it can be brought to its
 * end. Method: a payment is played again and again; each time something happens at another one of its awaits (the tab dies,
 * is frozen, its caller aborts, its user logs out, a store call fails in one of many ways). Then the same button is pressed
 * again on a calm page. The server honours keys, and its effects are counted.
 */
import { describe, expect, test } from 'vitest';
import { clear, close, pending, settle } from '../../src/entries/index.js';
import type { StoreFaultName } from '../../src/testing/faulty-store.js';
import { answers, delayed, type Entry, honest, idle, lost } from '../support/server.js';
import { type End, MINUTE, NAME, newWorld, pay, rest, SECOND, type World } from '../support/world.js';

/** How the first attempts are answered. */
const WEATHER: Record<string, readonly (Entry | undefined)[]> = {
  'a calm day': [],
  'a lost answer': [lost()],
  'a gateway in trouble': [answers(503), answers(504)],
  'a slow server': [delayed(5 * SECOND, answers(201, { id: 'ch_1' }))],
  'work in progress': [lost(), answers(409, '', { 'retry-after': '1' })],
  'a refusal without effect': [idle(answers(402, { error: 'declined' }))],
  'a full server': [idle(answers(429)), lost()],
};
const HAPPENINGS_MAX = 60;

interface Scene {
  readonly world: World;
  readonly tab: ReturnType<World['tab']>;
  readonly once: ReturnType<ReturnType<World['tab']>['once']>;
}

function open(fates: readonly (Entry | undefined)[], of: Parameters<World['open']>[1] = {}): Scene {
  const world = newWorld();
  world.server.otherwise = honest(fates);
  return { ...world.open({ namespace: 'ann' }, of) };
}

/** Checks that nobody was told a lie, and that pressing the button again ends the operation. */
async function endsWell(world: World, told: End | undefined): Promise<void> {
  const charges = world.server.charged.size;
  expect(charges).toBeLessThanOrEqual(1);
  if (told?.outcome?.effect === 'done') expect(charges).toBe(1);
  if (told?.outcome?.effect === 'none') expect(charges).toBe(0);
  // The press waits for the locks of frozen tabs and the leases of dead ones.
  const tab = world.tab();
  const press = () => world.end(tab, pay(tab.once({ namespace: 'ann' })));
  let next = await press();
  // The scripted refusal may still be ahead, and it proves nothing if an earlier page may have sent something.
  for (let presses = 1; presses < 3 && next.outcome?.effect !== 'done'; presses++) next = await press();
  expect(next.outcome).toMatchObject({ effect: 'done' });
  expect(world.server.charged.size).toBe(1);
  expect(await world.run(pending(tab.once({ namespace: 'ann' })))).toEqual([]);
}

/** Plays the scene once for every await of the payment. */
async function atEveryAwait(
  fates: readonly (Entry | undefined)[],
  play: (scene: Scene, count: number) => Promise<End | undefined>,
  of?: Parameters<World['open']>[1],
): Promise<number> {
  const calm = open(fates, of);
  const before = calm.tab.crossings;
  await calm.world.end(calm.tab, pay(calm.once));
  const awaits = calm.tab.crossings - before;
  expect(awaits).toBeGreaterThan(5);
  expect(awaits).toBeLessThan(HAPPENINGS_MAX);
  for (let count = 1; count <= awaits; count++) {
    const scene = open(fates, of);
    await endsWell(scene.world, await play(scene, count));
  }
  return awaits;
}

const weathers = Object.entries(WEATHER);

describe.each(weathers)('%s', (_, fates) => {
  test.each([
    ['the tab', {}],
    ['a process', { locks: false }],
  ])('%s dies at any await', async (_, of) => {
    const dies = async ({ world, tab, once }: Scene, count: number) => {
      tab.at(count, () => tab.kill());
      void pay(once);
      await world.clock.advance(MINUTE);
      return undefined;
    };
    await atEveryAwait(fates, dies, of);
  });

  test('the tab freezes at any await, another one goes on, and it thaws', async () => {
    await atEveryAwait(fates, async ({ world, tab, once }, count) => {
      tab.at(count, () => tab.freeze());
      const call = pay(once);
      await world.clock.advance(SECOND);
      const other = world.tab();
      const second = await world.end(other, pay(other.once({ namespace: 'ann' })));
      tab.thaw();
      const first = await world.end(tab, call);
      // Whatever the first call has in hand, it does not deny what took effect.
      if (second.outcome?.effect === 'done') expect(first.outcome?.effect === 'none' && first.outcome.key === second.outcome.key).toBe(false);
      return world.server.charged.size > 0 && first.outcome?.effect === 'none' ? second : first;
    });
  });

  test('its caller aborts at any await', async () => {
    await atEveryAwait(fates, async ({ world, tab, once }, count) => {
      const controller = new AbortController();
      tab.at(count, () => controller.abort());
      const sent = world.server.arrivals.length;
      const end = await world.end(tab, pay(once, { signal: controller.signal }));
      await world.clock.advance(MINUTE);
      // An attempt under way may end, but no other one begins.
      if (end.error)
        expect(world.server.arrivals.length - sent).toBeLessThanOrEqual(world.server.arrivals.filter(({ at }) => at <= world.clock.now() - MINUTE).length);
      return end;
    });
  });

  test('its caller aborts at any await, and presses again at once', async () => {
    await atEveryAwait(fates, async ({ world, tab, once }, count) => {
      const controller = new AbortController();
      let again: Promise<Response> | undefined;
      tab.at(count, () => {
        controller.abort();
        again = pay(once);
      });
      await world.end(tab, pay(once, { signal: controller.signal }));
      return again && world.end(tab, again);
    });
  });

  test('its user logs out in another tab at any await', async () => {
    await atEveryAwait(fates, async ({ world, tab, once }, count) => {
      const other = world.tab().once({ namespace: 'ann' });
      const cleared: Promise<unknown>[] = [];
      tab.at(count, () => void cleared.push(clear(other)));
      const end = await world.end(tab, pay(once));
      await world.run(Promise.all(cleared));
      // By design, the log-out removed an operation that had settled before it: the same name would be another operation.
      if (world.record()?.state !== 'pending' && world.server.charged.size === 1) await world.run(settle(other, NAME, 'done'));
      return end;
    });
  });

  test('the client is closed at any await', async () => {
    await atEveryAwait(fates, async ({ world, tab, once }, count) => {
      let closed: Promise<void> | undefined;
      tab.at(count, () => {
        closed = close(tab.once({ namespace: 'ann', store: tab.store }));
        closed = close(once);
      });
      const end = await world.end(tab, pay(once));
      await world.run(closed ?? Promise.resolve());
      return end;
    });
  });
});

const FAULTS: readonly StoreFaultName[] = ['fail-before-commit', 'fail-after-commit', 'hang', 'hang-after-commit', 'slow', 'look-fails', 'full'];

describe.each(weathers.filter(([name]) => /calm|lost|refusal/.test(name)))('%s, and the store in trouble', (_, fates) => {
  test.each(FAULTS)('%s: at any one of its calls', async (fault) => {
    for (let call = 0; call < 8; call++) {
      const { world, tab, once } = open(fates);
      tab.faults.next(...Array<'none'>(call).fill('none'), fault);
      const end = await world.end(tab, pay(once));
      tab.faults.clear();
      // A record that could only be kept in memory is lost with the page, so the page presses again before it goes.
      if (tab.degraded.size > 0) {
        expect(world.server.charged.size).toBeLessThanOrEqual(1);
        expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
        expect(world.server.charged.size).toBe(1);
        continue;
      }
      await endsWell(world, end);
    }
  });

  test.each(FAULTS)('%s: from any one of its calls on, until the page is gone', async (fault) => {
    for (let call = 1; call < 6; call++) {
      const { world, tab, once } = open(fates);
      tab.faults.next(...Array<'none'>(call).fill('none'));
      tab.faults.rate(fault, 1);
      const end = await world.end(tab, pay(once));
      tab.kill();
      await rest();
      await endsWell(world, end);
    }
  });
});
