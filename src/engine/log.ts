/** Turns what happens to calls into events for listeners. The engine only reports what happens, so a page without listeners does not load this file. */
import type { OnceEvent, OnceEventDetail } from '../core/event.js';
import { namespaceNow } from './address.js';
import type { Client, OperationRun } from './client.js';
import { eventsOf } from './diagnostics.js';
import type { Happened, Named } from './happened.js';
import { guarded, nameOrNone } from './observe.js';

/** Opens the log: from now on, this client tells its listeners and its platform's channel what happens to its calls. */
export function openLog({ log }: Client): void {
  log.callOf ??= new WeakMap();
  log.tell ??= tell;
}

function tell(call: Named & { readonly client: Client } & Partial<Pick<OperationRun, 'again'>>, key: string, happened: Happened): void {
  const { client } = call;
  if (!client.listeners.size && !client.platform.channel?.hasSubscribers) return;
  for (const detail of eventsOf(client, happened, call.again?.refused?.result)) tellListeners(client, call, key, detail);
}

function tellListeners(client: Client, address: Named, key: string, detail: OnceEventDetail): void {
  const { channel, clock } = client.platform;
  const foreign = client.settings.namespace !== undefined && namespaceNow(client) !== address.namespace;
  const event = { operation: nameOrNone(address.name), key, at: clock.now(), foreign, ...detail } as OnceEvent;
  client.log.callOf?.set(event, address);
  if (channel?.hasSubscribers) guarded(client, () => channel.publish(event));
  for (const { hears, begins } of [...client.listeners]) if (!begins || begins(address.label)) guarded(client, () => hears(event));
}
