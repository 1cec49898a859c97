/**
 * Goal: React Native's platform promises no more than the runtime of an app can keep. Method: each part by itself, with
 * models of the real modules.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOnce, outcomeOf, pending } from '../../src/entries/index.js';
import { reactNative } from '../../src/entries/react-native.js';
import { wakefulClock } from '../../src/platform/react-native/clock.js';
import { senses } from '../../src/platform/react-native/connectivity.js';
import { reactNativePlatform } from '../../src/platform/react-native/index.js';
import { isSameUrl, resolveText } from '../../src/platform/react-native/url.js';
import { createOnce as createOnceThere } from '../../src/react-native-bundle.js';
import { memoryStore } from '../../src/stores/memory.js';
import { asyncStorage, disk, mmkv } from '../stores/app-storages.js';
import { LEAN, says } from '../support/texts.js';

/** A module that emits events, as NetInfo and AppState do. */
function events<T>() {
  const hears: ((event: T) => void)[] = [];
  return {
    hears,
    addEventListener: (...given: unknown[]) => void hears.push(given.at(-1) as (event: T) => void),
    tell: (event: T) => hears.map((hear) => hear(event)),
  };
}
const network = () => events<{ isConnected: boolean | null }>();

const fail = (message: string): never => {
  throw new Error(message);
};

