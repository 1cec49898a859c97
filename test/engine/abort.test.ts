/**
 * Goal: an abort ends a call, and nothing else: not the operation, not another caller, not another tab's claim. Method: a
 * real engine on a scripted world; the abort comes before the send, during it, in every wait, and with joined callers.
 */
import { describe, expect } from 'vitest';
import { type Once, type OnceEvent, operation, resumeInBackground, resumeOne, run, subscribe } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, during, type Entry, hangs, honest, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, HOUR, test as inWorld, NAME, newWorld, ONE, pay, rest, resumed, SECOND, URL_, watched } from '../support/world.js';

const test = inWorld
  .extend('controller', () => new AbortController())
  .extend('signal', ({ controller }) => controller.signal)
  // As browsers do: a new reason for each signal.
  .extend('abort', ({ controller }) => {
    return (reason: unknown = new DOMException('aborted', 'AbortError')) => controller.abort(reason);
  });

const REASON = new Error('the user pressed cancel');

describe('an abort before the send', () => {
  test('with a signal that is already aborted: nothing is sent or stored', async ({ world, tab, once }) => {
    expect((await world.end(tab, pay(once, { signal: AbortSignal.abort(REASON) }))).error).toBe(REASON);
    expect(world.server.arrivals).toEqual([]);
    expect(world.records).toEqual([]);
  });

  test('in the same tick as the call: nothing is sent, and no record is left', async ({ world, tab, once, controller }) => {
    const call = pay(once, { signal: controller.signal });
    controller.abort(REASON);
    expect((await world.end(tab, call)).error).toBe(REASON);
    await rest();
    expect(world.server.arrivals).toEqual([]);
    expect(world.record()).toBeUndefined();
    expect(operation(once, NAME).state).toMatchObject({ phase: 'settled', outcome: { type: 'unsent', reason: 'aborted', effect: 'none', sent: 'no' } });
  });

  test('keeps the record of an earlier page, with its key', async ({ world, controller }) => {
    const key = await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    const call = pay(once, { signal: controller.signal });
    controller.abort(REASON);
    expect((await world.end(tab, call)).error).toBe(REASON);
    await rest();
    expect(world.record()).toMatchObject({ state: 'pending', key, ambiguous: true });
  });

  test('during the headers hook: nothing is sent', async ({ world, tab, once, controller }) => {
    const headers = async (): Promise<Record<string, string>> => {
      controller.abort(REASON);
      await rest();
      return { authorization: 'Bearer late' };
    };
    expect((await world.end(tab, pay(once, { signal: controller.signal, headers }))).error).toBe(REASON);
    await rest();
    expect(world.server.arrivals).toEqual([]);
  });

  test('while the record is stored: nothing is sent', async ({ world, tab, once, controller }) => {
    tab.faults.next({ name: 'slow', ms: SECOND });
    const call = pay(once, { signal: controller.signal });
    world.clock.timer(500, () => controller.abort(REASON));
    expect((await world.end(tab, call)).error).toBe(REASON);
    await world.clock.runAll();
    expect(world.server.arrivals).toEqual([]);
    expect(world.record()).toBeUndefined();
  });

  test('keeps a clean record that an earlier call inserted', async ({ world }) => {
    const tab = await pressOffline(world.tab(), (page) => pay(page.once()));
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false });
    const key = world.record()?.key;
    tab.online = false;
    const controller = new AbortController();
    const call = pay(tab.once(), { signal: controller.signal });
    world.clock.timer(SECOND, () => controller.abort(REASON));
    expect((await world.end(tab, call)).error).toBe(REASON);
    await rest();
    expect(world.record()).toMatchObject({ state: 'pending', key });
  });
});

