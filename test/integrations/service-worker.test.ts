/**
 * Goal: the outbox resumes at the events that it names and at no others, for the user who is logged in at that moment, and tells the
 * browser whether to fire the event again. Method: a simulated scope of a service worker; `test/e2e/outbox.test.ts` has real ones.
 */
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import type { OnceOptions } from '../../src/entries/index.js';
import { type OutboxOptions, outbox } from '../../src/entries/service-worker.js';
import { answers, charged, during, lost, replays } from '../support/server.js';
import { MINUTE, newWorld, pay, rest, test } from '../support/world.js';

interface Fired {
  readonly tag?: string;
  readonly lastChance?: boolean;
}

const listeners = new Map<string, (event: object) => unknown>();
let state = 'activated';
const reported: unknown[] = [];

/** Fires an event. Returns the promise given to `waitUntil`, or `undefined` if there is none. */
function fire(type: string, event: Fired = {}): Promise<unknown> | undefined {
  let waits: Promise<unknown> | undefined;
  listeners.get(type)?.({ ...event, waitUntil: (work: Promise<unknown>) => (waits = work) });
  return waits;
}

beforeEach(() => {
  listeners.clear();
  reported.length = 0;
  state = 'activated';
  vi.stubGlobal('ServiceWorkerGlobalScope', class {});
  vi.stubGlobal('registration', { active: {}, installing: null, waiting: null });
  vi.stubGlobal('serviceWorker', {
    get state() {
      return state;
    },
  });
  vi.stubGlobal('addEventListener', (type: string, listener: (event: object) => unknown) => listeners.set(type, listener));
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error));
});
afterEach(() => vi.unstubAllGlobals());

/** Ann's payment, whose page is closed and whose answer is lost, and the client of a worker. */
async function scene(options: OnceOptions = {}) {
  const world = newWorld();
  const page = world.open({ namespace: 'ann', limits: { attempts: 1 } });
  await world.end(page.tab, pay(page.once, { background: { untilMs: world.clock.now() + 10 * MINUTE } }), charged(lost()));
  page.tab.kill();
  const worker = world.open(options, { name: 'worker' });
  const sent = () => world.server.arrivals.filter(({ from }) => from === 'worker');
  return { world, once: worker.once, sent };
}

const ANN: OutboxOptions = { namespace: async () => 'ann' };

