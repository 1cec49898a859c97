export { type ReactNativeParts, reactNative } from '../react-native.js';
export { type AsyncStorageLike, asyncStorageStore } from '../stores/async-storage.js';
export type { PairsOptions } from '../stores/key-value-base.js';
export { type KvStoreLike, kvStoreStore } from '../stores/kv-store.js';
export { type MmkvLike, mmkvStore } from '../stores/mmkv.js';
