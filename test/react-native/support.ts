/** Apps on React Native's own JavaScript: launched, killed, launched again on the same disk. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, '../..');
const bundles = join(root, '.tmp/react-native/bundles');

export type Os = 'ios' | 'android';
export interface Environment {
  readonly name: string;
  readonly app: string;
  readonly os: Os;
}

/** What an engine or a version has or lacks. */
const APPS: Readonly<Record<string, { readonly name: string; readonly realm?: string; readonly options?: object }>> = {
  '0.81': { name: 'React Native 0.81.6', options: { textDecoder: false, turboProxy: true } },
  '0.86': { name: 'React Native 0.86.3', options: { textDecoder: false } },
  '0.88': { name: 'React Native 0.88.1' },
  'expo-57': { name: 'Expo SDK 57', realm: 'expo-realm', options: { textDecoder: false } },
};

export const apps: readonly string[] = Object.keys(APPS);
/** Expo's bundle is made, and its realm lacks the streams that Expo's command line puts before it. */
const NOT_YET = ['expo-57'];

export const environments: readonly Environment[] = apps
  .filter((app) => !NOT_YET.includes(app))
  .flatMap((app) => (['ios', 'android'] as const).map((os) => ({ app, os, name: `${APPS[app]?.name}, ${os === 'ios' ? 'iOS' : 'Android'}` })));

export const bundleOf = (app: string, os: Os): string => join(bundles, `${app}.${os}.js`);

type Says = Record<string, unknown>;
type To = { readonly base: string; readonly id: string };
type Play = (to: To) => Promise<Says>;

interface Realm {
  readonly G: { scenarios: Record<string, Play>; launch: Record<string, Play>; wrong: Record<string, () => unknown>; [name: string]: unknown };
  readonly unhandled: readonly { readonly message: string }[];
  into<T>(value: T): T;
  run(source: string): (executor: (resolve: (value: unknown) => void) => void) => Promise<unknown>;
  close(): void;
}

/** What outlives an app. */
export const disk = (): Map<string, string> => new Map();

export interface Launched {
  readonly realm: Realm;
  /** What was asked of the disk and of the network so far. */
  readonly steps: () => number;
  readonly killed: Promise<'killed'>;
  /** Plays, and tells the result as data of this realm. */
  play(play: Play, to: To): Promise<Says>;
}

let launches = 0;

/** Starts an app. `killAt`: it is killed at this step, and nothing that was under way is heard of again. `change`: of its code. */
export function launch({ app, os }: Environment, pairs: Map<string, string>, killAt = Number.POSITIVE_INFINITY, change?: (code: string) => string): Launched {
  const { realm: file = 'realm', options } = APPS[app] ?? {};
  const { createRealm } = require(`./realm/${file}.cjs`) as { createRealm(options: object): Realm };
  let steps = 0;
  let dead = false;
  let kill = (_: 'killed'): void => {};
  const killed = new Promise<'killed'>((resolve) => (kill = resolve));
  const step = (): boolean => {
    if (dead) return false;
    if (++steps < killAt) return true;
    dead = true;
    realm.close();
    kill('killed');
    return false;
  };
  const manifest = require('./realm/hermes-1.0-globals.json') as object;
  const realm = createRealm({ platform: os, bundle: bundleOf(app, os), manifest, step, change, ...options });
  if (realm.unhandled.length > 0) throw new Error(`${app} did not start: ${realm.unhandled.map(({ message }) => message).join()}`);
  const promise = realm.run('(f) => new Promise(f)');
  // Killed before it is done, or done and not heard of.
  const later = <T>(work: () => T) =>
    promise((resolve) => {
      setImmediate(() => {
        if (!step()) return;
        const value = work();
        if (step()) resolve(realm.into(value ?? null));
      });
    });
  realm.G['__launch'] = ++launches;
  realm.G['__disk'] = realm.into({});
  Object.assign(realm.G['__disk'] as object, {
    getItem: (key: string) => later(() => pairs.get(key)),
    setItem: (key: string, value: string) => later(() => void pairs.set(key, value)),
    removeItem: (key: string) => later(() => void pairs.delete(key)),
    getAllKeys: () => later(() => [...pairs.keys()]),
  });
  return {
    realm,
    steps: () => steps,
    killed,
    play: async (play, to) => JSON.parse(JSON.stringify(await play(realm.into(to)))) as Says,
  };
}
