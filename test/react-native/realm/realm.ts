/**
 * A realm like React Native's: a context cut down to what Hermes has, in which React Native's own JavaScript runs. Only the
 * native side is ours. https://github.com/facebook/hermes/blob/main/doc/IntlAPIs.md lists what its Intl has on a device.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { expoHttp } from './expo.js';
import builtIns from './hermes-1.0-globals.json' with { type: 'json' };
import { nativesOf } from './natives.js';
import { type Blobs, networkingOf } from './networking.js';
import type { Os } from './system-http.js';
import { timersOf } from './timers.js';

export interface Engine {
  /** Built-ins of React Native 0.88's engine that this older engine lacks: a global, or a function of a global. */
  readonly lacks?: readonly string[];
  /** React Native 0.81 also asks for its modules through `__turboModuleProxy`. */
  readonly turboProxy?: boolean;
  readonly expo?: boolean;
}

export interface RealmOptions {
  readonly os: Os;
  /** The app, as Metro has bundled it. */
  readonly bundle: string;
  readonly engine: Engine;
  /** Marks a moment at which the app may be killed, and returns whether the app is still alive. */
  readonly step: () => boolean;
  /** Edits the app's code. */
  readonly change?: ((code: string) => string) | undefined;
}

export interface Realm {
  readonly global: Record<string, unknown>;
  readonly unhandled: readonly { readonly message: string }[];
  /** The native modules that requests went through. */
  readonly through: ReadonlySet<string>;
  into<T>(value: T): T;
  promise(executor: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void): Promise<unknown>;
  close(): void;
}

/** Globals of the tool that listed the built-ins. Apps do not have them. */
const NOT_IN_APPS = ['$262', '$SHBuiltin', 'QuitError', 'TimeoutError', 'alert'];
const BUILT_INS = JSON.stringify(Object.fromEntries(Object.entries(builtIns).filter(([name]) => !NOT_IN_APPS.includes(name))));
const INTL = ['Collator', 'DateTimeFormat', 'NumberFormat', 'getCanonicalLocales'];

const scripts = new Map<string, vm.Script>();
/** Compiled once: an app is launched many times. */
function scriptOf(file: string, change?: (code: string) => string): vm.Script {
  if (change) return new vm.Script(change(readFileSync(file, 'utf8')));
  const known = scripts.get(file) ?? new vm.Script(readFileSync(file, 'utf8'), { filename: file });
  scripts.set(file, known);
  return known;
}

type Inner = (...given: unknown[]) => void;

export function createRealm({ os, bundle, engine: { lacks = [], turboProxy = false, expo = false }, step, change }: RealmOptions): Realm {
  const context = vm.createContext(Object.create(null), { name: `react-native-${os}` });
  const run = (source: string): unknown => vm.runInContext(source, context);
  const inside = (file: string) => scriptOf(join(import.meta.dirname, 'inside', file)).runInContext(context) as Inner;
  inside('cut-down.js')(BUILT_INS, run(JSON.stringify(INTL)));
  const global = run('globalThis') as Record<string, unknown>;
  const parse = run('JSON.parse') as typeof JSON.parse;
  const into = <T>(value: T): T => parse(JSON.stringify(value ?? null)) as T;
  const promise = run('(executor) => new Promise(executor)') as Realm['promise'];
  const unhandled: { readonly message: string }[] = [];
  const through = new Set<string>();
  const blobs: Blobs = new Map();
  let dead = false;
  const timers = timersOf(() => !dead);

  const emitter = () => global['__rctDeviceEventEmitter'] as { emit(name: string, given: unknown): void };
  const emit = (name: string, given: readonly unknown[]) => void (dead || emitter().emit(name, into(given)));
  const noting = (name: string) => () => {
    through.add(name);
    return step();
  };
  const networking = networkingOf({ os, blobs, emit, step: noting('Networking') });
  const natives: Record<string, object> = { ...nativesOf(os, blobs, { into, promise, unhandled }), Networking: networking };
  const proxy = new Proxy<Record<string, object | null>>({}, { get: (_, name) => natives[String(name)] ?? null });
  Object.assign(global, {
    RN$Bridgeless: true,
    RN$registerCallableModule: () => {},
    nativeModuleProxy: proxy,
    ...(turboProxy && { __turboModuleProxy: (name: string) => proxy[name] }),
    // Without it, React Native installs its own Promise.
    HermesInternal: { hasPromise: () => true, enablePromiseRejectionTracker() {}, getRuntimeProperties: () => ({}), getInstrumentedStats: () => ({}) },
    nativePerformanceNow: () => performance.now(),
    nativeLoggingHook: () => {},
    atob: (text: unknown) => atob(String(text)),
    btoa: (text: unknown) => btoa(String(text)),
    ...timers.globals,
  });
  inside('text.js')(
    (text: string) => [...Buffer.from(text)],
    (bytes: Iterable<number>, label: string, fatal: boolean) => new TextDecoder(label, { fatal }).decode(Uint8Array.from([...bytes])),
  );
  for (const path of lacks) {
    const [own = '', ...of] = path.split('.').reverse();
    Reflect.deleteProperty(of[0] ? (global[of[0]] as object) : global, own);
  }
  const expoFetch = expoHttp(os, noting('ExpoFetchModule'));
  if (expo) inside('expo.js')(expoFetch.start, os);
  scriptOf(bundle, change).runInContext(context);
  return {
    global,
    unhandled,
    through,
    into,
    promise,
    close() {
      dead = true;
      timers.stopAll();
      networking.closeAll();
      expoFetch.closeAll();
    },
  };
}
