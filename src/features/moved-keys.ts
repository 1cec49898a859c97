/** Where a guest's key counts, and what becomes of it in the account of the user who has logged in (docs/decisions/0035-whose-key-it-is-after-a-log-in.md). */
import type { Dialect } from '../core/dialect.js';
import type { Namespace } from '../core/ids.js';
import { isUnnamed } from '../core/name.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import { addressOf, idOfUnnamed, idsOf } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { guarded } from '../engine/observe.js';

/** The end of a key window that is over, ms since 1970. Not 0, which may count as absent. */
export const LONG_AGO = 1;

/** The dialect that a client speaks for the record's request; `undefined` if the app's `dialect` function fails. */
function dialectOf(client: Client, { origin, endpoint }: OnceRecord): Dialect | undefined {
  const {
    settings,
    parts: { hooks },
  } = client;
  const [method = '', url = origin] = endpoint?.split(' ') ?? [];
  return origin === '' || !hooks ? settings.dialect : guarded(client, () => hooks.dialect(settings, { method, url }))?.dialect;
}

/**
 * Whether the record's key may count for one account only. It may unless its dialect says that it counts for all accounts; and if neither
 * this client nor one that was extended from it knows the dialect, nobody can tell.
 */
function isPerAccount(client: Client, record: OnceRecord): boolean {
  const clients = [client, ...(client.extensions?.living ?? [])];
  const dialect = clients.map((one) => dialectOf(one, record)).find((one) => one?.name === record.dialect);
  return dialect?.perAccount !== false && record.carrier !== '';
}

/** Tells of a record whether it may have been sent, under a key that may count for the guest's account only. */
export const apartIn =
  (client: Client) =>
  (of: OnceRecord): boolean =>
    of.state !== 'retired' && of.ambiguous && isPerAccount(client, of);

/**
 * The record with the ids of the user. If a key counts for one account only (`apart`), the server does not know it for the new account: end the key
 * window, so early that no clock which is set back opens it again, this device's or the store's. The stored request goes, too, with the consent to
 * send it: it can't be sent any more. Nor does the link of a 202 count there: behind it may be the work of another operation. A refused operation
 * keeps its key in use: where that key is unknown, it is as good as a new one. Of what was done before, nobody asks for the answer there. `instead`:
 * its predecessor, if it has none.
 */
export function ownedAs(ids: Pick<OnceRecord, 'id' | 'ns'>, of: OnceRecord, apart: (of: OnceRecord) => boolean, instead?: OnceRecord['previous']): OnceRecord {
  // Only a sound record gets a new sum: a damaged one must not look sound afterwards.
  const before = readRecord(of.previous);
  const previous = before ? seal(ownedAs(ids, before, apart)) : (of.previous ?? instead);
  return { ...of, ...(apart(of) && { request: undefined, link: undefined, windowEndsAt: LONG_AGO }), ...ids, previous } as OnceRecord;
}

/** Where a guest's record belongs in the namespace `to`. The id of an unnamed operation with a random key does not change. */
export async function placeIn(client: Client, to: Namespace, { label, key, random }: OnceRecord) {
  const id = isUnnamed(label) ? await idOfUnnamed(client, to, { key, random }) : undefined;
  const { operationKey, ...address } = addressOf(client, label, to, { key, id });
  return { client, operationKey, ...(await idsOf(client, address)) };
}
