/** Where an operation is found: its key in the tables of this realm, its ids in the store, the name of its lock. No other file makes or reads those keys. */
import type { IdempotencyKey, KeyedOperation, Label, Namespace, NamespaceDigest, OperationKey, RecordId } from '../core/ids.js';
import { decodeName, isUnnamed, typeOf } from '../core/name.js';
import type { OnceRecord } from '../core/record.js';
import { wrong } from '../texts/full.js';
import type { Client, OperationAddress } from './client.js';
import { guarded } from './observe.js';
import { logOutsOf, refreshScreens } from './registry.js';

/** Asks the option `namespace` who the user is. If the answer has changed, tells screens to look again. */
function ask({ settings: { namespace }, session, registry }: Client): unknown {
  let given: unknown;
  try {
    const answer = namespace?.() as unknown;
    // If the option gave a new id at each call, no call would find an earlier payment, and screens would look again for ever.
    if (typeof answer === 'string' && answer !== session.seen && answer !== namespace?.()) throw new TypeError(wrong('namespace', 'steady'));
    given = answer;
    return given;
  } finally {
    // Anything but a string counts as nobody. A hook that is async by mistake gives a new promise at each call: screens would look again for ever.
    const seen = typeof given === 'string' ? given : undefined;
    if (seen !== session.seen) {
      session.seen = seen;
      session.changes++;
      refreshScreens(registry);
    }
  }
}

/** The present namespace; empty for a client without that option. Throws a TypeError if the option gives no text, before anything is read. */
export function namespaceOf(client: Client): Namespace {
  if (!client.settings.namespace) return '' as Namespace;
  const given = ask(client);
  if (typeof given !== 'string' || given === '') throw new TypeError(wrong('namespace', 'namespace', typeOf(given)));
  return given as Namespace;
}

/** The same for screens, which may ask before anybody has logged in: `undefined` instead of an error. */
export function namespaceNow(client: Client): Namespace | undefined {
  try {
    return namespaceOf(client);
  } catch {
    return undefined;
  }
}

/** Whether the namespace is still this one. If the option throws, it is not. */
export const isSamePerson = ({ client, namespace }: { readonly client: Client; readonly namespace: Namespace }): boolean =>
  !client.settings.namespace || guarded(client, () => ask(client) === namespace) === true;

/**
 * A number that changes whenever the user of this call logs out, or its client sees another user, even if the first user comes back: whatever was
 * asked meanwhile may have been asked in the other user's session. Always 0 on a server, where one client serves many users and each call has a session of its own.
 */
export const sessionOf = ({ client, namespace }: { readonly client: Client; readonly namespace: Namespace }): number =>
  client.platform.server ? 0 : client.session.changes + logOutsOf(client, namespace);

/** What identifies one unnamed operation among those with the same content. */
type Identity = { readonly key: string; readonly id?: RecordId | undefined };

/** What an operation key is made of. `key`: that of an unnamed operation, which no name tells from others with the same content; empty for a named one. */
type Parts = readonly [scope: string, namespace: Namespace, label: Label, key: string];

/** Takes apart what {@link addressOf} has put together. */
export const partsOf = (operationKey: OperationKey): Parts => JSON.parse(operationKey);

/** The key in the table `payloads` for one idempotency key of an operation. */
export const keyedOperationOf = (operationKey: OperationKey, key: IdempotencyKey): KeyedOperation => `${operationKey}\n${key}` as KeyedOperation;

/**
 * The key in the table `answers` for the answer of a record. It has the time of creation in it, because a key that is not random may later
 * stand for another operation.
 */
export const keyOfAnswer = (operationKey: OperationKey, { key, createdAt }: OnceRecord): KeyedOperation =>
  `${keyedOperationOf(operationKey, key)} ${createdAt}` as KeyedOperation;

/** Whether this is the key of an operation in this client's store and this namespace, or of what a table keeps for one. */
export function isOperationOf({ store }: Client, namespace: Namespace, key: OperationKey | KeyedOperation): boolean {
  const [scope, of] = partsOf(key.split('\n')[0] as OperationKey);
  return scope === store.scope && of === namespace;
}

/** The address of the present user's operation, or of the one in another `namespace`. `record`: its record, or the key and id that it will have. */
export function addressOf(client: Client, label: Label, namespace = namespaceOf(client), record?: Identity): OperationAddress {
  const { scope } = client.store;
  const identity = isUnnamed(label) ? record : undefined;
  return {
    // A copy, because the caller may have changed its array by the time a key strategy is asked.
    name: decodeName(label),
    label,
    namespace,
    operationKey: JSON.stringify([scope, namespace, label, identity?.key ?? ''] satisfies Parts) as OperationKey,
    id: identity?.id,
    // The lock's name contains the store, so that operations in different stores do not wait for each other.
    lock: `oncefetch:${JSON.stringify([scope, namespace, identity?.id ?? label])}`,
  };
}

/** Ids in the store are digests, so that the store does not show whose records it holds. */
export async function idsOf(
  client: Client,
  { namespace, label, id }: Pick<OperationAddress, 'namespace' | 'label' | 'id'>,
): Promise<{ id: RecordId; ns: NamespaceDigest }> {
  const ns = await digestOfNamespace(client, namespace);
  return { id: id ?? ((await client.platform.digest(JSON.stringify([namespace, label]))).slice(0, 32) as RecordId), ns };
}

/** The digest that stands for the namespace in the store. That of the last namespace is cached. */
export async function digestOfNamespace(client: Client, namespace: Namespace): Promise<NamespaceDigest> {
  if (client.ns?.of === namespace) return client.ns.digest;
  const digest = (await client.platform.digest(JSON.stringify([namespace]))).slice(0, 32) as NamespaceDigest;
  client.ns = { of: namespace, digest };
  return digest;
}

/**
 * The id of an unnamed operation: its key if that is random, else a digest, because a caller's own key may identify a person.
 * What is digested has three parts, so that it never equals the id of a named operation, which has two.
 */
export async function idOfUnnamed({ platform: { digest } }: Client, namespace: Namespace, { key, random }: { readonly key: string; readonly random: boolean }) {
  return (random ? key : (await digest(JSON.stringify([namespace, '~', key]))).slice(0, 32)) as RecordId;
}
