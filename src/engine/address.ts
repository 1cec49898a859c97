/** Where an operation is: its key in the tables of this realm, its ids in the store, its lock. */
import type { KeyedOperation, Label, Namespace, NamespaceDigest, OperationKey, RecordId } from '../core/ids.js';
import { encodeName, isUnnamed, type OperationName, typeOf } from '../core/name.js';
import { wrong } from '../texts/full.js';
import type { Client, OperationAddress } from './client.js';
import { look } from './registry.js';

/** Asks the option `namespace` who the user is. If that has changed, screens look again. */
function ask(client: Client): unknown {
  let given: unknown;
  try {
    given = client.settings.namespace?.() as unknown;
    return given;
  } finally {
    const { session } = client;
    // What is no text names nobody: a hook that is async by mistake gives another promise each time, and screens would look without end.
    const seen = typeof given === 'string' ? given : undefined;
    if (seen !== session.seen) {
      session.seen = seen;
      session.changes++;
      look(client.registry);
    }
  }
}

/** The namespace of a client without that option. */
const NOBODY = '' as Namespace;

/** The present namespace; throws a TypeError on an empty one, before anything is read. */
export function namespaceOf(client: Client): Namespace {
  if (!client.settings.namespace) return NOBODY;
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
export function isSamePerson(client: Client, namespace: Namespace): boolean {
  try {
    return !client.settings.namespace || ask(client) === namespace;
  } catch (error) {
    client.platform.report(error);
    return false;
  }
}

/**
 * Another number as soon as this client has seen somebody else here, even if the first user is back: what was asked meanwhile may
 * have been asked in the other one's session. On a server many users meet in one client, and each call has a session of its own.
 */
export const sessionOf = ({ platform, session }: Client): number => (platform.server ? 0 : session.changes);

/** `own` tells unnamed operations of one label apart. */
export const operationKeyOf = ({ store }: Client, namespace: Namespace, label: Label, own = ''): OperationKey =>
  JSON.stringify([store.scope, namespace, label, own]) as OperationKey;

/** Whether it is an operation of this client's store and this namespace. */
export function isOperationOf({ store }: Client, namespace: Namespace, operationKey: OperationKey | KeyedOperation): boolean {
  const [scope, of] = JSON.parse(operationKey.split('\n')[0] as string) as unknown[];
  return scope === store.scope && of === namespace;
}

/** Where the operation of this name is, of whoever is here unless `of` says whose; throws a TypeError on a wrong name or an empty namespace. */
export function addressOf(client: Client, name: unknown, of?: Namespace): OperationAddress {
  const label = encodeName(name);
  const namespace = of ?? namespaceOf(client);
  // A copy: a key strategy may be asked when the caller has put another name into the same array.
  return { name: [...(name as OperationName)], label, namespace, operationKey: operationKeyOf(client, namespace, label), id: undefined };
}

/** Where an unnamed operation is: under its key. */
export const unnamedAddress = (client: Client, namespace: Namespace, label: Label, key: string, id = key as RecordId): OperationAddress => ({
  name: [],
  label,
  namespace,
  operationKey: operationKeyOf(client, namespace, label, key),
  id,
});

/** Ids in the store are digests, so that the store does not show whose records it holds. */
export async function idsOf(
  client: Client,
  { namespace, label, id }: Pick<OperationAddress, 'namespace' | 'label' | 'id'>,
): Promise<{ id: RecordId; ns: NamespaceDigest }> {
  const { digest } = client.platform;
  const [own, ns] = await Promise.all([id ?? digest(JSON.stringify([namespace, label])), digestOfNamespace(client, namespace)]);
  return { id: id ?? (own.slice(0, 32) as RecordId), ns };
}

/** The namespace as the store has it. The last one is kept. */
export async function digestOfNamespace(client: Client, namespace: Namespace): Promise<NamespaceDigest> {
  if (client.ns?.of === namespace) return client.ns.digest;
  const digest = (await client.platform.digest(JSON.stringify([namespace]))).slice(0, 32) as NamespaceDigest;
  client.ns = { of: namespace, digest };
  return digest;
}

/**
 * The id of an unnamed operation: its key if that is random, else a digest, because a caller's own key may identify a person.
 * The digest is of three parts, so that it never equals the id of a name.
 */
export async function idOfUnnamed({ platform: { digest } }: Client, namespace: Namespace, { key, random }: { readonly key: string; readonly random: boolean }) {
  return (random ? key : (await digest(JSON.stringify([namespace, '~', key]))).slice(0, 32)) as RecordId;
}

/** The name of the lock. The store is part of it: operations of two stores do not wait for each other. */
export const lockNameOf = ({ store }: Client, { namespace, label, id }: Pick<OperationAddress, 'namespace' | 'label' | 'id'>): string =>
  `oncefetch:${JSON.stringify([store.scope, namespace, isUnnamed(label) ? id : label])}`;
