/**
 * Goal: however long a hook of the worker's client waits, nothing is sent in the session of a user who has logged in meanwhile, or too late.
 * Method: a simulated scope of a service worker, and hooks during which another user logs in, or the device sleeps.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { around, type OnceOptions } from '../../src/entries/index.js';
import { outbox } from '../../src/entries/service-worker.js';
import { everything } from '../../src/everything.js';
import { answers, charged, type Entry, lost, replays } from '../support/server.js';
import { MINUTE, newWorld, pay, SECOND } from '../support/world.js';

beforeEach(() => {
  vi.stubGlobal('ServiceWorkerGlobalScope', class {});
  vi.stubGlobal('registration', { active: {}, installing: null, waiting: null });
  // An installed worker does not resume at its start, so that only the test starts a run.
  vi.stubGlobal('serviceWorker', { state: 'installed' });
  vi.stubGlobal('addEventListener', () => {});
});
afterEach(() => vi.unstubAllGlobals());

/** Ann's unsettled payment, whose page is closed, and the client of a worker. */
async function scene(replies: readonly Entry[], ofBoth: OnceOptions, ofWorker: OnceOptions) {
  const world = newWorld();
  const page = world.open({ namespace: 'ann', ...ofBoth, limits: { attempts: 1, inProgressMs: 1 } });
  await world.end(page.tab, pay(page.once, { background: { untilMs: world.clock.now() + 10 * MINUTE } }), ...replies);
  page.tab.kill();
  const { tab, once } = world.open({ ...ofBoth, ...ofWorker }, { name: 'worker' });
  return { world, tab, once, sent: () => world.server.arrivals.filter(({ from }) => from === 'worker') };
}

describe('`around`', () => {
  const signing = (user: () => string, meanwhile: () => void): OnceOptions => ({
    use: [
      ...everything(),
      around(async (_, send) => {
        meanwhile();
        return send({ authorization: user() });
      }),
    ],
  });

  test('another user logs in while the hook waits for a signature: nothing is sent', async () => {
    let user = 'ann';
    const hook = signing(
      () => user,
      () => void (user = 'bob'),
    );
    const { world, once, sent } = await scene([charged(lost())], {}, hook);
    expect(await world.run(outbox(once, { namespace: async () => user })())).toEqual({ open: 1 });
    expect(sent()).toEqual([]);
  });

  test('the user stays: the hook signs the request', async () => {
    const hook = signing(
      () => 'ann',
      () => {},
    );
    const { world, once, sent } = await scene([charged(lost())], {}, hook);
    world.server.plays(replays());
    expect(await world.run(outbox(once, { namespace: async () => 'ann' })())).toEqual({ open: 0 });
    expect(sent().map(({ headers }) => headers.get('authorization'))).toEqual(['ann']);
  });
});

describe('namespace answers slowly, and the store answers slowly after it', () => {
  test.each<[string, OnceOptions, last: number]>([
    ['without hooks', {}, 1],
    ['with `around`', { use: [...everything(), around(async (_, send) => send())] }, 2],
  ])('another user logs in meanwhile: nothing is sent, and the record stays pending for its user (%s)', async (_, hooks, last) => {
    let user = 'ann';
    let asked = 0;
    const { world, tab, once, sent } = await scene([charged(lost())], {}, hooks);
    const namespace = async (): Promise<string> => {
      const told = user;
      if (asked++ === last) {
        await new Promise<void>((resolve) => void world.clock.timer(2 * SECOND, resolve));
        tab.faults.next({ name: 'slow', ms: 5 * SECOND });
        world.clock.timer(3 * SECOND, () => void (user = 'bob'));
      }
      return told;
    };
    const goOn = outbox(once, { namespace });
    expect(await world.run(goOn())).toEqual({ open: 1 });
    expect(sent()).toEqual([]);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('the user stays: the attempt is sent once', async () => {
    let asked = 0;
    const { world, tab, once, sent } = await scene([charged(lost())], {}, {});
    world.server.plays(replays());
    const namespace = async (): Promise<string> => {
      if (asked++ === 1) {
        await new Promise<void>((resolve) => void world.clock.timer(2 * SECOND, resolve));
        tab.faults.next({ name: 'slow', ms: 5 * SECOND });
      }
      return 'ann';
    };
    expect(await world.run(outbox(once, { namespace })())).toEqual({ open: 0 });
    expect([sent().length, asked]).toEqual([1, 3]);
  });
});

describe('the device sleeps while the user is checked a last time, after a slow store', () => {
  test.each<[string, OnceOptions, last: number]>([
    ['without hooks', {}, 1],
    ['with `around`', { use: [...everything(), around(async (_, send) => send())] }, 2],
  ])('the consent is over when it wakes: nothing is sent (%s)', async (_, hooks, last) => {
    let asked = 0;
    const { world, tab, once, sent } = await scene([charged(lost())], {}, hooks);
    const namespace = async (): Promise<string> => {
      if (asked++ === last) {
        await new Promise<void>((resolve) => void world.clock.timer(2 * SECOND, resolve));
        tab.faults.next({ name: 'slow', ms: 5 * SECOND });
      } else if (asked === last + 2) world.clock.jump(30 * MINUTE);
      return 'ann';
    };
    await world.run(outbox(once, { namespace })());
    expect(sent()).toEqual([]);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });
});

describe('the link of a 202 is not asked, because in another session the server could report the work as failed,', () => {
  const POLL = { accepted: 'poll' } as const;
  const LIMITS = { inProgressMs: 10 * SECOND, totalMs: 20 * SECOND, attemptMs: 5 * SECOND };
  const ACCEPTED = [answers(202, { state: 'running' }, { location: '/jobs/1' }), answers(200, { state: 'running' })];

  test('if another user logs in while the hook for headers throws', async () => {
    let user = 'ann';
    const headers = () => {
      user = 'bob';
      throw new Error('no token');
    };
    const { world, once, sent } = await scene(ACCEPTED, POLL, { headers, limits: LIMITS });
    await world.run(outbox(once, { namespace: async () => user })());
    expect(sent()).toEqual([]);
    expect(world.record()).toMatchObject({ state: 'pending', link: expect.stringContaining('/jobs/1') });
  });

  test('if namespace does not answer in time', async () => {
    const { world, once, sent } = await scene(ACCEPTED, POLL, { limits: LIMITS });
    let asked = 0;
    const namespace = () => (asked++ === 0 ? 'ann' : new Promise<string>(() => {}));
    await world.run(outbox(once, { namespace })());
    expect(sent()).toEqual([]);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });
});
