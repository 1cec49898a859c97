/**
 * Who has a lost call without a name in hand. The press that began it was told `unknown`, so an equal press, or a `resume`, goes on with it. Two
 * presses at once are two effects, so only one of them does. A press waits for a `resume`, and a `resume` leaves alone what a press has. Where
 * contexts share no locks, the lease of the record says who drives.
 */
import { endedBefore } from '../core/begin.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import type { Changed } from '../ports.js';
import { awaitLock, FREE, tryLock, tryLockInTime } from './claim.js';
import type { Call, Client, OperationAddress, OperationRun } from './client.js';
import type { InHand } from './in-flight.js';
import { awaitNoLease } from './lease.js';
import { readStored, timed, updateStored } from './record-access.js';
import { THAW_MS, unlessLate } from './wait.js';

/** Who of this realm has what in hand, clients of other copies of the package included. */
function inHand({ registry }: Client): InHand {
  registry.inHand ??= { resumes: new Map(), presses: new Set() };
  return registry.inHand;
}

/** The lock that a `resume` holds beside that of the operation, for as long as it drives. */
const signOf = ({ lock }: Pick<OperationAddress, 'lock'>): string => `${lock}:resume`;

/** When the `resume` of this realm is over, or the call that still stops although its callers have left; `undefined` if there is neither. */
function ending({ client, operationKey }: Pick<OperationRun, 'client' | 'operationKey'>): Promise<void> | undefined {
  const flight = client.registry.flights.get(operationKey);
  return inHand(client).resumes.get(operationKey) ?? (flight?.stop.aborted ? flight.landed : undefined);
}

/** What a press holds of a lost operation. */
export interface Hold {
  /** The press has ended, so it keeps nothing that it gets from now on. */
  over?: boolean;
  /** Each gives one thing back, in the order in which the press took them. */
  readonly taken: (() => void)[];
}

/** Lets others go on with the operation. A press of another tab asks for the operation's own lock last, so that lock is given back first. */
export function letGo({ taken }: Hold): void {
  for (let giveBack = taken.pop(); giveBack; giveBack = taken.pop()) giveBack();
}

/** Takes a lock for a press, unless another context has it, or the press ends before the lock comes. Gives its release. */
async function take(client: Client, lock: string, hold: Hold): Promise<(() => void) | undefined> {
  const release = await tryLock(client, lock);
  if (release) hold.taken.push(release);
  // Then the search, which goes on without its press, gives the lock back.
  return hold.over ? undefined : release;
}

/** A press, and the place of the lost operation that it looks at. */
type Lost = Omit<Parameters<typeof awaitNoLease>[0], 'seen'>;

/** Takes for a press the right to go on with a lost operation. `false` if another press has it. */
async function reserve({ client, operationKey, lock }: Lost, hold: Hold): Promise<boolean> {
  const { presses } = inHand(client);
  if (presses.has(operationKey)) return false;
  presses.add(operationKey);
  hold.taken.push(() => presses.delete(operationKey));
  // The same for presses of other tabs.
  return !!(await take(client, `${lock}:press`, hold));
}

/**
 * Takes the lock of a lost operation for the press that has reserved it. `undefined` if the press that began it still drives it. If a `resume` has it,
 * waits for the end of that (`waited`); if that takes too long, the lock is left out.
 */
async function lockLost(lost: Lost, hold: Hold): Promise<{ readonly held?: () => void; readonly waited: boolean } | undefined> {
  const { client, settings, stop, deadline, operationKey, lock } = lost;
  const { flights } = client.registry;
  const { clock } = client.platform;
  const until = clock.now() + (settings.whenBusy === 'reject' ? 0 : Math.min(settings.limits.attemptMs, (deadline - clock.now()) / 2));
  const here = ending(lost);
  const isOver = here?.then(() => true);
  if (isOver && !(await unlessLate(clock, until - clock.now(), isOver, [stop, client.closing]))) return { waited: true };
  if (flights.has(operationKey)) return undefined;
  // Take this lock first: whoever has the operation's lock then is no `resume`.
  const free = await tryLock(client, signOf(lost));
  const sign = free ?? (await awaitLock(client, signOf(lost), until - clock.now(), stop));
  if (!sign) return { waited: true };
  const held = await take(client, lock, hold);
  sign();
  return held && !flights.has(operationKey) ? { held, waited: !!here || !free } : undefined;
}