describe('the outbox resumes', () => {
  test('when the worker starts', async () => {
    const { world, once, sent } = await scene();
    world.server.plays(replays());
    outbox(once, ANN);
    await rest();
    expect(sent()).toHaveLength(1);
  });

  test.each(['activate', 'online', 'sync'])('at %s, but not when a worker starts that is only installed', async (type) => {
    const { world, once, sent } = await scene();
    state = 'installed';
    outbox(once, ANN);
    await rest();
    expect(sent()).toEqual([]);
    world.server.plays(replays());
    state = type === 'activate' ? 'activating' : 'activated';
    await fire(type, { tag: 'oncefetch' });
    await rest();
    expect(sent()).toHaveLength(1);
  });

  test('not at online in a new version that waits until the old one is done: the old version goes on', async () => {
    const { world, once, sent } = await scene();
    state = 'installed';
    outbox(once, ANN);
    await fire('online');
    await rest();
    expect(sent()).toEqual([]);
    world.server.plays(replays());
    state = 'activated';
    await fire('online');
    await rest();
    expect(sent()).toHaveLength(1);
  });

  test('at online in a browser that does not tell a worker its own state', async () => {
    const { world, once, sent } = await scene();
    vi.stubGlobal('serviceWorker', undefined);
    vi.stubGlobal('registration', { active: {}, installing: null, waiting: {} });
    outbox(once, ANN);
    await rest();
    expect(sent()).toEqual([]);
    world.server.plays(replays());
    await fire('online');
    await rest();
    expect(sent()).toHaveLength(1);
  });

  test('at activate, but without `waitUntil`: the browser holds requests of pages until the worker is active, so both would wait for each other', async ({
    world,
  }) => {
    const page = world.open({ namespace: 'ann' });
    const worker = world.open({}, { name: 'worker' });
    state = 'installed';
    outbox(worker.once, ANN);
    // A version that skips waiting becomes active in the middle of a payment.
    world.server.plays(during(() => fire('activate'), answers(201)));
    const { outcome } = await world.end(page.tab, pay(page.once, { background: { untilMs: world.clock.now() + 10 * MINUTE } }));
    expect(outcome).toMatchObject({ type: 'fresh', attempts: 1 });
    expect(world.server.arrivals.map(({ from }) => from)).toEqual([page.tab.name]);
  });

  test.each<[string, OutboxOptions]>([
    ['for the user from %s, and calls `onOutcome` of the client with the end', ANN],
    ['the namespace of the client', {}],
  ])('for the user from %s, and calls `onOutcome` of the client', async (_, options) => {
    const told: unknown[] = [];
    const { world, once } = await scene({ onOutcome: ({ effect }) => void told.push(effect), ...(options.namespace ? {} : { namespace: 'ann' }) });
    world.server.plays(replays());
    await world.run(outbox(once, options)());
    expect(told).toEqual(['done']);
  });

  test('not at a sync event with another tag', async () => {
    const { once, sent } = await scene();
    state = 'installed';
    outbox(once, ANN);
    expect(fire('sync', { tag: 'mail' })).toBeUndefined();
    await rest();
    expect(sent()).toEqual([]);
  });

  test('in the namespace of the client, without the option namespace', async () => {
    const { world, once, sent } = await scene({ namespace: 'ann' });
    world.server.plays(replays());
    expect(await outbox(once)()).toMatchObject({ open: 0 });
    expect(sent()).toHaveLength(1);
  });

  test('for two ids of one user, if a worker has an outbox for each: one effect for each operation, under its own key', async () => {
    const { world, once, sent } = await scene();
    const page = world.open({ namespace: 'ann-uuid', limits: { attempts: 1 } });
    await world.end(page.tab, pay(page.once, { operation: ['pay', 2], background: { untilMs: world.clock.now() + 10 * MINUTE } }), charged(lost()));
    page.tab.kill();
    world.server.plays(replays(), replays());
    outbox(once, ANN);
    outbox(world.open({}, { name: 'worker' }).once, { namespace: async () => 'ann-uuid' });
    await rest();
    expect(new Set(sent().map(({ key }) => key)).size).toBe(2);
    expect(sent()).toHaveLength(2);
    expect(world.server.charged.size).toBe(2);
  });

  test('in one run at a time; calls during a run share the next one', async () => {
    const { world, once } = await scene();
    let asked = 0;
    const goOn = outbox(once, { namespace: async () => (++asked > 0 ? 'ann' : undefined) });
    world.server.plays(replays());
    const [first, second, third] = [goOn(), goOn(), goOn()];
    expect(second).toBe(third);
    await Promise.all([first, second]);
    await rest();
    // The run at the start asks twice: before it reads the store and before its attempt. All three calls share the next
    // run.
    expect(asked).toBeLessThanOrEqual(4);
  });
});

