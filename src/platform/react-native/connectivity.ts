/** Turns what NetInfo and AppState say into the engine's `Connectivity`. */
import type { Connectivity } from '../../ports.js';

interface NetworkState {
  readonly isConnected?: boolean | null | undefined;
}

type Listening = (event: string, listener: (state: string) => void) => unknown;

export interface Senses {
  /** `@react-native-community/netinfo`, or the module `expo-network`. */
  readonly NetInfo?: unknown;
  /** `AppState` of `react-native`. */
  readonly AppState?: unknown;
}

type Hear = (state: NetworkState) => void;

interface Shown {
  /** `background` if the system started the app there. */
  readonly currentState?: unknown;
  addEventListener?: Listening;
}

/** A native module may be missing or broken. Then the app goes without what it tells. */
function heard(listens: () => unknown): void {
  try {
    listens();
  } catch (error) {
    // The app may have replaced the console by its own, which may throw, too.
    try {
      console.error(error);
    } catch {}
  }
}

interface Networks {
  addEventListener?(hear: Hear): unknown;
  addNetworkStateListener?(hear: Hear): unknown;
  getNetworkStateAsync?(): Promise<NetworkState>;
}

/**
 * Wakes when the device is online again and when the app is shown again. Once it is used, it listens as long as the app lives. Two
 * things do not wake: a state of NetInfo that equals the one before, and the end of `inactive`, which iOS reports at every alert.
 *
 * @throws TypeError if a module is not what it should be
 */
export function senses({ NetInfo, AppState }: Senses): Connectivity {
  const networks = NetInfo as Networks | undefined;
  const app = AppState as Shown | undefined;
  if (networks && !networks.addEventListener && !networks.addNetworkStateListener) throw new TypeError('once: NetInfo must have a method addEventListener');
  if (app && typeof app.addEventListener !== 'function') throw new TypeError('once: AppState must have a method addEventListener');
  const listeners = new Set<() => void>();
  let listening = false;
  let online: boolean | undefined;
  let away = false;
  const wake = (): void => {
    for (const listener of [...listeners]) if (listeners.has(listener)) listener();
  };
  const hear: Hear = ({ isConnected }) => {
    // A change from offline to unknown counts as coming back, too, so that no call waits for a network that may be there.
    const back = online === false && isConnected !== false;
    online = isConnected ?? undefined;
    if (back) wake();
  };
  const listen = (): void => {
    if (listening) return;
    listening = true;
    heard(() => {
      if (networks?.addEventListener) return networks.addEventListener(hear);
      networks?.addNetworkStateListener?.(hear);
      // `expo-network` reports only changes, so ask for the present state. If that fails, it stays unknown. A change that came meanwhile is newer.
      const unheard = (state: NetworkState): void => (online === undefined ? hear(state) : undefined);
      return networks
        ?.getNetworkStateAsync?.()
        .then(unheard)
        .catch(() => {});
    });
    heard(() => {
      away = app?.currentState === 'background';
      app?.addEventListener?.('change', (state) => {
        const back = away && state === 'active';
        away = state === 'background' || (away && !back);
        if (back) wake();
      });
    });
  };
  return {
    online() {
      listen();
      return online;
    },
    subscribe(listener) {
      listen();
      const own = (): void => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
