/** The claim of a name and the first look at its record. */
import { begin, endedBefore } from '../core/begin.js';
import type { Begun, Claimant } from '../core/claimant.js';
import type { Dialect } from '../core/dialect.js';
import type { IdempotencyKey } from '../core/ids.js';
import { see } from '../core/ownership.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { seenAt, WAITERS_MS } from '../core/retention.js';
import type { Changed, Locks, Store } from '../ports.js';
import { needs, wrong } from '../texts/full.js';
import { isSamePerson } from './address.js';
import type { Client, OperationRun } from './client.js';
import { afterFailedInsert } from './failed-insert.js';
import { busyError, orStoreError, storeError } from './failure.js';
import { lastKnownOf } from './last-known.js';
import { makeRoom } from './memory-room.js';
import { emit, tellWait } from './observe.js';
import { nameOwner } from './owner.js';
import { readStored, returnToStore, STORE_TIMEOUT_MS, storeForOperation, timed, updateStored } from './record-access.js';
import { logOutsOf } from './registry.js';
import type { StopSignal } from './stop-signal.js';
import { Late, sleptSince, THAW_MS, unlessLate } from './wait.js';

/** The release where there is no lock, or the lock manager refuses it. */
export const FREE = (): void => {};

/** Tries to take the lock. Gives its release, or `undefined` if another context holds it. If the lock manager refuses, goes on without a lock. */
export const tryLock = async ({ platform: { locks } }: Client, lock: string): Promise<(() => void) | undefined> =>
  locks ? locks.acquire(lock).catch(() => FREE) : FREE;

/** The same with a time limit of its own, for callers without a deadline. `undefined` also if no answer comes: another context may hold the lock. */
export async function tryLockInTime(client: Client, lock: string): Promise<(() => void) | undefined> {
  const request = tryLock(client, lock);
  return timed(client, request).catch(() => {
    // If the lock comes after all, release it.
    void request.then((release) => release?.());
    return undefined;
  });
}

/**
 * Takes the lock that contexts share, if the platform has one. `held`: the lock's release, if this call holds the lock already. The wait
 * is bounded, because the context that has the lock may be frozen.
 */
export async function takeLock(
  job: OperationRun,
  held: (() => void) | undefined,
): Promise<{ readonly release: () => void } & Pick<OperationRun, 'lookBefore' | 'locked'>> {
  const { client, settings, stop, deadline } = job;
  const { locks, clock, server } = client.platform;
  if (!locks && !server) emit(job, '', { type: 'diagnostic', code: 'insecure-origin', where: client.platform.origin ?? '' });
  // If the lock manager refuses, it gives other contexts no lock either. Then this call needs a lease to tell them that it drives.
  if (held) return { release: held, locked: !!locks && held !== FREE };
  if (settings.whenBusy === 'reject') throw busyError(job);
  // Note before the wait which end the record shows, to tell afterwards whether the operation ended meanwhile.
  const stored = await orStoreError(job, readStored(job));
  const record = readRecord(stored);
  see(job.seen, record, Math.min(job.seen.at, seenAt(record, deadline - settings.limits.totalMs)));
  const now = clock.now();
  const known = lastKnownOf(job, now, stored);
  const ms = Math.min(settings.limits.attemptMs, Math.max(0, deadline - now) / 2);
  tellWait(job, '', 0, now + ms, 'another-context');
  const release = await awaitLock(client, job.lock, ms, stop);
  // Who had the lock for so long may have stored its record after this look, and sent it. If there is none now, `move` or a log-out may have taken it.
  if (release && !record && sleptSince(client, now)) job.seen.at = -Infinity;
  // An end that only this page knew then is no end of the operation that this call waits for.
  return { release: release ?? FREE, lookBefore: { ended: endedBefore(known ?? record) }, locked: !!release };
}

/** Waits for the lock, where there are locks; `undefined` if the time is over, or the call is stopped, before it comes. */
export async function awaitLock(client: Client, lock: string, ms: number, stop: StopSignal): Promise<(() => void) | undefined> {
  const { locks, clock } = client.platform;
  const waiting = new AbortController();
  const request = (locks as Locks).acquire(lock, waiting.signal).catch(() => undefined);
  const until = clock.now() + ms;
  const wait = (ms: number) => unlessLate(clock, ms, request, [stop, client.closing]);
  // If the device slept, the context that holds the lock slept, too. Give that context a moment to store how its call ended.
  const release = (await wait(ms)) ?? (sleptSince(client, until) ? await wait(THAW_MS) : undefined);
  if (release) return release;
  waiting.abort();
  // If the lock comes after the wait was given up, release it.
  void request.then((lateRelease) => lateRelease?.());
  return undefined;
}

