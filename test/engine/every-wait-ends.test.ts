/**
 * Goal: no hook, body, store, lock or server can hold up a call beyond `limits.totalMs`, beyond `close()`, or beyond its caller's
 * abort. Method: everything that the engine waits for never answers, one thing at a time; the test drives the clock.
 */
import { describe, expect, test } from 'vitest';
import { defineDialect } from '../../src/dialects/define.js';
import { inBody } from '../../src/dialects/key-location.js';
import { registry } from '../../src/engine/registry.js';
import { close, type OnceOptions, type OperationOptions, resumeOne, run } from '../../src/entries/index.js';
import { createOn, type Once } from '../../src/once.js';
import type { Locks } from '../../src/ports.js';
import { answers, charged, deaf, during, type Entry, lost, stalls } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { NAME, newWorld, pay, rest, SECOND, URL_, type World, watched } from '../support/world.js';

const TOTAL = 2 * SECOND;
/** The time that is given to store the end of a call. */
const GRACE = SECOND;
const ATTEMPT = 30 * SECOND;
const STORE = 10 * SECOND;

const never = (): Promise<never> => new Promise(() => {});
const endless = (): ReadableStream<Uint8Array> => new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])) });
const ACCEPTED = charged(answers(202, '', { location: '/jobs/1' }));

type Act = (once: Once, signal: AbortSignal | undefined, options: Omit<OperationOptions, 'verdict'>) => Promise<unknown>;

interface Hang {
  readonly client?: OnceOptions;
  readonly call?: OperationOptions;
  readonly script?: readonly Entry[];
  readonly of?: Parameters<World['open']>[1];
  /** Set-up that no option can do. */
  readonly before?: (tab: Tab, world: World) => unknown;
  /** A call other than `pay`. */
  readonly act?: Act;
  /** How long it may go on after `close()`: for an attempt under way, or for a store. */
  readonly closing?: number;
  /** How long the call may take in all, beyond `totalMs`. */
  readonly grace?: number;
}

const unnamed: Act = (once, signal, { operation: _, ...options }) => once.fetch(URL_, { method: 'POST', body: '{}', ...(signal && { signal }), once: options });
const streaming =
  (name: boolean): Act =>
  (once, signal, options) =>
    once.fetch(URL_, {
      method: 'POST',
      body: endless(),
      duplex: 'half',
      ...(signal && { signal }),
      once: name ? { ...options, operation: NAME } : options,
    } as RequestInit);
const running =
  (effect: () => unknown, result?: unknown): Act =>
  (once, signal, { operation: _, ...options }) =>
    run(once, NAME, effect, { ...options, signal, result: result as never });

const lockless = (locks: Partial<Locks>) => (tab: Tab) => Object.assign(tab.platform, { locks });
/** The tab of the present test, for scripts. */
let hanging: Tab | undefined;
const hangStore = (): void => hanging?.faults.rate('hang', 1);

/** A body whose bytes never come. */
class SlowBlob extends Blob {
  override arrayBuffer = never;
  override text = never;
  override stream(): never {
    return endless() as never;
  }
}