describe('what NetInfo and AppState say', () => {
  test('a repeated state wakes nobody; coming back online wakes once', () => {
    const NetInfo = network();
    const wake = vi.fn();
    const { online, subscribe } = senses({ NetInfo });
    subscribe(wake);
    const tell = (isConnected: boolean | null) => {
      NetInfo.tell({ isConnected });
      return [online(), wake.mock.calls.length];
    };
    expect([tell(true), tell(true), tell(false), tell(false), tell(true), tell(true), tell(null)]).toEqual([
      [true, 0],
      [true, 0],
      [false, 0],
      [false, 0],
      [true, 1],
      [true, 1],
      [undefined, 1],
    ]);
    expect(NetInfo.hears).toHaveLength(1);
  });

  test('the app wakes when it comes from the background, not when an alert is closed', () => {
    const AppState = events<string>();
    const wake = vi.fn();
    const off = senses({ AppState }).subscribe(wake);
    for (const state of ['inactive', 'active']) AppState.tell(state);
    expect(wake).not.toHaveBeenCalled();
    for (const state of ['inactive', 'background', 'inactive', 'active', 'active']) AppState.tell(state);
    expect(wake).toHaveBeenCalledTimes(1);
    off();
    for (const state of ['background', 'active']) AppState.tell(state);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  test('expo-network works in place of NetInfo', async () => {
    const { addEventListener, tell } = network();
    const { online } = senses({ NetInfo: { addNetworkStateListener: addEventListener, getNetworkStateAsync: async () => ({ isConnected: false }) } });
    expect(online()).toBeUndefined();
    await expect.poll(() => online()).toBe(false);
    tell({ isConnected: true });
    expect(online()).toBe(true);
  });

  test('a change that comes before the answer about the first state is not undone by that answer', async () => {
    const { addEventListener, tell } = network();
    let answer = (_: { isConnected: boolean }): void => {};
    const asked = new Promise<{ isConnected: boolean }>((resolve) => void (answer = resolve));
    const { online } = senses({ NetInfo: { addNetworkStateListener: addEventListener, getNetworkStateAsync: () => asked } });
    expect(online()).toBeUndefined();
    tell({ isConnected: true });
    answer({ isConnected: false });
    await asked;
    expect(online()).toBe(true);
  });

  test.each([[[false, null]], [[false, null, true]]])('%j: a listener that waits for a network is woken once, as soon as there may be one', (states) => {
    const NetInfo = network();
    const wake = vi.fn();
    senses({ NetInfo }).subscribe(wake);
    for (const isConnected of states) NetInfo.tell({ isConnected });
    expect(wake).toHaveBeenCalledTimes(1);
  });

  test('a listener that is unsubscribed while others are woken is not woken', () => {
    const NetInfo = network();
    const { subscribe } = senses({ NetInfo });
    const late = vi.fn();
    let off = (): void => {};
    subscribe(() => off());
    off = subscribe(late);
    for (const isConnected of [false, true]) NetInfo.tell({ isConnected });
    expect(late).not.toHaveBeenCalled();
  });

  test('an app that the system started in the background wakes when it is shown for the first time', () => {
    const AppState = { ...events<string>(), currentState: 'background' };
    const wake = vi.fn();
    senses({ AppState }).subscribe(wake);
    for (const state of ['active', 'inactive', 'active']) AppState.tell(state);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  test('a native module that is missing, where `console.error` throws, too, does not end a call', () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => fail('the log is broken'));
    const broken = { addEventListener: () => fail('there is no native module') };
    expect(senses({ NetInfo: broken, AppState: broken }).online()).toBeUndefined();
    log.mockRestore();
  });

  test('a module that throws is reported, and the other module still wakes the app', () => {
    const reported = vi.spyOn(console, 'error').mockReturnValue();
    const broken = { addEventListener: () => fail('there is no native module') };
    const AppState = events<string>();
    const NetInfo = network();
    const wake = vi.fn();
    senses({ NetInfo: broken, AppState }).subscribe(wake);
    for (const state of ['background', 'active']) AppState.tell(state);
    senses({ NetInfo, AppState: broken }).subscribe(wake);
    for (const isConnected of [false, true]) NetInfo.tell({ isConnected });
    expect(wake).toHaveBeenCalledTimes(2);
    expect(reported.mock.calls.map(String)).toEqual(['Error: there is no native module', 'Error: there is no native module']);
    reported.mockRestore();
  });

  test('a module without addEventListener is refused, and the error names it', () => {
    expect(() => senses({ NetInfo: {} })).toThrow('NetInfo must have a method addEventListener');
    expect(() => senses({ AppState: {} })).toThrow('AppState must have a method addEventListener');
  });
});

describe('the clock', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  /** The app sleeps: time passes, and no timer fires. */
  const asleep = (ms: number) => vi.setSystemTime(Date.now() + ms);

  test('overdue timers fire when the app is shown again, and the others at their time of day', () => {
    const AppState = events<string>();
    const clock = wakefulClock(senses({ AppState }));
    const fired: string[] = [];
    for (const [name, ms] of Object.entries({ soon: 1000, later: 60_000, cancelled: 1000 })) {
      const cancel = clock.timer(ms, () => fired.push(name));
      if (name === 'cancelled') cancel();
    }
    AppState.tell('background');
    asleep(30_000);
    AppState.tell('active');
    expect(fired).toEqual(['soon']);
    vi.advanceTimersByTime(29_999);
    expect(fired).toEqual(['soon']);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(['soon', 'later']);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['was due as well', 1000],
    ['was not due yet', 60_000],
  ])('a timer that another one cancels when the app is shown again does not fire, if it %s', (_, ms) => {
    const AppState = events<string>();
    const clock = wakefulClock(senses({ AppState }));
    const fire = vi.fn();
    let cancel = (): void => {};
    clock.timer(1000, () => cancel());
    cancel = clock.timer(ms, fire);
    AppState.tell('background');
    asleep(30_000);
    AppState.tell('active');
    vi.advanceTimersByTime(100_000);
    expect(fire).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a clock that was set back makes no wait longer', () => {
    const AppState = events<string>();
    const fire = vi.fn();
    wakefulClock(senses({ AppState })).timer(1000, fire);
    asleep(-3_600_000);
    for (const state of ['background', 'active']) AppState.tell(state);
    vi.advanceTimersByTime(1000);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object', { remove() {} }],
    ['a function that throws', () => fail('gone')],
  ])("the app's own connectivity, whose subscribe returns %s, is subscribed to once for all timers", async (_, off) => {
    const wakes: (() => void)[] = [];
    const subscribe = (wake: () => void): never => {
      wakes.push(wake);
      return off as never;
    };
    const clock = wakefulClock({ online: () => undefined, subscribe });
    for (let timer = 0; timer < 3; timer++) clock.timer(1000, () => {})();
    const fire = vi.fn();
    clock.timer(1000, fire);
    expect(wakes).toHaveLength(1);
    vi.setSystemTime(Date.now() + 1000);
    wakes[0]?.();
    expect(fire).toHaveBeenCalledOnce();
  });

  test('listens only while a timer is set', () => {
    const subscribe = vi.fn(() => off);
    const off = vi.fn();
    const clock = wakefulClock({ online: () => undefined, subscribe });
    const [a, b] = [clock.timer(1, () => {}), clock.timer(1, () => {})];
    a();
    expect([subscribe.mock.calls.length, off.mock.calls.length]).toEqual([1, 0]);
    b();
    expect(off).toHaveBeenCalledTimes(1);
  });
});

describe('a payment goes on, also after a lost answer, if', () => {
  const cases: Readonly<Record<string, object>> = {
    'NetInfo throws': reactNative({ NetInfo: { addEventListener: () => fail('NativeModule.RNCNetInfo is null') } }),
    'AppState throws': reactNative({ AppState: { addEventListener: () => fail('no AppState') } }),
    'expo-network throws': reactNative({ NetInfo: { addNetworkStateListener() {}, getNetworkStateAsync: () => fail('no expo-network') } }),
    "the app's own connectivity throws": { connectivity: { online: () => undefined, subscribe: () => fail('no events') } },
    "the app's own connectivity gives no function": { connectivity: { online: () => undefined, subscribe: () => ({ remove() {} }) } },
  };

  test.each(Object.entries(cases))('%s', async (_, options) => {
    const reported = vi.spyOn(console, 'error').mockReturnValue();
    let sent = 0;
    const fetch = async () => (++sent === 1 ? fail('Network request failed') : Response.json({}, { headers: { 'idempotent-replayed': 'true' } }));
    const once = createOnceThere({ ...options, store: memoryStore(), fetch, retry: { minDelayMs: 1, maxDelayMs: 2 } });
    const answer = await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
    expect([outcomeOf(answer)?.effect, sent]).toEqual(['done', 2]);
    expect(reported).toHaveBeenCalled();
    reported.mockRestore();
  });
});

describe('URLs as text', () => {
  test.each([
    'https://api.example/pay',
    'HTTPS://API.Example:443/Pay?q=A#part',
    'http://h:1/a//b/../c',
    'http://localhost:3000',
    'https://[::1]:8080/x?y',
    'http://a/b?c=d%20e&f=%C3%BC',
    ' https://a.example/b ',
  ])('%s resolves as in a browser, except for dots and encoding', (url) => {
    const real = new URL(url);
    real.hash = '';
    const { url: got, origin } = resolveText(url, undefined);
    expect(origin).toBe(real.origin);
    expect(new URL(got).href).toBe(real.href);
  });

  test.each(['/b', 'c', '../c', './c/./d/..', '?q=1', '', '//other.example/x', 'https://other.example/y', '../../../z', 'c/'])(
    '%j resolves against a base as in a browser',
    (reference) => {
      const base = 'https://a.example/one/two/three?x=1';
      expect(resolveText(reference, base)).toEqual({ url: new URL(reference, base).href, origin: new URL(reference, base).origin });
    },
  );

  test.each(['/pay', 'not a url', 'pay', '', 'mailto:a@b', 'http://', 'http:///x'])('%j is refused if there is no page', (url) => {
    expect(() => resolveText(url, undefined)).toThrow(says('url must be absolute where there is no page', 'url: url-absolute'));
  });

  test('a password in a URL is refused', () => {
    expect(() => resolveText('https://u:p@a.example/', undefined)).toThrow(says('must not carry a user name or password', 'url-credentials'));
    expect(resolveText('https://a.example/@b', undefined).url).toBe('https://a.example/@b');
  });

  test.each([
    ['https://A.example', 'https://a.example/', true],
    ['https://a.example/x?q=[1]', 'https://a.example/x?q=%5B1%5D', true],
    ['https://a.example/x#f', 'https://a.example/x', true],
    ['https://a.example/x', 'https://a.example/y', false],
    ['https://a.example/x', 'http://a.example/x', false],
    ['https://a.example/%zz', 'https://a.example/%zz', true],
  ])('%s and %s are the same URL: %s', (one, other, same) => expect(isSameUrl(one, other)).toBe(same));
});

describe('keys', () => {
  const UUID = '6a0f6cc4-98b7-4f0c-a5b4-9a0d6e1c2b3d';
  const sent: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    sent.push(new Headers(init?.headers).get('idempotency-key') ?? '');
    return new Response('{}', { status: 201 });
  };
  const pay = (options: object, create = createOnceThere, store = memoryStore()) =>
    create({ store, fetch, ...options }).fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
  beforeEach(() => void sent.splice(0));
  afterEach(() => void vi.unstubAllGlobals());

  test('without a cryptographic source nothing is sent, and the error names both ways to provide one', async () => {
    vi.stubGlobal('crypto', undefined);
    const store = memoryStore();
    const weak = vi.spyOn(Math, 'random');
    const error = await pay({}, createOnceThere, store).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/react-native-get-random-values.*reactNative\(\{ randomUUID: Crypto\.randomUUID \}\).*expo-crypto/);
    expect([sent, outcomeOf(error), weak.mock.calls.length]).toEqual([[], undefined, 0]);
  });

  test('a polyfill that is loaded after createOnce counts', async () => {
    vi.stubGlobal('crypto', undefined);
    const once = createOnceThere({ store: memoryStore(), fetch });
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(7) });
    await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
    expect(sent).toEqual(['07070707-0707-4707-8707-070707070707']);
  });

  test.each([
    ['React Native', createOnceThere],
    ['every platform', createOnce],
  ])('the option randomUUID makes the keys on %s', async (_, create) => {
    await pay(reactNative({ randomUUID: () => UUID.toUpperCase() }), create as typeof createOnceThere);
    expect(sent).toEqual([UUID]);
  });

  test.each([[() => 'x'], [() => 4 as never], [() => String(Math.random())]])('%s is refused as a source of keys', async (randomUUID) => {
    await expect(pay({ randomUUID })).rejects.toThrow(says('randomUUID must give a UUID', 'randomUUID: uuid'));
    expect(sent).toEqual([]);
  });
});

