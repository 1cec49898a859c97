/** Launches apps on React Native's own JavaScript, kills them, and launches them again on the same disk. */
import { join } from 'node:path';
import { createRealm, type Engine, type Realm } from './realm/realm.js';
import type { Play, Says, To } from './realm/scenarios.js';
import type { Os } from './realm/system-http.js';

const made = join(import.meta.dirname, '../../.tmp/react-native');

export type { Os, Play, Says };
export interface Environment {
  readonly name: string;
  readonly app: string;
  readonly os: Os;
  /** The app's bundle, if it is not that of its scenarios. */
  readonly bundle?: string;
}

/** Built-ins that Hermes 250829098, of React Native 0.84 to 0.87, lacks. Earlier versions lack at least these. */
const OLDER = ['TextDecoder', 'FinalizationRegistry', 'Object.groupBy'];

/** The name and the engine of each app. */
const APPS: Readonly<Record<string, { readonly name: string; readonly engine: Engine }>> = {
  '0.81': { name: 'React Native 0.81.6', engine: { lacks: OLDER, turboProxy: true } },
  '0.86': { name: 'React Native 0.86.3', engine: { lacks: OLDER } },
  '0.88': { name: 'React Native 0.88.1', engine: {} },
  'expo-57': { name: 'Expo SDK 57', engine: { lacks: OLDER, expo: true } },
};

const SYSTEMS = { ios: 'iOS', android: 'Android' };

export const environments: readonly Environment[] = Object.entries(APPS).flatMap(([app, { name }]) =>
  (['ios', 'android'] as const).map((os) => ({ app, os, name: `${name}, ${SYSTEMS[os]}` })),
);

export const bundleOf = (app: string, os: Os): string => join(made, 'bundles', `${app}.${os}.js`);

/** The storage that outlives an app. */
export type Disk = Map<string, string>;
export const disk = (): Disk => new Map();

interface Global {
  readonly scenarios: Readonly<Record<string, Play>>;
  readonly launch: Readonly<Record<'pay' | 'resume' | 'agree' | 'task', Play>>;
  readonly wrong: Readonly<Record<string, () => unknown>>;
  readonly checkout: { open(): void; texts(): Iterable<string>; press(title: string): void };
}

export interface Launched {
  readonly global: Global;
  readonly through: Realm['through'];
  /** How many calls to the disk and to the network have begun or ended so far. */
  readonly steps: () => number;
  readonly killed: Promise<'killed'>;
  /** Plays a scenario, and resolves to its result as data of the test's realm. */
  play(play: Play | undefined, to: To): Promise<Says>;
  /** Ends the app, whatever it is doing. */
  close(): void;
}

/**
 * The storages of an app, over one disk. At each call the app may be killed, either before the call or after it but
 * before its result arrives.
 */
function storagesOn(pairs: Disk, { into, promise }: Realm, step: () => boolean): Record<string, object> {
  const later = <T>(work: () => T) =>
    promise((resolve, reject) => {
      setImmediate(() => {
        if (!step()) return;
        try {
          const value = work();
          if (step()) resolve(into(value ?? null));
        } catch (error) {
          if (step()) reject(error);
        }
      });
    });
  const atOnce = <T>(work: () => T): T => {
    if (!step()) throw new Error('killed');
    const value = work();
    if (!step()) throw new Error('killed');
    return value;
  };
  const get = (key: string) => pairs.get(key);
  const set = (key: string, value: string) => void pairs.set(key, value);
  const remove = (key: string) => pairs.delete(key);
  const keys = () => [...pairs.keys()];
  return {
    AsyncStorage: {
      getItem: (key: string) => later(() => get(key)),
      setItem: (key: string, value: string) => later(() => set(key, value)),
      removeItem: (key: string) => later(() => void remove(key)),
      getAllKeys: () => later(keys),
    },
    kvStore: {
      databaseName: 'ExpoSQLiteStorage',
      getItemAsync: (key: string) => later(() => get(key)),
      // Reads and writes in one step, like the package's exclusive transaction.
      setItemAsync: (key: string, change: (present: string | null) => string) => later(() => set(key, change(get(key) ?? null))),
      removeItemAsync: (key: string) => later(() => remove(key)),
      getAllKeysAsync: () => later(keys),
    },
    mmkv: {
      getString: (key: string) => atOnce(() => get(key)),
      set: (key: string, value: string) => atOnce(() => set(key, value)),
      remove: (key: string) => atOnce(() => remove(key)),
      getAllKeys: () => into(atOnce(keys)),
    },
  };
}

let launches = 0;

/** Starts an app. `killAt`: the step at which it is killed; from then on no result arrives in it. `change` edits its code. */
export function launch({ app, os, bundle = app }: Environment, pairs: Disk, killAt = Number.POSITIVE_INFINITY, change?: (code: string) => string): Launched {
  let steps = 0;
  let dead = false;
  let kill = (_: 'killed'): void => {};
  const killed = new Promise<'killed'>((resolve) => (kill = resolve));
  const step = (): boolean => {
    if (dead) return false;
    if (++steps < killAt) return true;
    die();
    kill('killed');
    return false;
  };
  const die = () => {
    dead = true;
    realm.close();
  };
  const realm = createRealm({ os, bundle: bundleOf(bundle, os), engine: APPS[app]?.engine ?? {}, step, change });
  if (realm.unhandled.length > 0) throw new Error(`${app} did not start: ${realm.unhandled.map(({ message }) => message).join()}`);
  const storages = realm.into({}) as Record<string, object>;
  for (const [name, calls] of Object.entries(storagesOn(pairs, realm, step))) storages[name] = Object.assign(realm.into({}), calls);
  Object.assign(realm.global, { __launch: ++launches, __disks: storages });
  return {
    global: realm.global as unknown as Global,
    through: realm.through,
    steps: () => steps,
    killed,
    play: async (play, to) => {
      if (!play) throw new Error(`${app} has no such scenario`);
      return JSON.parse(JSON.stringify(await play(realm.into(to)))) as Says;
    },
    close: die,
  };
}