describe('the option namespace', () => {
  test.each<[string, OutboxOptions['namespace']]>([
    ['no user', async () => undefined],
    ['an empty name', () => ''],
    ['a function that throws', () => Promise.reject(new Error('no session'))],
    ['a number', (() => 7) as never],
    ['another user', async () => 'bob'],
  ])('gives %s: nothing is sent', async (_, namespace) => {
    const { once, sent } = await scene();
    expect(await outbox(once, { namespace })()).toEqual({ open: 0 });
    expect(sent()).toEqual([]);
  });

  test('does not answer: nothing is sent, and each run ends after ten seconds', async () => {
    const { once, sent } = await scene();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked = outbox(once, { namespace: () => new Promise(() => {}) })();
      // Two runs: the one at the start of the worker, and the one of this call.
      for (let n = 0; n < 2; n++) await vi.advanceTimersByTimeAsync(10_000);
      expect(await asked).toEqual({ open: 0 });
    } finally {
      vi.useRealTimers();
    }
    expect(sent()).toEqual([]);
  });

  test('is asked before every attempt: in the session of the next user nothing is sent and no hook is called', async () => {
    const heard: number[] = [];
    const headers: OnceOptions['headers'] = ({ attempt }) => {
      heard.push(attempt);
      return {};
    };
    const { world, once, sent } = await scene({ headers });
    let user = 'ann';
    world.server.plays(during(() => void (user = 'bob'), answers(503)));
    await world.run(outbox(once, { namespace: async () => user })());
    expect(sent()).toHaveLength(1);
    expect(heard).toEqual([1]);
  });

  test('is asked again after a hook for headers, because the hook may wait and then return a token of the next user', async () => {
    let user = 'ann';
    const headers: OnceOptions['headers'] = async () => {
      user = 'bob';
      return { authorization: `Bearer ${user}` };
    };
    const { world, once, sent } = await scene({ headers });
    await world.run(outbox(once, { namespace: async () => user })());
    expect(sent()).toEqual([]);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });
});

describe('`reconcile` of the client', () => {
  /**
   * Ann's payment was charged, and an expired login makes the worker's attempt fail. `reconcile` sees the orders of the
   * user who is logged in.
   */
  async function asking(acts: { answered?: (log: (user: string) => void) => void; asked?: (log: (user: string) => void) => void }) {
    let user = 'ann';
    const log = (next: string): void => void (user = next);
    const sees: string[] = [];
    const reconcile: OnceOptions['reconcile'] = async () => {
      acts.asked?.(log);
      sees.push(user);
      return user === 'ann' ? 'done' : 'none';
    };
    const { world, once } = await scene({ reconcile, limits: { attempts: 1 } });
    world.server.plays(during(() => acts.answered?.(log), answers(401)));
    await world.run(outbox(once, { namespace: async () => user })());
    return { sees, record: world.record() };
  }

  test('is asked in the session of the user who is logged in, and its answer counts', async () => {
    const { sees, record } = await asking({});
    expect(sees).toEqual(['ann']);
    expect(record).toMatchObject({ state: 'settled' });
  });

  test('is not asked in the session of the next user, who has no such order', async () => {
    const { sees, record } = await asking({ answered: (log) => log('bob') });
    expect(sees).toEqual([]);
    expect(record).toMatchObject({ state: 'pending' });
  });

  test('does not count if another user logs in while it asks', async () => {
    const { sees, record } = await asking({ asked: (log) => log('bob') });
    expect(sees).toEqual(['bob']);
    expect(record).toMatchObject({ state: 'pending' });
  });
});