test('an app that is killed while it pays, and opened again, waits for nobody: the banner lists the payment at once, and a press goes on with it', async () => {
  const tables = ['oncefetch', 'oncefetch.locks', 'oncefetch.storages'].map((name) => Symbol.for(name));
  const here = globalThis as unknown as Record<symbol, unknown>;
  const before = tables.map((table) => here[table]);
  const at = disk();
  const keys: (string | null)[] = [];
  /** A launch of the app has a realm of its own. */
  const launch = (answer: () => Promise<Response>) => {
    for (const table of tables) delete here[table];
    const fetch = (_: unknown, init?: RequestInit) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      return answer();
    };
    const once = createOnceThere({ ...reactNative({ AsyncStorage: asyncStorage(at, 2) }), namespace: 'ann', keep: { request: true }, fetch });
    const post = (name?: string) => once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', ...(name && { once: ['pay', name] }) });
    return { once, press: () => Promise.all([post('cart'), post()]) };
  };
  // The app is gone, but its call ends here after 30 s, if the tests of other files take that long in this process.
  launch(() => new Promise(() => {}))
    .press()
    .catch(() => {});
  await expect.poll(() => keys).toHaveLength(2);
  const again = launch(async () => Response.json({}, { status: 201 }));
  expect((await pending(again.once)).map(({ inFlight, resumable }) => [inFlight, resumable])).toEqual(Array(2).fill([false, true]));
  // If a press waited for the 15 s of a lease, this test would take too long.
  const ends = (await again.press()).map((answer) => outcomeOf(answer));
  expect(ends).toMatchObject(Array(2).fill({ effect: 'done', resumed: true }));
  expect(new Set(keys).size).toBe(2);
  for (const [index, table] of tables.entries()) here[table] = before[index];
});

