/**
 * Goal: the functions of the package take a client, and nothing else. Method: each is given what a mistake would hand over; one
 * client comes from another copy of the package, as with two bundles on a page.
 */
import { describe, expect, vi } from 'vitest';
import * as oncefetch from '../../src/entries/index.js';
import { LEAN, says } from '../support/texts.js';
import { newWorld, test } from '../support/world.js';

const {
  clear,
  close,
  extend,
  forget,
  move,
  namespace,
  operation,
  pending,
  refresh,
  resume,
  resumeInBackground,
  resumeOne,
  run,
  settle,
  subscribe,
  warnOnLeave,
  watch,
} = oncefetch;
const NAME = ['pay', 1] as const;

/** Each function of the package that takes a client. */
const CALLS: Readonly<Record<string, (once: oncefetch.Once) => unknown>> = {
  clear: (once) => clear(once),
  close: (once) => close(once),
  extend: (once) => extend(once, {}),
  forget: (once) => forget(once, NAME),
  move: (once) => move(once, 'guest'),
  namespace: (once) => namespace(once),
  operation: (once) => operation(once, NAME),
  pending: (once) => pending(once),
  refresh: (once) => refresh(once),
  resume: (once) => resume(once),
  resumeInBackground: (once) => resumeInBackground(once),
  resumeOne: (once) => resumeOne(once, NAME),
  run: (once) => run(once, NAME, () => 1),
  settle: (once) => settle(once, NAME, 'done'),
  subscribe: (once) => subscribe(once, () => {}),
  warnOnLeave: (once) => warnOnLeave(once),
  watch: (once) => watch(once, () => {}),
};

/** Functions that take no client. */
const OTHERS = new Set([
  'createOnce',
  'outcomeOf',
  'isOnceError',
  'derived',
  'canonicalJson',
  'hooks',
  'insecureOrigins',
  'polling',
  'reconciling',
  'requests',
  'unnamed',
  'answers',
  'around',
  'background',
  'retrying',
  'explain',
  'logTo',
]);

test('every function of the package is tested here, except those that make clients, stores and features, and those that read outcomes', () => {
  const all = Object.entries(oncefetch).flatMap(([name, value]) => (typeof value === 'function' && !/Store$|^firstAvailable$/.test(name) ? [name] : []));
  expect(all.filter((name) => !OTHERS.has(name)).sort()).toEqual(Object.keys(CALLS).sort());
});

describe.each(Object.entries(CALLS))('%s', (name, call) => {
  test.each([
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['the options of a client', { namespace: 'u-1' }, 'object'],
    ['the function that makes clients', oncefetch.createOnce, 'function'],
    ['a fetch', async () => new Response(), 'function'],
  ])('refuses %s at once, and the error names the function', async (_, wrong, type) => {
    const error = await (async () => call(wrong as never))().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(`once: ${name}${says(' takes a client from createOnce', ': client')}, got ${type}`);
  });
});

if (!LEAN)
  test('headers given to run, in JavaScript, are refused: nobody would send them', async () => {
    const call = run(newWorld().tab().once(), NAME, () => 1, { headers: () => ({}) } as never);
    await expect(call).rejects.toThrow(new TypeError('once: there is no option run.headers'));
  });

