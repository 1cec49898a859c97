/** Tells screens and logs: the state of each operation, and events. */
import type { WaitReason } from '../core/event.js';
import type { OperationKey } from '../core/ids.js';
import { isObject, type OperationName } from '../core/name.js';
import type { OnceRecord } from '../core/record.js';
import type { Client, OperationAddress } from './client.js';
import type { Happened, Named } from './happened.js';
import { keepRecent, OPERATIONS_MAX, refreshScreens } from './registry.js';
import type { Result } from './result.js';
import type { OperationState, Told } from './shown-state.js';
import { tellTabs } from './tabs.js';

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

/** Shows the state of an operation on its screens. Before the first screen, keeps the states of the latest operations; of others, a screen reads the store. */
export function publish(client: Client, operationKey: OperationKey, told: Told): void {
  const { show, states, flights } = client.registry;
  const flight = flights.get(operationKey);
  if (flight) flight.told = told;
  if (show) show(client, operationKey, told);
  else keepRecent(states, operationKey, { state: told as OperationState, listeners: new Set<() => void>() }, OPERATIONS_MAX);
}

/** Tells screens, in other tabs too, to look again, because an operation began or ended or a record changed. */
export function announceChange(client: Client): void {
  refreshScreens(client.registry);
  tellTabs(client);
}

/** Makes the operation's screens read the store, after a call that left it open or does not know what is stored. `left`: what its driver knows. */
export function readAnew(client: Client, operationKey: OperationKey, left?: OnceRecord): void {
  const { registry } = client;
  if (left) publish(client, operationKey, { phase: 'unsettled', left });
  else registry.show?.(client, operationKey);
  refreshScreens(registry, operationKey);
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

/** The name for an outcome; `undefined` for an operation without one. */
export const nameOrNone = (name: OperationName): OperationName | undefined => (name.length ? name : undefined);