describe('in a web build, where tabs share a storage that has no atomic update', () => {
  afterEach(() => vi.unstubAllGlobals());
  /** What makes a realm a page: a document, and a process that is no Node. */
  const aPage = (locks?: unknown): void => {
    vi.stubGlobal('document', {});
    vi.stubGlobal('process', { ...process, type: 'renderer' });
    vi.stubGlobal('navigator', { locks });
  };

  test.each([
    ['AsyncStorage', () => ({ AsyncStorage: asyncStorage(disk(), 2) })],
    ['mmkv', () => ({ mmkv: mmkv(disk()) })],
  ])('%s is atomic only with Web Locks, and promises nothing beyond the page', (_, parts) => {
    aPage();
    expect(reactNative(parts()).store).toMatchObject({ atomic: false, survives: 'context', shared: 'origin' });
    aPage({});
    expect(reactNative(parts()).store).toMatchObject({ atomic: true, survives: 'context', shared: 'origin' });
  });

  test('an app to which a library gives a document is an app', () => {
    aPage();
    vi.stubGlobal('navigator', { product: 'ReactNative' });
    expect(reactNative({ mmkv: mmkv(disk()) }).store).toMatchObject({ atomic: true, survives: 'process' });
    expect(reactNativePlatform(senses({})).locks).toBeDefined();
  });

  test('calls wait for those of other tabs: by Web Locks, or by a lease where there are none', async () => {
    aPage();
    expect(reactNativePlatform(senses({})).locks).toBeUndefined();
    const request = vi.fn((_name: string, _how: object, granted: (lock: object) => Promise<void>) => granted({}));
    aPage({ request });
    await reactNativePlatform(senses({})).locks?.acquire('a');
    expect(request).toHaveBeenCalledWith('a', { ifAvailable: true }, expect.any(Function));
  });

  test('two tabs without Web Locks that both find nothing send one key', async () => {
    aPage();
    const keys: unknown[] = [];
    const fetch = async (_: unknown, init?: RequestInit) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      return Response.json({}, { status: 201 });
    };
    // Each tab has its own disk, as if what the first tab wrote had not yet reached the second one.
    for (const tab of [disk(), disk()]) {
      const once = createOnceThere({ ...reactNative({ AsyncStorage: asyncStorage(tab, 2) }), namespace: 'ann', fetch });
      await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
    }
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^[\da-f]{8}-/);
  });
});