/** Makes the store ready for the operation, and names this client, if its leases need that. */
export async function readyStore(job: OperationRun): Promise<void> {
  const { client, settings } = job;
  await returnToStore(job);
  const store = storeForOperation(job);
  // In an async function, so that a store that throws at once rejects.
  const ready = store.ready && (await orStoreError(job, (async () => timed(client, (store as Required<Store>).ready(), job.deadline))()));
  const unsafe = settings.required && store.survives === 'context' && new TypeError(wrong("durability 'required'", 'durability', store.kind));
  // In a page, a lasting store may be available again later, so this is a store error. On a server, the app has given no such store.
  if (unsafe) throw client.platform.server ? unsafe : storeError(job, unsafe);
  // None of the stores before this memory in the app's list works here. An app that gave memory alone knows that.
  if (ready?.kind === 'memory' && ready.scope !== store.scope) emit(job, '', { type: 'diagnostic', code: 'store-degraded', cause: 'no store here' });
  // Where a lock says who drives, nobody asks whether the owner's process is gone, so any name will do.
  if (job.locked) client.owner ??= client.platform.randomness.uuid();
  else if (isShared(job)) await nameOwner(client, ready ?? store);
}

/** Other contexts share the store, and must be able to tell whether a driver holds the record, or an attempt may be on its way. */
const isShared = (job: OperationRun): boolean | undefined => job.client.platform.isolated || storeForOperation(job).shared !== 'context';

/** The key, if the dialect allows it. Throws a TypeError otherwise. `shape`: the form that the dialect gives a UUID. */
export function keyOf({ keyPattern, name }: Dialect, given: unknown, shape?: Dialect['shape']): IdempotencyKey {
  const key = shape?.(given as string) ?? given;
  if (typeof key !== 'string' || !keyPattern.test(key))
    throw new TypeError(wrong('key', 'key', `${typeof key === 'string' ? `${key.length} characters` : typeof key}; ${name}: ${keyPattern}`));
  return key as IdempotencyKey;
}

/** The key to use if the operation needs a new one. */
type MadeKey = Pick<Claimant, 'key' | 'keyGeneration' | 'keyKind'>;

/** What this call brings to its first look at the record. */
function claimantOf(job: OperationRun, key: MadeKey): Claimant {
  const { client, settings, payload, resumeOnly } = job;
  const { dialect, limits } = settings;
  const { owner, platform } = client;
  // In a browser, neither `meta` nor a request is stored without a namespace.
  const writable = settings.namespace !== undefined || platform.server;
  return {
    ...job,
    ...key,
    ...limits,
    origin: payload?.origin ?? '',
    endpoint: payload?.endpoint ?? '',
    scope: dialect.scope,
    carrier: dialect.carrier,
    dialect: dialect.name,
    atomic: storeForOperation(job).atomic,
    repeat: settings.repeat,
    whenChanged: settings.whenChanged ?? (dialect.answersMismatch === false ? 'refuse' : 'same-key'),
    keyWindowMs: resumeOnly && settings.dialectOf && !settings.ownWindow ? Infinity : limits.keyWindowMs,
    keepMs: settings.keep.forMs,
    clean: resumeOnly || platform.connectivity.online() === false,
    owner,
    leaseMs: isShared(job) ? limits.leaseMs : undefined,
    meta: writable ? settings.meta : undefined,
    request: writable && settings.keep.request ? payload && client.parts.requests?.toStore(payload, settings.keep.headers) : undefined,
  };
}

/**
 * Whether somebody may have taken the record that is missing: a log-out or `move`, if the call's time is over, its user has changed, or its page slept
 * before this look; or a sweep, if the call waited for another context. On a server, the user is not asked: the store may run this in another call's
 * async context.
 */
function mayBeTaken(job: OperationRun, kind: MadeKey['keyKind'], now: number): boolean {
  // A key that is not random is the same again, and a key strategy may take its time; so may a server that has thousands of calls at once.
  const patience = !job.lookBefore && kind === 'random' && !job.client.platform.server ? STORE_TIMEOUT_MS : WAITERS_MS;
  const isLate = now >= job.deadline || now - job.seen.at > patience;
  return isLate || !(job.client.platform.server || isSamePerson(job));
}

