export { type ReactNativeParts, reactNative } from '../react-native.js';
export type { PairsOptions } from '../stores/key-value-base.js';
export { type AsyncStorageLike, asyncStorageStore } from '../stores/react-native/async-storage.js';
export { type KvStoreLike, kvStoreStore } from '../stores/react-native/kv-store.js';
export { type MmkvLike, mmkvStore } from '../stores/react-native/mmkv.js';