describe('options', () => {
  const once = () => newWorld().tab().once();
  const unreached = (): never => {
    throw new Error('the function was called');
  };
  const no = {
    signal: says(' must be an AbortSignal', ': signal'),
    schema: says(' must be a schema with a ~standard.validate (standardschema.dev)', ': schema'),
    cursor: says(' must be the cursor of a pending operation', ': cursor'),
  };

  test.each<[message: string, call: () => unknown]>([
    ['there is no option clear.unsetled', () => clear(once(), { unsetled: 'forget' } as never)],
    [`clear.unsettled must be ${says('"keep" or "forget"', 'keep,forget')}, got "drop"`, () => clear(once(), { unsettled: 'drop' as never })],
    ['there is no option forget.evenIfUnkown', () => forget(once(), NAME, { evenIfUnkown: true } as never)],
    [`forget.evenIfUnknown must be ${says('a boolean', 'boolean')}, got string`, () => forget(once(), NAME, { evenIfUnknown: 'yes' as never })],
    ['there is no option pending.max', () => pending(once(), { max: 1 } as never)],
    ['pending.limit must be at least 1, got 0', () => pending(once(), { limit: 0 })],
    [`pending.prefix must be ${says('an array', 'array')}, got string`, () => pending(once(), { prefix: 'pay' as never })],
    ['there is no option resume.paralel', () => resume(once(), { paralel: 2 } as never)],
    ['resume.concurrency must be at least 1, got 0', () => resume(once(), { concurrency: 0 })],
    ['resumeOne must be an object, got function', () => resumeOne(once(), NAME, (() => 1) as never)],
    [`resumeOne.signal${no.signal}, got object`, () => resumeOne(once(), NAME, { signal: {} as never })],
    [`resume.signal${no.signal}, got object`, () => resume(once(), { signal: new AbortController() as never })],
    [`subscribe.signal${no.signal}, got object`, () => subscribe(once(), () => {}, { signal: {} as never })],
    [`warnOnLeave.signal${no.signal}, got object`, () => warnOnLeave(once(), { signal: {} as never })],
    [`signal${no.signal}, got object`, () => run(once(), NAME, unreached, { signal: new AbortController() as never })],
    [`operation${LEAN ? ': name' : ' must be a non-empty array'}, got function`, () => run(once(), (() => 1) as never, undefined as never)],
    ['options of run must be an object, got null', () => run(once(), NAME, unreached, null as never)],
    ['options of run must be an object, got function', () => run(once(), NAME, unreached, (() => 1) as never)],
    [`run${says(' has a name already; leave once.operation out', ': name-given')}`, () => run(once(), ['pay'], unreached, { operation: NAME } as never)],
    [`once.result${no.schema}, got object`, () => run(once(), NAME, unreached, { result: { parse: () => 1 } as never })],
    [`once.result${no.schema}, got null`, () => run(once(), NAME, unreached, { result: null as never })],
    [`pending.after${no.cursor}, got "c-42"`, () => pending(once(), { after: 'c-42' })],
    [`pending.after${no.cursor}, got "[1,2]"`, () => pending(once(), { after: '[1,2]' })],
    ['options must be an object, got null', () => extend(once(), null as never)],
    ['options must be an object, got string', () => extend(once(), 'shop' as never)],
    [`use must be ${says('an array', 'array')}, got object`, () => extend(once(), { use: oncefetch.polling() as never })],
    [`the listener of subscribe must be ${says('a function', 'function')}, got an array`, () => subscribe(once(), ['pay'] as never, (() => 1) as never)],
    [`effect of settle must be ${says('"done" or "none"', 'done,none')}, got "paid"`, () => settle(once(), NAME, 'paid' as never)],
    [`the listener of subscribe must be ${says('a function', 'function')}, got undefined`, () => operation(once(), NAME).subscribe(undefined as never)],
    ['firstAvailable takes an array of stores, got object', () => oncefetch.firstAvailable(oncefetch.memoryStore() as never)],
    ['firstAvailable takes an array of stores, got an empty one', () => oncefetch.firstAvailable([] as never)],
    ['firstAvailable takes stores, got object at 1', () => oncefetch.firstAvailable([oncefetch.memoryStore(), {} as never])],
    ['canonicalJson takes pick and omit, arrays of names, got omitt: an array', () => oncefetch.canonicalJson({ omitt: ['at'] } as never)],
    ['canonicalJson takes pick and omit, arrays of names, got pick: string', () => oncefetch.canonicalJson({ pick: 'cart' as never })],
    ['there is no option subscribe.once', () => subscribe(once(), () => {}, { once: true } as never)],
  ])('%s', (message, call) => expect((async () => call())()).rejects.toThrow(`once: ${message}`));
});

