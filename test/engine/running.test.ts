/**
 * Goal: an effect that is a function gets what it needs to take effect once, and its end is read as it was, whatever it throws or returns. Method: one run at
 * a time, every word of its verdict, and hooks that fail.
 */
import { describe, expect, test } from 'vitest';
import { type OnceOptions, resumeOne, run, run as runOnce, type Verdict } from '../../src/entries/index.js';
import { answers, idle, lost } from '../support/server.js';
import { says } from '../support/texts.js';
import { NAME, newWorld, pay, rest, resumed, SECOND, type World, watched } from '../support/world.js';

const ONE = { limits: { attempts: 1, inProgressMs: 0 } } as const;
type Run = (effect: (attempt: { signal: AbortSignal }) => unknown, options?: object) => Promise<Response>;

function scene(options: object = {}, of: Parameters<ReturnType<typeof newWorld>['open']>[1] = {}) {
  const { world, tab, once } = newWorld().open({ ...ONE, ...options }, of);
  // The value has the type of a Response, as `world.end` takes only calls that resolve with one.
  const run: Run = (effect, more = {}) => watched(runOnce(once, NAME, effect as never, more) as Promise<never>);
  const end = (effect: Parameters<Run>[0], more?: object) => world.end(tab, run(effect, more));
  return { world, tab, once, run, end };
}

function strictly(own: object, name: PropertyKey): unknown {
  if (name in own) return own[name as never];
  throw new Error(`there is no ${String(name)}`);
}