describe('a hook for headers that throws', () => {
  /** A hook that throws at its first call, after `meanwhile`. */
  async function throwing(meanwhile: () => void) {
    let asked = 0;
    const headers: OnceOptions['headers'] = async () => {
      if (++asked > 1) return { authorization: `Bearer ${asked}` };
      meanwhile();
      throw new Error('no token');
    };
    return { ...(await scene({ headers })), asked: () => asked };
  }

  test('is called again, after namespace was asked again; then the attempt is sent', async () => {
    let questions = 0;
    const { world, once, sent, asked } = await throwing(() => {});
    world.server.plays(replays());
    await world.run(outbox(once, { namespace: async () => (++questions > 0 ? 'ann' : undefined) })());
    expect(sent().map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer 2']);
    expect(asked()).toBe(2);
    // Four questions: at the start, before the hook throws, and before and after its second call.
    expect(questions).toBe(4);
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('while another user logs in: it is not called again, and nothing is sent', async () => {
    let user = 'ann';
    const { world, once, sent, asked } = await throwing(() => void (user = 'bob'));
    await world.run(outbox(once, { namespace: async () => user })());
    expect(sent()).toEqual([]);
    expect(asked()).toBe(1);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('each time: nothing is sent, the operation stays pending, and a later run goes on with its key', async () => {
    let broken = true;
    const headers: OnceOptions['headers'] = () => {
      if (broken) throw new Error('no token');
      return {};
    };
    const { world, once, sent } = await scene({ headers, limits: { attempts: 2 } });
    state = 'installed';
    const goOn = outbox(once, ANN);
    expect(await world.run(goOn())).toEqual({ open: 1 });
    expect(sent()).toEqual([]);
    broken = false;
    world.server.plays(replays());
    expect(await world.run(goOn())).toEqual({ open: 0 });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

test('a slow answer of namespace to one attempt does not override a faster answer to another attempt, which names another user', async ({ world }) => {
  const page = world.open({ namespace: 'ann', limits: { attempts: 1 } });
  world.server.plays(charged(lost()), charged(lost()));
  for (const cart of ['c1', 'c2'])
    await world.end(page.tab, pay(page.once, { operation: ['pay', cart], background: { untilMs: world.clock.now() + 10 * MINUTE } }));
  page.tab.kill();
  const worker = world.open({}, { name: 'worker' });
  let answer = (_: string): void => {};
  const slow = new Promise<string>((resolve) => (answer = resolve));
  const said = [() => 'ann', () => slow, () => 'bob'];
  state = 'installed';
  const gone = outbox(worker.once, { namespace: () => (said.shift() ?? (() => 'bob'))() })();
  await rest();
  answer('ann');
  await world.run(gone);
  expect(world.server.arrivals).toHaveLength(2);
});

describe('a sync event', () => {
  test('fails if namespace throws, but not if nobody is logged in', async () => {
    const { world, once, sent } = await scene();
    state = 'installed';
    const said: (() => Promise<string | undefined>)[] = [() => Promise.reject(new TypeError('Failed to fetch')), async () => undefined];
    outbox(once, { namespace: () => (said.shift() ?? (async () => 'ann'))() });
    await expect(world.run(fire('sync', { tag: 'oncefetch' }) as Promise<unknown>)).rejects.toThrow('could not tell who is here');
    await world.run(fire('sync', { tag: 'oncefetch' }) as Promise<unknown>);
    expect(sent()).toEqual([]);
    world.server.plays(replays());
    await world.run(fire('sync', { tag: 'oncefetch' }) as Promise<unknown>);
    expect(sent()).toHaveLength(1);
  });

  test('fails while an operation is pending, so that the browser fires it again, but not at its last chance', async () => {
    const { world, once } = await scene({ limits: { attempts: 1 } });
    state = 'installed';
    outbox(once, ANN);
    world.server.plays(answers(503), answers(503), replays());
    await expect(world.run(fire('sync', { tag: 'oncefetch' }) as Promise<unknown>)).rejects.toThrow('operations left to resume later: 1');
    await world.run(fire('sync', { tag: 'oncefetch', lastChance: true }) as Promise<unknown>);
    await world.run(fire('sync', { tag: 'oncefetch' }) as Promise<unknown>);
    expect(reported).toEqual([]);
  });
});

test.each<[string, () => unknown, RegExp]>([
  ['no client', () => outbox({} as never), /outbox takes a client from createOnce, got object/],
  ['null', () => outbox(null as never), /got null/],
  ['an unknown option', () => outbox(newWorld().tab().once(), { user: 'ann' } as never), /there is no option outbox.user/],
  ['a namespace that is no function', () => outbox(newWorld().tab().once(), { namespace: 'ann' as never }), /outbox.namespace must be a function, got string/],
])('outbox refuses at once: %s', (_, call, says) => {
  expect(call).toThrow(TypeError);
  expect(call).toThrow(says);
  expect(listeners.size).toBe(0);
});

test('outbox refuses to run outside of a service worker', () => {
  vi.stubGlobal('ServiceWorkerGlobalScope', undefined);
  Reflect.deleteProperty(globalThis, 'ServiceWorkerGlobalScope');
  expect(() => outbox(newWorld().tab().once())).toThrow('outbox must be called in a service worker');
});
