/** The native modules of an app, as React Native and Expo have them, and a shop that loses its first answer. */
import { shop, show } from '../support/stage.js';

const pairs = new Map<string, string>();
export const kvStore = {
  getItemAsync: async (key: string) => pairs.get(key) ?? null,
  setItemAsync: async (key: string, value: (present: string | null) => string) => void pairs.set(key, value(pairs.get(key) ?? null)),
  removeItemAsync: async (key: string) => pairs.delete(key),
  getAllKeysAsync: async () => [...pairs.keys()],
};
export const NetInfo = { addEventListener: (hear: (state: { isConnected: boolean }) => void) => hear({ isConnected: true }) };
export const AppState = { addEventListener: () => ({ remove() {} }) };
export const Crypto = { randomUUID: () => crypto.randomUUID() };
export const api = `${shop().origin}/api`;
export const session = { userId: 'u-7' };
export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };

shop().server.faults.next('lose-response');

export { show };