describe('a value', () => {
  test.each<[Verdict | undefined, string, string]>([
    [undefined, 'done', 'yes'],
    ['fresh', 'done', 'yes'],
    ['replayed', 'done', 'yes'],
    ['rejected', 'none', 'yes'],
    ['ambiguous', 'unknown', 'yes'],
    ['in-progress', 'unknown', 'yes'],
    ['transient', 'unknown', 'yes'],
    ['nonsense' as Verdict, 'unknown', 'yes'],
  ])('that the verdict calls %s is %s, with sent: %s', async (said, effect, sent) => {
    const { tab, run, world } = scene();
    const events: { effect: string; sent: string }[] = [];
    const call = run(async () => 'ch_1', { verdict: () => said, onOutcome: (outcome: { effect: string; sent: string }) => void events.push(outcome) });
    const [settled] = await world.run(Promise.allSettled([call]));
    if (effect === 'done') expect(settled).toEqual({ status: 'fulfilled', value: 'ch_1' });
    expect(events).toMatchObject([{ effect, sent }]);
    expect(tab.reported).toHaveLength(said === ('nonsense' as Verdict) ? 1 : 0);
  });

  test('is given to calls that join, and again to later calls', async () => {
    const { world, run } = scene();
    const value = { id: 'ch_1' };
    let runs = 0;
    const effect = async () => {
      runs++;
      return value;
    };
    const both = await world.run(Promise.all([run(effect), run(effect)]));
    expect([...both, await world.run(run(effect))]).toEqual([value, value, value]);
    expect(runs).toBe(1);
  });

  test.each<[string, () => unknown, unknown]>([
    ['JSON', () => ({ id: 1 }), { id: 1 }],
    ['undefined', () => undefined, undefined],
  ])('that is %s comes back on another page', async (_, effect, value) => {
    const { world, run } = scene({}, { server: true });
    await world.run(run(async () => effect()));
    const next = world.open({}, { server: true });
    expect(await world.run(runOnce(next.once, NAME, async () => 'again'))).toEqual(value);
  });

  class Charge {
    #id = 'ch_1';
    get id() {
      return this.#id;
    }
  }
  const named = Object.assign(new Charge(), { amount: 4200, at: new Date(0), refund: () => {}, notes: {}, lines: [], more: Object.create(null) });

  test.each<[string, unknown]>([
    ['a Map', new Map([['id', 1]])],
    ['a Set, in an object', { tags: new Set(['a']) }],
    ['bytes', new Uint8Array([1])],
    ['a Buffer, in an object', { pdf: Buffer.from('pdf') }],
    ['an instance with private members only', new Charge()],
    ['a stream', new ReadableStream()],
    ['an Error', new Error('none')],
    ['a function', () => {}],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
  ])('that is %s, which JSON cannot hold, does not come back as something else: another page is told that the operation is done', async (_, value) => {
    const { world, run } = scene({}, { server: true });
    expect(await world.run(run(async () => value))).toBe(value);
    const next = world.open({}, { server: true });
    const again = await world.end(next.tab, watched(runOnce(next.once, NAME, async () => 'again') as Promise<never>));
    expect(again).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });

  test('that is an instance of a class comes back as its JSON', async () => {
    const { world, run } = scene({}, { server: true });
    await world.run(run(async () => named));
    const next = world.open({}, { server: true });
    const seen = { amount: 4200, at: '1970-01-01T00:00:00.000Z', notes: {}, lines: [], more: {} };
    expect(await world.run(runOnce(next.once, NAME, async () => 'again'))).toEqual(seen);
  });

  test.each<[string, object]>([
    ['a proxy that throws on members it does not have', new Proxy({ id: 'ch_1' }, { get: (own, name) => (name === 'then' ? undefined : strictly(own, name)) })],
    [
      'an object whose member throws until it is loaded',
      {
        get status() {
          return strictly({}, 'status');
        },
      },
    ],
  ])('that is %s is done, and its function is called once', async (_, value) => {
    const { world, run } = scene({ limits: {} }, { server: true });
    let calls = 0;
    const effect = async () => {
      calls++;
      return value;
    };
    expect(await world.run(run(effect))).toBe(value);
    expect(calls).toBe(1);
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('that cannot be stored is done all the same', async () => {
    const { world, run } = scene({}, { server: true });
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(await world.run(run(async () => circle))).toBe(circle);
    expect(world.record()).toMatchObject({ state: 'settled', answer: undefined });
  });
});

describe('a throw', () => {
  const declined = new Error('declined');
  test.each<[Verdict | undefined, string, string]>([
    [undefined, 'unknown', 'maybe'],
    ['fresh', 'done', 'yes'],
    ['replayed', 'done', 'yes'],
    ['rejected', 'none', 'yes'],
    ['ambiguous', 'unknown', 'yes'],
    ['not-sent', 'none', 'yes'],
    ['nonsense' as Verdict, 'unknown', 'yes'],
  ])('that the verdict calls %s is %s, with sent: %s', async (said, effect, sent) => {
    const { world, run } = scene();
    const events: unknown[] = [];
    const call = run(() => Promise.reject(declined), { verdict: () => said, onOutcome: (outcome: unknown) => void events.push(outcome) });
    const [settled] = await world.run(Promise.allSettled([call]));
    expect(events).toMatchObject([{ effect, sent }]);
    if (effect === 'done') expect(settled).toEqual({ status: 'fulfilled', value: undefined });
    else expect(settled?.status === 'rejected' && [settled.reason, settled.reason.cause]).toContain(declined);
  });

  test('that the verdict calls by a symbol is unknown at once: the function does not run again', async () => {
    const { end } = scene();
    let runs = 0;
    const effect = () => {
      runs++;
      throw declined;
    };
    const ended = await end(effect, { verdict: (() => Symbol('fresh')) as never });
    expect(ended.outcome).toMatchObject({ effect: 'unknown', reason: 'not-a-verdict' });
    expect(runs).toBe(1);
  });

  test('before the first await is a throw like any other', async () => {
    const { end } = scene();
    const effect = () => {
      throw declined;
    };
    expect((await end(effect)).outcome).toMatchObject({ effect: 'unknown' });
  });
});

describe('a refusal after a lost answer', () => {
  const declined = Object.assign(new Error('declined'), { status: 402 });
  /** The answer to the first attempt is lost, so that its effect is unknown; the second attempt is declined. */
  const lostThenDeclined = (runs: number[]) => async () => {
    runs.push(runs.length + 1);
    throw runs.length === 1 ? new TypeError('socket hang up') : declined;
  };
  const saying = (word: Verdict) => (end: { error?: unknown }) => (end.error === declined ? word : undefined);

  test("called 'rejected' proves nothing about the lost attempt, and the error says which verdict would", async () => {
    const { world, end } = scene({ limits: { attempts: 3 } });
    const ended = await end(lostThenDeclined([]), { verdict: saying('rejected') });
    expect(ended).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { reason: 'refused-after-ambiguity' }, error: { cause: declined } });
    expect(String(ended.error)).toMatch(says(/rejected-for-good/, /ERR_ONCE_UNKNOWN, refused-after-ambiguity/));
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test("called 'rejected-for-good' settles, and rejects with the effect's own error", async () => {
    const { world, end } = scene({ limits: { attempts: 3 } });
    const ended = await end(lostThenDeclined([]), { verdict: saying('rejected-for-good') });
    expect(ended.error).toBe(declined);
    expect(ended.outcome).toMatchObject({ effect: 'none' });
    expect(world.record()).toMatchObject({ state: 'retired' });
  });

  test("called 'rejected', where reconcile knows that there was no effect, rejects with the effect's own error", async () => {
    const { end } = scene({ limits: { attempts: 3 }, reconcile: async () => 'none' });
    const ended = await end(lostThenDeclined([]), { verdict: saying('rejected') });
    expect(ended.error).toBe(declined);
    expect(ended.outcome).toMatchObject({ effect: 'none' });
  });
});

test('a verdict hook that fails leaves the outcome unknown; its error is reported, and is the cause', async () => {
  const { tab, end } = scene();
  const broken = new Error('hook');
  const ended = await end(async () => 'ch_1', {
    verdict: () => {
      throw broken;
    },
  });
  expect(ended).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { reason: 'not-a-verdict', sent: 'yes' } });
  expect((ended.error as Error).cause).toBe(broken);
  expect(tab.reported).toEqual([broken]);
});