// Production builds do not check this: only a mistake in the code can make it wrong, and its first run shows that.
if (!LEAN)
  describe('an argument that a feature does not take', () => {
    const { answers, background, hooks, insecureOrigins, polling, reconciling, requests, retrying, unnamed } = oncefetch;
    const features = { answers, background, hooks, insecureOrigins, polling, reconciling, requests, retrying, unnamed };
    const untyped = (of: unknown): ((...given: unknown[]) => unknown) => of as never;

    test.each<[name: string, got: string, call: () => unknown]>([
      ...Object.entries(features).flatMap(([name, feature]): [string, string, () => unknown][] => [
        [name, 'object', () => untyped(feature)({ inProgressMs: 1 })],
        [name, 'function', () => untyped(feature)(async () => 'done')],
      ]),
      ['polling', 'number', () => untyped(polling)(500)],
    ])('%s refuses it at once (%s)', async (name, got, call) => {
      const error = new TypeError(`once: ${name} takes no such argument: options are given to createOnce or to a call, got ${got}`);
      await expect((async () => call())()).rejects.toEqual(error);
    });

    // With wrong options, two apps of one origin would share a store, and its names, although each believes it has its own.
    test.each<[message: string, call: () => unknown]>([
      ['the options of indexedDbStore must be an object, got string', () => untyped(oncefetch.indexedDbStore)('shop')],
      ['there is no option indexedDbStore.nmae', () => untyped(oncefetch.indexedDbStore)({ nmae: 'shop' })],
      ['the options of localStorageStore must be an object, got null', () => untyped(oncefetch.localStorageStore)(null)],
      ['there is no option localStorageStore.name', () => untyped(oncefetch.localStorageStore)({ name: 'shop' })],
      ['the options of memoryStore must be an object, got number', () => untyped(oncefetch.memoryStore)(1)],
      ['there is no option memoryStore.scope', () => untyped(oncefetch.memoryStore)({ scope: 'shop' })],
      ['indexedDbStore.name must be a string, got number', () => untyped(oncefetch.indexedDbStore)({ name: 7 })],
      ['indexedDbStore.openTimeoutMs must be a number, got string', () => untyped(oncefetch.indexedDbStore)({ openTimeoutMs: '5' })],
      ['localStorageStore.prefix must be a string, got object', () => untyped(oncefetch.localStorageStore)({ prefix: {} })],
      ['memoryStore.now must be a function, got number', () => untyped(oncefetch.memoryStore)({ now: 7 })],
      ['memoryStore.medium must be an object, got string', () => untyped(oncefetch.memoryStore)({ medium: 'shop' })],
    ])('of a store: %s', (message, call) => expect(call).toThrow(new TypeError(`once: ${message}`)));
  });

test('a client of one copy of the package is a client for the functions of another copy', async () => {
  const once = newWorld().tab().once({ namespace: 'u-1' });
  vi.resetModules();
  const copy = await import('../../src/entries/index.js');
  expect(copy.pending).not.toBe(pending);
  expect(copy.namespace(once)).toBe('u-1');
});

test('a client that was spread into another object is still a client', () => {
  const once = newWorld().tab().once({ namespace: 'u-1' });
  expect(namespace({ ...once, fetch: once.fetch })).toBe('u-1');
});

/** Wraps a value as a framework wraps the state of an app: whatever is read from it is wrapped, too. */
const reactive = <T extends object>(of: T): T =>
  new Proxy(of, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      // As Vue does; Alpine uses Vue's reactive state.
      return typeof value === 'object' && value !== null && Object.isExtensible(value) && !('__v_skip' in value) ? reactive(value) : value;
    },
  });

test('a client in the reactive state of a framework works as it does outside', async ({ world, tab }) => {
  const once = reactive(tab.once({ namespace: 'u-1' }));
  expect(await world.run(run(once, NAME, () => 'charged'))).toBe('charged');
  expect(await world.run(pending(once))).toEqual([]);
  expect(await world.run(settle(once, ['pay', 2], 'done'))).toBeUndefined();
  const { payment } = reactive({ payment: operation(once, NAME) });
  payment.subscribe(() => {})();
  expect(payment.state.phase).toBe('settled');
  await world.run(close(once));
});

test('a client that is logged shows nothing of its internals', () => expect(JSON.stringify(newWorld().tab().once({ namespace: 'u-1' }))).toBe('{}'));