describe('an abort after the send', () => {
  test('rejects with its reason and leaves the operation unknown', async ({ world, tab, once, controller }) => {
    const events: OnceEvent[] = [];
    subscribe(once, (event) => events.push(event));
    world.server.plays(during(() => controller.abort(REASON), charged(hangs())));
    expect((await world.end(tab, pay(once, { signal: controller.signal }))).error).toBe(REASON);
    await world.clock.runAll();
    expect(world.server.arrivals).toHaveLength(1);
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: true });
    expect(events.at(-1)).toMatchObject({ type: 'unknown', outcome: { effect: 'unknown', reason: 'aborted', sent: 'maybe' } });
    expect(operation(once, NAME).state).toMatchObject({ phase: 'unsettled' });
  });

  const WAITS: [string, Entry][] = [
    ['that a server asked for', answers(503, '', { 'retry-after': '60' })],
    ['for work in progress', answers(409, '', { 'retry-after': '50' })],
  ];

  const BACKOFF: (typeof WAITS)[number] = ['before another attempt', charged(lost())];

  test.for([...WAITS, BACKOFF])('in a wait %s prevents the next attempt', async ([_, entry], { world, controller }) => {
    world.random = () => 0.999;
    const { tab, once } = world.open({ retry: { minDelayMs: 10 * SECOND } });
    world.server.plays(entry);
    const call = pay(once, { signal: controller.signal });
    world.clock.timer(SECOND, () => controller.abort(REASON));
    expect((await world.end(tab, call)).error).toBe(REASON);
    await world.clock.runAll();
    expect(world.server.arrivals).toHaveLength(1);
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: true });
  });

  test.for(WAITS)('in a wait %s frees the name at once', async ([_, entry], { world, tab, once, controller }) => {
    world.server.plays(charged(entry), replays());
    const call = pay(once, { signal: controller.signal });
    world.clock.timer(SECOND, () => controller.abort(REASON));
    await world.end(tab, call);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.gaps).toEqual([SECOND]);
  });

  test('while a driver reads its record again: nothing more is sent', async ({ world, tab, once, controller }) => {
    world.server.plays(during(() => tab.faults.next({ name: 'slow', ms: SECOND }), lost()));
    const call = pay(once, { signal: controller.signal, limits: { attempts: 2 } });
    // The backoff is at most half a second, and the read takes a whole one.
    world.clock.timer(900, () => controller.abort(REASON));
    expect((await world.end(tab, call)).error).toBe(REASON);
    await world.clock.runAll();
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('after an answered attempt is told as neither unsent nor done', async ({ world, tab, once, controller }) => {
    const events: OnceEvent[] = [];
    subscribe(once, (event) => events.push(event));
    world.server.plays(answers(429, '', { 'retry-after': '60' }));
    const call = pay(once, { signal: controller.signal });
    world.clock.timer(SECOND, () => controller.abort(REASON));
    await world.end(tab, call);
    await rest();
    // "unsent" means that nothing left, but one attempt was answered.
    expect(events.at(-1)).not.toMatchObject({ outcome: { type: 'unsent' } });
    expect(events.at(-1)).not.toMatchObject({ outcome: { effect: 'done' } });
  });
});

