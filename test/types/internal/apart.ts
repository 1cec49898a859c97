/**
 * Goal: inside the package, the compiler does not let one kind of text stand for another. Method: the compiler must
 * reject each line under `@ts-expect-error`; a line that compiles makes `tsc` fail.
 */
import type { IdempotencyKey, Label, Namespace, NamespaceDigest, OperationKey, RecordId } from '../../../src/core/ids.js';
import { decodeName, encodeName, labelOfContent } from '../../../src/core/name.js';
import type { OnceRecord } from '../../../src/core/record.js';
import { addressOf, digestOfNamespace, idsOf, isSamePerson, namespaceOf } from '../../../src/engine/address.js';
import type { Client } from '../../../src/engine/client.js';
import { publish } from '../../../src/engine/observe.js';
import { readStored, updateStored } from '../../../src/engine/record-access.js';

declare const client: Client;
declare const operationKey: OperationKey;
declare const record: OnceRecord;
const change = () => ({ value: undefined });

void updateStored({ client, operationKey, id: record.id }, change);
// @ts-expect-error an id is no operation key
void updateStored({ client, operationKey: record.id, id: record.id }, change);
// @ts-expect-error the idempotency key is no id
void readStored({ client, operationKey, id: record.key });
// @ts-expect-error an id is no operation key
publish(client, record.id, { phase: 'idle' });
// @ts-expect-error a plain string is no operation key
client.registry.flights.get('pay');

const label: Label = encodeName(['pay', 1]);
const namespace: Namespace = namespaceOf(client);
const key: OperationKey = addressOf(client, label, namespace, record).operationKey;
// @ts-expect-error label and namespace are swapped
void addressOf(client, namespace, label);
// @ts-expect-error the digest is not the namespace itself
isSamePerson({ client, namespace: record.ns });
// @ts-expect-error the store has the digest of a namespace, not the namespace
const digest: NamespaceDigest = namespace;
// @ts-expect-error only the label of a name can be decoded
decodeName(key);

async function made(): Promise<readonly [RecordId, NamespaceDigest]> {
  const { id, ns } = await idsOf(client, { namespace, label: labelOfContent('00'), id: undefined });
  // @ts-expect-error id and namespace are swapped
  const swapped: readonly [RecordId, NamespaceDigest] = [ns, id];
  void swapped;
  return [id, await digestOfNamespace(client, namespace)];
}

// @ts-expect-error the id of a record is not what goes to the server
const sent: IdempotencyKey = record.id;
// Users see these types as plain strings.
const shown: readonly string[] = [label, namespace, key, record.id, record.ns, record.key];
void [digest, made, sent, shown];