const HANGS: Record<string, Hang> = {
  reconcile: { client: { reconcile: never }, script: [charged(lost()), answers(401)] },
  'the body of a Response that reconcile returned': { client: { reconcile: async () => new Response(endless()) }, script: [charged(lost()), answers(401)] },
  'reconcile, when it is asked about an expired key': {
    client: { reconcile: never, limits: { totalMs: TOTAL, keyWindowMs: 2 * ATTEMPT } },
    before: async (_, world) => {
      const first = world.open();
      await world.end(first.tab, pay(first.once, { limits: { attempts: 1 } }), charged(lost()));
      first.tab.kill();
      await world.clock.advance(10 * ATTEMPT);
    },
  },
  'a key strategy': { call: { key: never } },
  'a key strategy of a call without a name': { call: { key: never }, act: unnamed },
  'a fingerprint hook': { client: { fingerprint: never } },
  'a fingerprint hook of a call without a name': { client: { fingerprint: never }, act: unnamed },
  'a fingerprint hook of a call that is named by its content': {
    client: { fingerprint: never },
    act: (once, signal) => once.fetch(URL_, { method: 'POST', body: '{}', ...(signal && { signal }), once: true }),
  },
  'a fingerprint hook of a run': { act: (once, signal) => run(once, NAME, () => 1, { fingerprint: never, ...(signal && { signal }) }) },
  'a headers hook': { client: { headers: never } },
  'a headers hook before a poll': { client: { accepted: 'poll', headers: ({ method }) => (method === 'GET' ? never() : {}) }, script: [ACCEPTED] },
  'a headers hook before a request that asks for an answer again': {
    client: {
      headers: ({ attempt, resumed }) => (resumed && attempt ? never() : {}),
      dialect: defineDialect({ name: 'replays', place: inBody('key'), replays: true }),
    },
    before: async (_, world) => {
      const first = world.open({ dialect: defineDialect({ name: 'replays', place: inBody('key'), replays: true }) });
      world.keyOf = ({ body }) => (JSON.parse(String(body)) as { key: string }).key;
      await world.end(first.tab, pay(first.once), answers(201));
      first.tab.kill();
    },
  },
  "the request's body": { act: streaming(true) },
  'the body of a request without a name': { act: streaming(false) },
  'the read of a request body into which the key must be put': {
    client: { dialect: defineDialect({ name: 'inside', place: inBody('key') }) },
    act: (once, signal, options) =>
      once.fetch(URL_, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new SlowBlob(['{}']),
        ...(signal && { signal }),
        once: { ...options, operation: NAME },
      }),
  },
  'an attempt on a transport that ignores aborts': { script: [charged(deaf())], closing: ATTEMPT },
  "the answer's body": { script: [charged(stalls(201))], closing: ATTEMPT },
  'the answer to a poll': { client: { accepted: 'poll' }, script: [ACCEPTED, deaf()], closing: ATTEMPT },
  'a function given to run': { act: running(never), closing: ATTEMPT },
  'the body of a Response that the function of a run returned': { act: running(() => new Response(endless())), closing: ATTEMPT },
  'the validation of a result': { act: running(() => 1, { '~standard': { version: 1, vendor: 'test', validate: never } }) },
  'work in progress': { before: (_, world) => (world.server.otherwise = answers(409)) },
  'an outage of the server': { before: (_, world) => (world.server.otherwise = answers(503)), client: { limits: { totalMs: TOTAL, attempts: 999 } } },
  'the wait for a lock that another tab holds': {
    before: async (_, world) => {
      const other = world.open();
      world.server.otherwise = deaf();
      await world.begin(pay(other.once));
      other.tab.freeze();
    },
  },
  // The call waits a moment longer, because only with this answer can it say that nothing was sent.
  'the request for a lock': { before: lockless({ acquire: never }), closing: SECOND },
  'the wait of the lock manager for a lock': {
    before: (tab, world) => {
      world.server.otherwise = deaf();
      return lockless({ acquire: (_, signal) => (signal ? never() : Promise.resolve(undefined)) })(tab);
    },
  },
  'the wait for a lease that another process holds': {
    of: { locks: false },
    before: async (_, world) => {
      const other = world.open({}, { locks: false });
      world.server.otherwise = deaf();
      await world.begin(pay(other.once));
      other.tab.freeze();
    },
  },
  'the first call to the store': { before: (tab) => tab.faults.rate('hang', 1), closing: 2 * STORE, grace: GRACE },
  'the read of the store before the next attempt': { script: [charged(during(hangStore, lost()))], closing: 2 * STORE, grace: GRACE },
  'the write of the end': { script: [during(hangStore, answers(201))], closing: STORE, grace: GRACE },
  'the search of the store for a lost call without a name': { before: (tab) => tab.faults.rate('hang', 1), act: unnamed, closing: 2 * STORE, grace: GRACE },
  'the body of another call of the name': {
    act: (once, signal, options) => {
      void watched(
        once.fetch(URL_, { method: 'POST', body: endless(), duplex: 'half', once: { operation: NAME, limits: { totalMs: 60 * SECOND } } } as RequestInit),
      );
      return pay(once, { ...options, signal });
    },
    closing: 1,
  },
  'a call of the same name with another payload': {
    script: [charged(deaf())],
    act: (once, signal, options) => {
      void pay(once, { body: { other: 1 }, limits: { totalMs: 60 * SECOND } });
      return pay(once, { ...options, signal });
    },
    closing: ATTEMPT,
  },
};

async function open({ client, script = [], of, before }: Hang) {
  const world = newWorld();
  const tab = world.tab(of);
  hanging = tab;
  await before?.(tab, world);
  world.server.plays(...script);
  return { world, tab, once: tab.once({ limits: { totalMs: TOTAL, attempts: 9 }, ...client }) };
}