describe('callers who joined', () => {
  test('get the answer when the first caller aborts', async ({ world, tab, once, controller }) => {
    world.server.plays(delayed(SECOND, answers(201, { id: 'ch_1' })));
    const first = pay(once, { signal: controller.signal });
    const second = pay(once);
    world.clock.timer(100, () => controller.abort(REASON));
    const [one, two] = await world.all(tab, first, second);
    expect(one?.error).toBe(REASON);
    expect(two).toMatchObject({ status: 201, outcome: { type: 'fresh', joined: true } });
    expect(await two?.response?.json()).toEqual({ id: 'ch_1' });
  });

  test('stop the request only when the last caller aborts', async ({ world, tab, once }) => {
    const [a, b] = [new AbortController(), new AbortController()];
    world.server.plays(hangs());
    const calls = [pay(once, { signal: a.signal }), pay(once, { signal: b.signal })];
    world.clock.timer(100, () => a.abort(REASON));
    world.clock.timer(200, () => expect(world.server.arrivals[0]?.signal.aborted).toBe(false));
    world.clock.timer(300, () => b.abort(REASON));
    expect((await world.all(tab, ...calls)).map(({ error }) => error)).toEqual([REASON, REASON]);
    await rest();
    expect(world.server.arrivals[0]?.signal.aborted).toBe(true);
  });

  test('who abort while they wait for the end of another payload are told at once', async ({ world, tab, once, controller }) => {
    world.server.plays(delayed(10 * SECOND, answers(201)));
    const first = pay(once);
    // A busy loop would hang this test for ever, so the getter throws after 1000 reads.
    let looks = 0;
    Object.defineProperty(controller.signal, 'aborted', {
      get: () => {
        if (++looks > 1000) throw new Error('the aborted signal was looked at 1000 times');
        return controller.signal.reason !== undefined;
      },
    });
    const second = pay(once, { body: { ...CART, amount: 20 }, signal: controller.signal });
    const begun = world.clock.now();
    world.clock.timer(SECOND, () => controller.abort(REASON));
    expect((await world.end(tab, second)).error).toBe(REASON);
    expect(world.clock.now() - begun).toBe(SECOND);
    expect((await world.end(tab, first)).status).toBe(201);
  });

  test('who call after the last caller has aborted go on with the same key', async ({ world, tab, once, controller }) => {
    world.server.plays(
      during(() => controller.abort(REASON), charged(hangs())),
      replays(),
    );
    const first = pay(once, { signal: controller.signal });
    await world.end(tab, first);
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { type: 'replayed' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

test('the signal of a Request aborts the call', async ({ world, tab, once, controller }) => {
  world.server.plays(during(() => controller.abort(REASON), hangs()));
  const request = new Request(URL_, { method: 'POST', body: '{}', signal: controller.signal });
  expect((await world.end(tab, once.fetch(request, { once: NAME }))).error).toBe(REASON);
  await rest();
  expect(tab.outcomeOf(request)).toMatchObject({ operation: NAME, effect: 'unknown', reason: 'aborted', attempts: 1 });
});

describe('the outcome of an aborted call', () => {
  test('is unknown at once, and onOutcome gets the complete outcome later', async ({ world, tab, once, signal, abort }) => {
    const heard: unknown[] = [];
    world.server.plays(during(() => abort(), hangs()));
    const call = pay(once, { signal, onOutcome: (outcome) => heard.push(outcome) });
    const atOnce = call.catch((reason: unknown) => tab.outcomeOf(reason));
    const end = await world.end(tab, call);
    expect(await atOnce).toMatchObject({ operation: NAME, effect: 'unknown', reason: 'aborted', sent: 'maybe', storedIn: 'disk' });
    await rest();
    expect(tab.outcomeOf(end.error)).toMatchObject({ key: world.record()?.key, reason: 'aborted', attempts: 1 });
    expect(heard).toEqual([tab.outcomeOf(end.error)]);
  });

  test('is that of the remaining callers, and onOutcome gets it when they do', async ({ world, tab, once, signal, abort }) => {
    const heard: unknown[] = [];
    world.server.plays(during(() => abort(), delayed(SECOND, answers(201))));
    const staying = pay(once);
    const leaving = pay(once, { signal, onOutcome: (outcome) => heard.push(outcome) });
    await world.end(tab, leaving);
    expect(heard).toEqual([]);
    await world.end(tab, staying);
    expect(heard).toMatchObject([{ effect: 'done', joined: true }]);
  });

  test('of a caller that joined with a Request is kept for the Request, too: first unknown, then as the operation ends', async ({
    world,
    tab,
    once,
    signal,
    abort,
  }) => {
    world.server.plays(delayed(SECOND, answers(201)));
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(CART) };
    const staying = pay(once);
    const request = new Request(URL_, { ...init, signal });
    const [leaving] = await world.begin(once.fetch(request, { once: NAME }));
    expect(tab.outcomeOf(request)).toBeUndefined();
    abort();
    const { error } = await world.end(tab, leaving);
    for (const given of [request, error]) expect(tab.outcomeOf(given)).toMatchObject({ operation: NAME, effect: 'unknown', reason: 'aborted' });
    await world.end(tab, staying);
    for (const given of [request, error]) expect(tab.outcomeOf(given)).toMatchObject({ operation: NAME, effect: 'done', joined: true });
  });

  test('that waits for another payload of its name is unknown', async ({ world, tab, once, signal, abort }) => {
    world.server.plays(delayed(5 * SECOND, answers(201)));
    const first = pay(once);
    const [second] = await world.begin(pay(once, { body: { ...CART, amount: 20 }, signal }));
    abort();
    const { error } = await world.end(tab, second);
    expect(tab.outcomeOf(error)).toMatchObject({ operation: NAME, effect: 'unknown', reason: 'aborted' });
    await world.end(tab, first);
  });

  test('names no operation if several calls were aborted with one reason', async ({ world, tab, once, signal, abort }) => {
    const one = pay(once, { signal, operation: ['pay', 'one'] });
    const two = pay(once, { signal, operation: ['pay', 'two'] });
    abort();
    const [end] = await world.all(tab, one, two);
    await rest();
    expect(tab.outcomeOf(end?.error)).toMatchObject({ operation: undefined, key: undefined, effect: 'unknown' });
  });
});

/** An error that throws when one of its members is read. */
const unreadable = (): Error =>
  Object.defineProperties(
    new Error(),
    Object.fromEntries(
      ['message', 'name', 'stack', 'cause', 'code', 'outcome', 'response', 'request', 'error'].map((name) => [
        name,
        {
          get: () => {
            throw new Error(`${name} was read`);
          },
        },
      ]),
    ),
  );

describe.each<[string, (once: Once, tab: Tab, signal: AbortSignal) => Promise<unknown>]>([
  ['fetch', (once, _, signal) => pay(once, { signal })],
  [
    'run',
    (once, tab, signal) =>
      run(once, NAME, (own) => tab.fetch(URL_, { method: 'POST', headers: { 'idempotency-key': own.key }, signal: own.signal }), { signal }),
  ],
  ['resume', (once, _, signal) => resumed(once, { signal })],
  ['resumeOne', (once, _, signal) => resumeOne(once, NAME, { signal })],
  ['resumeInBackground', (once, _, signal) => resumeInBackground(once, { signal })],
])('%s, when it is aborted', (verb, go) => {
  test.for<[string, unknown]>([
    ['no reason', undefined],
    ['null', null],
    ['a text', 'gone'],
    ['a symbol', Symbol('gone')],
    ['an error that cannot be read', unreadable()],
  ])('with %s, before the call, in a hook or during the request: the key stays, and no other promise rejects', async ([, reason]) => {
    for (const when of ['before', 'in a hook', 'on its way'] as const) {
      const world = newWorld();
      const stop = new AbortController();
      let asked = false;
      const headers = () => {
        if (asked) stop.abort(reason);
        return {};
      };
      const { tab, once } = world.open({ namespace: 'ann', keep: { request: true }, headers });
      // The operation that the resume functions go on with. `fetch` and `run` begin a new one.
      if (verb.startsWith('resume')) await world.end(tab, pay(once, { background: { untilMs: world.clock.now() + HOUR }, ...ONE }), charged(lost()));
      const left = world.server.arrivals.length;
      if (when === 'before') stop.abort(reason);
      asked = when === 'in a hook';
      world.server.otherwise = charged(hangs());
      const call = watched(go(once, tab, stop.signal));
      await world.clock.advance(SECOND);
      stop.abort(reason);
      await world.run(Promise.allSettled([call]));
      // `run` calls its function without asking the headers hook.
      expect(world.server.arrivals.length - left).toBe(when === 'on its way' || (when === 'in a hook' && verb === 'run') ? 1 : 0);
      asked = false;
      world.server.otherwise = honest();
      expect(
        (await world.end(tab, watched(verb === 'run' ? go(once, tab, new AbortController().signal) : pay(once)) as Promise<Response>)).outcome?.effect,
      ).toBe('done');
      expect(new Set(world.server.keys.slice(left && left - 1)).size).toBe(1);
      expect(tab.reported).toEqual([]);
    }
  });
});