/**
 * Claims the operation: stores what only this page knows of its end, then makes one durable update, which decides what this call does with the record that
 * it finds. If there is none, it stores one with a new key, before the first byte leaves. `made`: the new key, if it is made already.
 */
export async function claim(job: OperationRun, made?: MadeKey, rule = begin, isSecond = false): Promise<Begun> {
  const { client, settings } = job;
  const { dialect } = settings;
  const { platform } = client;
  const isNamed = job.name.length > 0;
  // Nobody can race for an unnamed operation, which is stored under its key. Where the store is not atomic, contexts that race for a name derive the key.
  const { key: own = isNamed ? undefined : job.id } = settings;
  if (!made && (own === undefined ? !storeForOperation(job).atomic : typeof own === 'function')) {
    const derived = own ? client.parts.hooks?.key : client.parts.derive;
    if (!derived) throw new TypeError(own ? needs('key', 'hooks') : needs('a store that is not atomic', 'insecureOrigins'));
    return derived(job);
  }
  const key: MadeKey = made ?? {
    key: own === undefined ? keyOf(dialect, platform.randomness.uuid(), dialect.shape) : keyOf(dialect, own),
    keyKind: settings.key === undefined ? 'random' : 'literal',
  };
  const claimant = claimantOf(job, key);
  const ownRule = job.resumes?.begin ?? rule;
  const begins = client.parts.begins?.(job, ownRule) ?? ownRule;
  let begun: Begun | undefined;
  let known: OnceRecord | undefined;
  // Stores the end that this page knows. It replaces an end as none that another tab has stored. It replaces a pending record only if this call may mean
  // another effect, and if neither a log-out nor another driver has changed that record.
  const storeEnd = (stored: unknown, storeNow: number) => {
    known = lastKnownOf(job, storeNow, stored);
    const found = readRecord(stored);
    return { value: 0, next: found?.ending || (settings.repeat !== 'never' && known?.revision === found?.revision) ? known : undefined };
  };
  const change = (stored: unknown, storeNow: number): Changed<Begun> => {
    const now = platform.clock.now();
    job.seen.aheadMs = storeNow - now;
    const taken = stored === undefined && (isNamed || settings.key !== undefined) && mayBeTaken(job, key.keyKind, now);
    known = lastKnownOf(job, storeNow, stored);
    const found = readRecord(stored);
    // What this page left open comes before a refused record that another page has stored in its place.
    begun = taken ? { do: 'nothing' } : begins(found && known?.state === 'pending' ? known : (stored ?? known), claimant, now, storeNow);
    see(job.seen, found);
    if (begun.do === 'drive' && (job.seen.over || job.logOuts !== logOutsOf(client, job.namespace))) begun = { do: 'nothing' };
    if (begun.do === 'busy') job.seen.at = seenAt(begun.record, now);
    // What only this page knows is stored again, so that other tabs know it, too.
    begun = { ...begun, wrote: begun.do === 'drive' || !stored ? begun.record : begun.back };
    return { value: begun, next: begun.wrote };
  };
  try {
    if (client.registry.lastKnown.get(job.operationKey)?.ending) await updateStored(job, storeEnd);
    return await updateStored(job, change, isNamed ? 'strict' : 'relaxed');
  } catch (cause) {
    const now = platform.clock.now();
    // A store that fails only after seconds is no reason to begin no operation. A page that has slept is: no store takes that long.
    if (now - job.seen.at <= STORE_TIMEOUT_MS) job.seen.at = now;
    // A store that takes nothing keeps no page from telling the end that it knows.
    const told = begins(known, claimant, now, now);
    if (told.do === 'remembered' && begun?.do !== 'nothing' && isSamePerson(job)) return told;
    // If the store can't tell whether it took the record, it has called the change again, with a value that is no record.
    if (begun && begun.do !== 'drive') throw storeError(job, cause);
    // The feature can't look for `Late` itself: another copy of the package has its own.
    const second = !(cause instanceof Late) && (await client.parts.requests?.second(job, key.key, cause, begun?.inserted, isSecond));
    if (second) return claim(second, key, rule, true);
    if (!begun?.inserted || (client.registry.degraded.size >= DEGRADED_MAX && !(await makeRoom(client)))) throw storeError(job, cause);
    return afterFailedInsert(job, begun, cause, isSecond, () => claim(job, key, rule, true));
  }
}

/** How many operations a process keeps in memory because the store did not take them. Further calls are refused, unless one of these can be forgotten. */
const DEGRADED_MAX = 10_000;
