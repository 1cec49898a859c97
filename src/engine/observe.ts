/** Tells screens and logs: the state of each operation, and events. */
import type { WaitReason } from '../core/event.js';
import type { OperationKey } from '../core/ids.js';
import { decodeName, isObject, type OperationName } from '../core/name.js';
import type { OnceRecord } from '../core/record.js';
import type { Json } from '../option-types.js';
import type { Client, OperationAddress, Registry } from './client.js';
import type { Happened, Named, ObservableState, OperationState, PendingOperation } from './observed.js';
import { keyedOperationOf, refreshScreens } from './registry.js';
import type { Result } from './result.js';
import { hearTabs, tellTabs } from './tabs.js';

const LOADING: OperationState = { phase: 'loading' };
/** From this many states on, the oldest are dropped. A screen that shows such an operation again reads the store. */
const LIVES_MAX = 500;
/** How many of the oldest states each call examines to find one that can be dropped. */
const LOOKS = 32;

const isUnderWay = ({ phase }: OperationState): boolean => /^(sending|waiting)$/.test(phase);

/** Calls a listener or hook of the app. If it throws, that is reported, and does not change what becomes of the operation. */
export function guarded<T>({ platform }: Pick<Client, 'platform'>, listener: () => T): T | undefined {
  try {
    const given = listener();
    // An async listener rejects instead.
    if (isObject(given)) void Promise.resolve(given).catch((error) => platform.report(error));
    return given;
  } catch (error) {
    platform.report(error);
    return undefined;
  }
}

/** The state that screens of this realm show of an operation. Makes it if there is none yet. */
export function observedState({ lives }: Registry, operationKey: OperationKey): ObservableState {
  const known = lives.get(operationKey);
  if (known) return known;
  // Look at only a few of them, so that a call costs the same however many states there are, and however many of them must stay.
  let looks = lives.size < LIVES_MAX ? 0 : LOOKS;
  for (const [oldest, one] of lives) {
    if (looks-- <= 0) break;
    lives.delete(oldest);
    // A screen watches it, or a call is in flight: keep it, now as the newest.
    if (one.listeners.size || isUnderWay(one.state)) lives.set(oldest, one);
  }
  const made: ObservableState = { state: LOADING, listeners: new Set() };
  lives.set(operationKey, made);
  return made;
}

export function publish(client: Client, operationKey: OperationKey, state: OperationState): void {
  const target = observedState(client.registry, operationKey);
  target.state = state;
  for (const listener of [...target.listeners]) guarded(client, listener);
  refreshScreens(client.registry);
}

/** Tells screens, in other tabs too, to look again, because an operation began or ended or a record changed. */
export function announceChange(client: Client): void {
  refreshScreens(client.registry);
  tellTabs(client);
}

/** Calls back whenever a screen should look again. The result unsubscribes, and takes effect even while screens are being told. */
export function watch(client: Client, screen: (stored: boolean | OperationKey) => void): () => void {
  const { screens, hearing } = client.registry;
  const listener = (stored: boolean | OperationKey): void => (screens.has(listener) ? guarded(client, () => screen(stored)) : undefined);
  if (!screens.size) hearing.off = hearTabs(client);
  screens.add(listener);
  return () => {
    if (screens.delete(listener) && !screens.size) hearing.off?.();
  };
}

/** Makes the operation's screens read the store, after a call that ended without knowing what is stored. Resets a stale `sending` or `waiting`. */
export function readAnew(client: Client, operationKey: OperationKey): void {
  const shown = client.registry.lives.get(operationKey);
  if (shown && isUnderWay(shown.state)) publish(client, operationKey, LOADING);
  refreshScreens(client.registry, operationKey);
}

/** A call, for those who observe it. */
type Observed = Named & { readonly client: Client };

/** Tells listeners what happened. Does nothing before the log is open (`log.ts`). */
export const emit = (call: Observed, key: string, happened: Happened): void => call.client.log.tell?.(call, key, happened);

/** Tells screens and logs that a call waits. */
export function tellWait(call: Observed & OperationAddress, key: string, attempt: number, until: number, why: WaitReason, result?: Result): void {
  publish(call.client, call.operationKey, { phase: 'waiting', attempt, until, why });
  emit(call, key, { type: 'wait', until, why, result });
}

export const pendingOf = ({ registry, parts, settings }: Client, operationKey: OperationKey, record: OnceRecord, inFlight = false): PendingOperation => ({
  name: decodeName(record.label),
  key: record.key,
  createdAt: record.createdAt,
  firstSentAt: record.firstSentAt,
  sent: record.ambiguous ? 'maybe' : 'no',
  expiresAt: (!record.link && record.windowEndsAt) || record.forgetAt,
  retryAt: record.retryAt,
  // What a `dialect` function gives for the request shows when it is resumed.
  resumable:
    (!!settings.dialectOf || settings.dialect.name === record.dialect) &&
    (registry.payloads.has(keyedOperationOf(operationKey, record.key)) || !!(record.request && parts.requests)),
  inFlight,
  meta: record.meta as Json | undefined,
  cursor: JSON.stringify([record.label, record.id]),
});

/** The name for an outcome; `undefined` for an operation without one. */
export const nameOrNone = (name: OperationName): OperationName | undefined => (name.length ? name : undefined);
