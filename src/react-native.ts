/** The client for React Native. The app passes in its own native modules; none is imported here. */
import { withEverything } from './everything.js';
import { createOn, type Once } from './once.js';
import type { OnceOptions } from './option-types.js';
import { senses } from './platform/react-native/connectivity.js';
import { reactNativePlatform } from './platform/react-native/index.js';
import type { Store } from './ports.js';
import { defaultMemoryStore } from './stores/memory.js';
import { type AsyncStorageLike, asyncStorageStore } from './stores/react-native/async-storage.js';
import { type KvStoreLike, kvStoreStore } from './stores/react-native/kv-store.js';
import { type MmkvLike, mmkvStore } from './stores/react-native/mmkv.js';

/** Native modules of the app. Each is checked when it is passed in. */
export interface ReactNativeParts {
  /** The default export of `@react-native-async-storage/async-storage` 2, or of its version 3 `createAsyncStorage('oncefetch')`. */
  AsyncStorage?: unknown;
  /** `createMMKV({ id: 'oncefetch' })` of `react-native-mmkv` 4. */
  mmkv?: unknown;
  /** `new SQLiteStorage('oncefetch')` of `expo-sqlite/kv-store`, or its default export. */
  kvStore?: unknown;
  /** The default export of `@react-native-community/netinfo`, or the module `expo-network`. */
  NetInfo?: unknown;
  /** `AppState` of `react-native`. */
  AppState?: unknown;
  /** `randomUUID` of `expo-crypto`, or another cryptographic source of UUIDs. @default crypto, if a polyfill provides it */
  randomUUID?: (() => string) | undefined;
}

const STORES = {
  AsyncStorage: (storage: unknown) => asyncStorageStore(storage as AsyncStorageLike),
  mmkv: (storage: unknown) => mmkvStore(storage as MmkvLike),
  kvStore: (storage: unknown) => kvStoreStore(storage as KvStoreLike),
};

/**
 * Makes options of a client in React Native from the app's own modules: where records live, how to tell whether the device is online
 * and the app in the foreground, and where keys come from.
 *
 * @throws TypeError if a module is not what it should be, or if two storages are given
 * @example
 * const once = createOnce({ ...reactNative({ kvStore, NetInfo, AppState, randomUUID: Crypto.randomUUID }), namespace: () => session.userId });
 */
export function reactNative(parts: ReactNativeParts): Pick<OnceOptions, 'store' | 'connectivity' | 'randomUUID'> {
  if (!parts || typeof parts !== 'object') throw new TypeError(`once: reactNative takes an object, got ${parts && typeof parts}`);
  const { NetInfo, AppState, randomUUID, ...storages } = parts;
  const given = Object.entries(storages).filter(([, storage]) => storage !== undefined);
  for (const [name] of given) if (!Object.hasOwn(STORES, name)) throw new TypeError(`once: reactNative takes no ${name}`);
  if (given.length > 1) throw new TypeError(`once: reactNative takes one storage, got ${given.map(([name]) => name).join(' and ')}`);
  const [chosen] = given as [keyof typeof STORES, unknown][];
  return {
    ...(chosen ? { store: STORES[chosen[0]](chosen[1]) } : undefined),
    ...(NetInfo || AppState ? { connectivity: senses({ NetInfo, AppState }) } : undefined),
    ...(randomUUID ? { randomUUID } : undefined),
  };
}

let warned = false;

function unkept(): Store {
  if (!warned) console.warn('once: without a store, keys are forgotten when the app ends; give createOnce one, such as ...reactNative({ AsyncStorage })');
  warned = true;
  return defaultMemoryStore();
}

/**
 * Makes a client. With bundlers for React Native, `import { createOnce } from 'oncefetch'` gives this function.
 *
 * @throws TypeError or RangeError that names the wrong option
 * @example
 * const once = createOnce({ ...reactNative({ AsyncStorage, NetInfo, AppState, randomUUID: Crypto.randomUUID }) });
 */
export function createOnce(options: OnceOptions = {}): Once {
  const all = withEverything(options);
  return createOn(reactNativePlatform(all?.connectivity ?? senses({})), all === options ? all : { ...all, store: options.store ?? unkept() });
}