/**
 * Whether this press takes the end of a `resume` for its own. Without locks, presses of other tabs may have waited for it, too: the first one leaves a
 * lease in the ended record, and the others are other effects. If the store fails, nobody can tell, and a second effect would be worse.
 */
function takesEnd(lost: Lost): Promise<boolean> {
  const mark = (stored: unknown): Changed<boolean> => {
    const record = readRecord(stored);
    const next = record && !record.lease ? { ...record, lease: { owner: 'taken', until: 0 } } : undefined;
    return { next, value: !record || next !== undefined };
  };
  return updateStored(lost, mark).catch(() => true);
}

/**
 * Takes a lost operation for a press. `record`: as the search found it. `driven`: its lease was held then. Gives how the press goes on with it; `undefined`
 * if another press has it, or it is lost no more. It is not `held` if a `resume` drives it for longer than the press waited.
 */
export async function takeLost(lost: Lost, record: OnceRecord, driven: boolean, hold: Hold): Promise<Pick<Call, 'held' | 'lookBefore'> | undefined> {
  if (!(await reserve(lost, hold))) return undefined;
  // Where there are no locks, that driver may be dead, and its call lost. If it lives, wait for its end: then the press is another effect, unless the
  // driver is a `resume`. This wait's deadline comes first, so that the error says what the press has waited for.
  const afterResume = driven && (await awaitNoLease({ ...lost, seen: { at: 0, aheadMs: 0 }, deadline: lost.deadline - 1 }));
  const { held, waited } = (await lockLost(lost, hold)) ?? {};
  if (waited === undefined) return undefined;
  // It may have settled since the search.
  const { state, revision } = readRecord(await readStored(lost)) ?? {};
  // The first press was told `unknown` before a `resume` took it in hand. So this press means the same effect, and its end is this one's.
  // If a press had it and nobody took the record over since, the `resume` only waited for that press, and this one is another effect.
  const byResume = afterResume || (waited && (record.lease?.resumes || revision !== record.revision));
  const isDone = byResume && state === 'settled' && (held !== FREE || (await takesEnd(lost)));
  return state === 'pending' || isDone ? { held, lookBefore: isDone || !held ? { ended: endedBefore(record) } : undefined } : undefined;
}

/** Does `work` with the lock of an operation without a name that nobody drives, and tells equal calls so meanwhile. Gives `undefined` if somebody drives it. */
export async function whileResumed<T>(
  client: Client,
  address: OperationAddress,
  stop: AbortSignal,
  work: (held: () => void) => Promise<T>,
): Promise<T | undefined> {
  const { flights } = client.registry;
  const { operationKey } = address;
  const { resumes, presses } = inHand(client);
  const earlier = ending({ client, operationKey });
  if (earlier) await unlessLate(client.platform.clock, client.settings.limits.totalMs, earlier, [stop]);
  if (stop.aborted || flights.has(operationKey) || resumes.has(operationKey) || presses.has(operationKey)) return undefined;
  let over!: () => void;
  resumes.set(operationKey, new Promise((resolve) => (over = resolve)));
  // Take this lock first: an equal call that finds the operation locked must be able to tell by whom.
  const sign = await tryLockInTime(client, signOf(address));
  const lock = sign && tryLock(client, address.lock);
  const held = lock && (await timed(client, lock).catch(() => undefined));
  const end = async (): Promise<void> => {
    // If its caller has left, the operation may still be stopping.
    if (held) await flights.get(operationKey)?.landed;
    // The lock may come too late, in a page that was frozen. Until then, an equal call must not take this page for a press.
    // It may also never come.
    if (lock) {
      const given = lock.then((release) => release?.());
      await unlessLate(client.platform.clock, THAW_MS, given);
    }
    sign?.();
    resumes.delete(operationKey);
    over();
  };
  try {
    return held && (await work(held));
  } finally {
    void end();
  }
}
