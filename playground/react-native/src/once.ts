/** The app's only client. The app passes its native modules in. */
import NetInfo from '@react-native-community/netinfo';
import * as Crypto from 'expo-crypto';
import kvStore from 'expo-sqlite/kv-store';
import { createOnce } from 'oncefetch';
import { reactNative } from 'oncefetch/react-native';
import { AppState } from 'react-native';

export const session = { userId: 'u-7', token: 't-7' };
export const API = 'https://api.shop.example';

export const once = createOnce({
  ...reactNative({ kvStore, NetInfo, AppState, randomUUID: Crypto.randomUUID }),
  namespace: () => session.userId,
  // So that a payment that was interrupted because the app was killed can be sent again without its screen.
  keep: { request: true },
  headers: () => ({ authorization: `Bearer ${session.token}` }),
});
