/** Calls without a name: each is an operation of its own, under its key; in one person's hands it takes up one that was lost. */
import { carryOf, isInHeader } from '../core/carrier.js';
import type { OperationName } from '../core/name.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { pastWindow } from '../core/retention.js';
import type { Settings } from '../options.js';
import { jsonOf } from './bytes.js';
import { askStrategy, storeError, tryLock } from './claim.js';
import type { Client, Place } from './client.js';
import { heldElsewhere } from './lease.js';
import { bodyError, operate, type Read, readRequest } from './operate.js';
import { idOfUnnamed, idsOf, namespaceOf, placeOf, plainId, unnamedPlace } from './place.js';
import { BodyTrouble, type Draft } from './prepared.js';
import { readStored, timed } from './storing.js';

/** Lost ones that are looked at. */
const ORPHANS_MAX = 10;

/** Whether HTTP itself says nothing of sending it twice: POST and PATCH, but not a GraphQL query. */
export function wantsKey({ method, body }: Draft): boolean {
  if (method !== 'POST' && method !== 'PATCH') return false;
  return !(typeof body === 'string' && /^\s*\{/.test(body) && isQuery(body));
}

function isQuery(body: string): boolean {
  const text = (jsonOf(body) as { query?: unknown } | undefined)?.query;
  return typeof text === 'string' && /^\s*(#.*\n\s*)*(query\b|\{)/.test(text) && !/\b(mutation|subscription)\b/.test(text);
}

/** Whether a key may go there. */
export function mayGo({ platform, settings: { origins } }: Client, { url, origin }: Draft): boolean {
  if (typeof origins === 'function') return origins(url);
  if (origins) return origins.includes(origin);
  // `data:`, `blob:` and what is no scheme of fetch's at all: there is no server to honour it.
  if (origin === 'null' || url.startsWith('blob:')) return false;
  return platform.server || platform.origin === undefined || platform.origin === origin;
}

/** Whether there is a key in its headers already. */
export const bearsKey = ({ dialect }: Settings, { url, headers }: Draft): boolean =>
  isInHeader(dialect.carrier) && carryOf(dialect.carrier)?.find({ url, headers, body: undefined }) !== undefined;

async function readUnnamed(client: Client, settings: Settings, draft: Draft): Promise<Read> {
  try {
    return await readRequest(client, settings, draft);
  } catch (error) {
    // What has no content yet has no place of its own either.
    throw error instanceof BodyTrouble ? await bodyError(client, unnamedPlace(client, namespaceOf(client), '~', ''), error) : error;
  }
}

/** A call without a name. */
export async function operateUnnamed(client: Client, settings: Settings, draft: Draft): Promise<unknown> {
  const { platform } = client;
  const startedAt = platform.clock.now();
  const namespace = namespaceOf(client);
  const read = await readUnnamed(client, settings, draft);
  const label = `~${read.fingerprint}`;
  const given = read.key ?? settings.key;
  const { shape = (uuid: string) => uuid } = settings.dialect;
  const asked = { namespace, operation: undefined, fingerprint: read.fingerprint, generation: 0, now: platform.clock.now() };
  const literal = typeof given === 'function' ? await askStrategy(client, settings, given, asked) : given;
  // Where many people's calls meet, two equal ones are two effects, and a lost one is nobody's here.
  const orphan = platform.server || literal !== undefined ? undefined : await findOrphan(client, settings, namespace, label);
  const place =
    orphan?.place ??
    (literal === undefined
      ? unnamedPlace(client, namespace, label, shape(platform.randomness.uuid()))
      : unnamedPlace(client, namespace, label, literal, await idOfOwnKey(client, namespace, literal)));
  return operate({
    client,
    settings: { ...settings, key: literal, repeat: 'always' },
    place,
    read: async () => read,
    signal: draft.signal,
    request: draft.request,
    startedAt,
    held: orphan?.release,
  });
}

/** Where the operation of a caller's own key is: a record of 0.1.0 that has not settled stays where it was. */
async function idOfOwnKey(client: Client, namespace: string, key: string): Promise<string> {
  const old = plainId(namespace, key);
  try {
    const store = (await client.store.ready?.()) ?? client.store;
    if (store.survives !== 'context' && (await timed(client, store.read(old))) !== undefined) return old;
  } catch (cause) {
    throw storeError({ client, ...unnamedPlace(client, namespace, '~', key) }, cause);
  }
  return idOfUnnamed(client, namespace, { key, random: false });
}

/** A call that is named by its content. */
export async function operateByContent(client: Client, settings: Settings, draft: Draft): Promise<unknown> {
  const startedAt = client.platform.clock.now();
  const read = await readUnnamed(client, settings, draft);
  const name: OperationName = [`sha256:${read.fingerprint}`];
  return operate({ client, settings, place: placeOf(client, name), read: async () => read, signal: draft.signal, request: draft.request, startedAt });
}

/** The oldest unsettled one with this content that nobody drives now. */
async function findOrphan(
  client: Client,
  settings: Settings,
  namespace: string,
  label: string,
): Promise<{ readonly place: Place; readonly release: () => void } | undefined> {
  const { platform, store, registry } = client;
  const { ns } = await idsOf(client, { namespace, label, id: '' });
  let found: readonly unknown[];
  try {
    found = (await timed(client, store.scan({ ns, state: 'pending', prefix: label, limit: ORPHANS_MAX }))).records;
  } catch {
    // Nothing is lost: the store says more when the record is written.
    return undefined;
  }
  const window = { windowMs: settings.limits.keyWindowMs, marginMs: settings.limits.attemptMs };
  const lost = found
    .map(readRecord)
    .filter(
      (record): record is OnceRecord =>
        record !== undefined &&
        record.label === label &&
        !heldElsewhere(client, record, platform.clock.now()) &&
        !pastWindow(record, window, platform.clock.now()),
    );
  for (const record of lost.sort((a, b) => a.createdAt - b.createdAt)) {
    const place = unnamedPlace(client, namespace, label, record.key, record.id);
    if (registry.flights.has(place.slot)) continue;
    const release = await tryLock(client, place);
    if (release && !registry.flights.has(place.slot) && (await isPending(client, place))) return { place, release };
    release?.();
  }
  return undefined;
}

/** It may have settled between the scan and the lock. */
async function isPending(client: Client, { slot, id }: Place): Promise<boolean> {
  const stored = await readStored(client, slot, id as string).catch(() => undefined);
  return readRecord(stored)?.state === 'pending';
}