/** Begins the call, and notes when it ended. */
function begin({ act, call = {} }: Hang, { world, once }: { world: World; once: Once }, signal?: AbortSignal) {
  const begun = world.clock.now();
  const ended: { after?: number; with?: unknown } = {};
  const note = (value: unknown): void => {
    ended.after ??= world.clock.now() - begun;
    ended.with ??= value;
  };
  watched((act ?? ((client, aborts, options) => pay(client, { ...options, signal: aborts })))(once, signal, call)).then(note, note);
  return ended;
}

/** Operations in flight in this tab. */
const flights = (tab: Tab): number => tab.in(() => registry().flights.size);

describe.each(Object.entries(HANGS))('%s never ends', (_, hang) => {
  test('the call ends within limits.totalMs', async () => {
    const scene = await open(hang);
    const ended = begin(hang, scene);
    await scene.world.clock.advance(TOTAL + (hang.grace ?? 0));
    await rest();
    expect(ended.after).toBeLessThanOrEqual(TOTAL + (hang.grace ?? 0));
  });

  test('the call ends with close()', async () => {
    const long = { ...hang, client: { ...hang.client, limits: { ...hang.client?.limits, totalMs: 100 * SECOND, attempts: 999 } } };
    const scene = await open(long);
    const { world, once } = scene;
    const ended = begin(long, scene);
    await world.clock.advance(SECOND);
    let closed = false;
    void close(once).then(() => void (closed = true));
    await world.clock.advance(hang.closing ?? 0);
    await rest();
    expect(closed).toBe(true);
    expect(ended.after).toBeLessThanOrEqual(SECOND + (hang.closing ?? 0));
  });

  test('the call ends with its caller’s abort, and the next press does not wait for it', async () => {
    const long = { ...hang, client: { ...hang.client, limits: { ...hang.client?.limits, totalMs: 100 * SECOND, attempts: 999 } } };
    const scene = await open(long);
    const { world, tab } = scene;
    const controller = new AbortController();
    const ended = begin(long, scene, controller.signal);
    await world.clock.advance(SECOND);
    controller.abort(new Error('enough'));
    await rest();
    expect(ended).toEqual({ after: SECOND, with: new Error('enough') });
    if (!hang.closing) expect(flights(tab)).toBe(0);
    tab.faults.clear();
  });
});

describe('a page that can make no digest, because it is on http://', () => {
  function insecure() {
    const world = newWorld();
    const tab = world.tab();
    const digest = async (): Promise<never> => Promise.reject(new TypeError('needs insecureOrigins()'));
    const once = tab.in(() => createOn({ ...tab.platform, digest }, { store: tab.store }));
    return { world, tab, once };
  }

  test('a call of a closed client ends', async () => {
    const { world, tab, once } = insecure();
    await close(once);
    expect((await world.end(tab, watched(resumeOne(once, NAME)))).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  });

  test('a call that is aborted at once frees the name: the next call is told at once what is missing', async () => {
    const { world, tab, once } = insecure();
    const controller = new AbortController();
    const call = pay(once, { signal: controller.signal });
    controller.abort(new Error('enough'));
    expect((await world.end(tab, call)).error).toEqual(new Error('enough'));
    const began = world.clock.now();
    expect((await world.end(tab, pay(once))).error).toEqual(new TypeError('needs insecureOrigins()'));
    expect(world.clock.now() - began).toBe(0);
  });
});

test('a body that never ends was not sent, also where the time of the call is over a moment before that of reading', async () => {
  const { world, tab, once } = newWorld().open({ limits: { totalMs: TOTAL } });
  // A slow device: a millisecond passes between two looks at the clock.
  let looks = 0;
  Object.defineProperty(tab, 'skewMs', { get: () => looks++ });
  const end = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: endless(), duplex: 'half', once: NAME } as RequestInit)));
  expect(end).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { type: 'unsent', effect: 'none' } });
});
test.each<[string, Act]>([
  ['fetch', (once) => once.fetch(URL_, { method: 'POST', body: '{}', once: { operation: NAME, fingerprint: never } })],
  ['run', (once) => run(once, NAME, () => 1, { fingerprint: never })],
])('a fingerprint hook that never answers is named in the error of %s', async (_, act) => {
  const { world, once } = newWorld().open({ limits: { totalMs: TOTAL } });
  const [end] = await world.run(Promise.allSettled([act(once, undefined, {})]));
  expect(end).toMatchObject({ reason: new TypeError('once: fingerprint did not answer in time') });
});