describe('reactNative', () => {
  test('takes an app’s parts', () => {
    const { store, connectivity } = reactNative({ AsyncStorage: asyncStorage(disk(), 3), NetInfo: network() });
    expect([store?.kind, store?.survives, store?.atomic, connectivity?.online()]).toEqual(['asyncstorage', 'process', true, undefined]);
    expect(reactNative({})).toEqual({});
    expect(reactNative({ mmkv: undefined, AppState: undefined })).toEqual({});
  });

  test('refuses two storages, unknown options, and a storage that lacks a method', () => {
    expect(() => reactNative({ mmkv: mmkv(disk()), AsyncStorage: asyncStorage(disk(), 3) })).toThrow('takes one storage, got mmkv and AsyncStorage');
    expect(() => reactNative({ asyncStorage: {} } as never)).toThrow('reactNative takes no asyncStorage');
    expect(() => reactNative({ AsyncStorage: {} })).toThrow('AsyncStorage must have a method getItem');
    for (const [parts, got] of [
      [undefined, 'undefined'],
      [null, 'null'],
      ['kvStore', 'string'],
    ] as const)
      expect(() => reactNative(parts as never)).toThrow(new TypeError(`once: reactNative takes an object, got ${got}`));
  });

  test('without a store it warns once that keys are forgotten when the app ends', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    createOnceThere();
    createOnceThere();
    expect(warn.mock.calls).toEqual([[expect.stringContaining('keys are forgotten when the app ends')]]);
    if (!LEAN) expect(() => createOnceThere({ durability: 'required' })).toThrow("durability 'required' needs a store that outlives the process");
    warn.mockRestore();
  });
});

describe('the platform', () => {
  const platform = reactNativePlatform(senses({}));

  test('digests as Web Crypto does', async () => {
    const bytes = new TextEncoder().encode('héllo');
    const hex = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
    expect([platform.digest('héllo'), platform.digest(bytes)]).toEqual([hex, hex]);
  });

  test('recognises a redirect by the URL of the answer if fetch does not report it', async () => {
    const answer = (url: string) =>
      Object.defineProperties(new Response('{}'), { url: { value: url }, redirected: { value: undefined, writable: true, configurable: true } });
    const redirected = async (url: string) => (await platform.transport(async () => answer(url)).send('https://a.example/pay', {})).redirected;
    expect([await redirected('https://a.example/pay'), await redirected('https://a.example/login'), await redirected('')]).toEqual([false, true, undefined]);
  });

  test('has locks that two platforms of a realm share, and a wait for a lock can be aborted', async () => {
    const [one, other] = [platform.locks, reactNativePlatform(senses({})).locks];
    const release = await one?.acquire('x');
    expect(await other?.acquire('x')).toBeUndefined();
    const aborted = new AbortController();
    const given = other?.acquire('x', aborted.signal);
    aborted.abort();
    await expect(given).rejects.toThrow('aborted');
    const next = other?.acquire('x', new AbortController().signal);
    release?.();
    (await next)?.();
    expect(await one?.acquire('x')).toBeTypeOf('function');
  });
});
