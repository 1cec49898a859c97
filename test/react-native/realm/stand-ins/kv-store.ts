/** Stands in for `expo-sqlite/kv-store`, over the disk that the test gives and that outlives the app. */
import type { KvStoreLike } from '../../../../src/stores/react-native/kv-store.js';

const world = globalThis as unknown as { readonly __disks: { readonly kvStore: KvStoreLike } };

const kvStore: KvStoreLike = {
  getItemAsync: (key) => world.__disks.kvStore.getItemAsync(key),
  setItemAsync: (key, change) => world.__disks.kvStore.setItemAsync(key, change),
  removeItemAsync: (key) => world.__disks.kvStore.removeItemAsync(key),
  getAllKeysAsync: () => world.__disks.kvStore.getAllKeysAsync(),
};
export default Object.assign(kvStore, { databaseName: 'ExpoSQLiteStorage' });