describe('the signal of a run', () => {
  const endless =
    (signals: AbortSignal[]) =>
    ({ signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };

  test('aborts when the time of the attempt is over: unknown', async () => {
    const { world, end } = scene({ limits: { attempts: 1, attemptMs: SECOND } });
    const signals: AbortSignal[] = [];
    expect((await end(endless(signals))).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer', sent: 'maybe' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(world.clock.pending).toBe(0);
  });

  test('aborts when the caller aborts', async () => {
    const { world, run } = scene();
    const signals: AbortSignal[] = [];
    const controller = new AbortController();
    const [call] = await world.begin(run(endless(signals), { signal: controller.signal }));
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    controller.abort();
    await rest();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await expect(call).rejects.toThrow();
    await world.clock.advance(0);
    expect(world.clock.pending).toBe(0);
  });

  test("aborted by the caller while the schema parses: the effect is done, and the signal's reason says so", async () => {
    const { world, tab, run } = scene();
    const controller = new AbortController();
    const validate = () => {
      controller.abort();
      return new Promise<never>(() => {});
    };
    const call = run(async () => 'paid', { signal: controller.signal, result: { '~standard': { version: 1, vendor: 'test', validate } } });
    const error = await world.run(call.catch((reason: unknown) => reason));
    expect(error).toBe(controller.signal.reason);
    expect(tab.outcomeOf(error)).toMatchObject({ type: 'fresh', effect: 'done' });
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('does not abort when the effect has ended, and no timer is left', async () => {
    const { world, run } = scene();
    const signals: AbortSignal[] = [];
    await world.run(run(async ({ signal }) => void signals.push(signal)));
    await rest();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    expect(world.clock.pending).toBe(0);
  });
});

describe('what a function returned is stored as the app says, whichever call drove it', () => {
  const BARE = { use: [], namespace: 'ann' } as const;
  const failsOnce = (world: World, value: unknown) => {
    let runs = 0;
    return async ({ key }: { key: string }) => {
      if (runs++ === 0) throw new TypeError('socket hang up');
      world.server.charged.add(key);
      return value;
    };
  };

  test.for([true, false])('a run that failed and was resumed gives its value after a restart, without `answers` (a server: %s)', async (server) => {
    const { world, tab, once } = newWorld().open({ ...BARE, limits: { attempts: 1 } }, { server });
    await world.end(tab, watched(run(once, NAME, failsOnce(world, { id: 'ch_1' }))) as Promise<never>);
    expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done' } }]);
    expect(await world.run(run(tab.reload().once(BARE), NAME, () => 'another'))).toEqual({ id: 'ch_1' });
  });

  describe('keep.response', () => {
    /** What is stored of a run's value, with these options of the client and of the run. */
    async function storedBy(client: OnceOptions['keep'], own?: OnceOptions['keep']): Promise<unknown> {
      const { world, once } = newWorld().open({ ...BARE, keep: client }, { server: true });
      await world.run(run(once, NAME, ({ key }) => void world.server.charged.add(key), { keep: own }));
      return world.record()?.answer;
    }

    test.for([false, 'memory'] as const)('%s: the value of a run is not stored, either', async (response) => {
      expect(await storedBy({ response })).toBeUndefined();
      expect(await storedBy({ response }, { response: 'disk' })).toBeDefined();
      expect(await storedBy({}, { response })).toBeUndefined();
    });

    test('absent: the value is stored, and an explicit `undefined` of the run counts as absent', async () => {
      expect(await storedBy(undefined)).toBeDefined();
      expect(await storedBy(undefined, { response: undefined })).toBeDefined();
    });
  });

  test('a resume that fails counts for the retry budget of its server, and not for that of functions whose names begin alike', async () => {
    const world = newWorld();
    const options = { namespace: 'ann', keep: { request: true }, ...ONE } as const;
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once), idle(lost()));
    const next = tab.reload();
    await world.end(next, watched(resumeOne(next.once(options), NAME)), idle(answers(503)));
    const { budgets } = next.in(() => (globalThis as never)[Symbol.for('oncefetch')] as { budgets: Map<string, number> });
    expect([...budgets.keys()]).toEqual(['https://shop.example']);
  });
});
