/**
 * Who has a lost call without a name in hand. The press that began it was told `unknown`, so an equal press, or a `resume`, goes on with it. Two
 * presses at once are two effects, so only one of them does. A press waits for a `resume`, and a `resume` leaves alone what a press has.
 */
import { awaitLock, tryLock, tryLockInTime } from './claim.js';
import type { Client, OperationAddress, OperationRun } from './client.js';
import type { InHand } from './in-flight.js';
import { timed } from './record-access.js';
import { unlessLate } from './wait.js';

/** Who of this realm has what in hand, clients of other copies of the package included. */
function inHand({ registry }: Client): InHand {
  registry.inHand ??= { resumes: new Map(), presses: new Set() };
  return registry.inHand;
}

/** The lock that a `resume` holds beside that of the operation, for as long as it drives. */
const signOf = ({ lock }: OperationAddress): string => `${lock}:resume`;

/** When the `resume` of this realm is over, or the call that still stops although its callers have left; `undefined` if there is neither. */
function ending(client: Client, { operationKey }: OperationAddress): Promise<void> | undefined {
  const flight = client.registry.flights.get(operationKey);
  return inHand(client).resumes.get(operationKey) ?? (flight?.stop.aborted ? flight.landed : undefined);
}

/** What a press holds of a lost operation while it looks at it. */
export interface Hold {
  /** The press has ended, so it keeps nothing that it gets from now on. */
  over?: boolean;
  /** Releases the lock of the operation. */
  unlock?: (() => void) | undefined;
  /** Lets other presses go on with it. */
  leave?: (() => void) | undefined;
}

export function letGo(hold: Hold): void {
  hold.unlock?.();
  hold.leave?.();
  hold.unlock = undefined;
  hold.leave = undefined;
}

/**
 * Takes a lost operation for a press: the right to go on with it, and its lock. Gives `undefined` if another press has it. If a `resume` has it, waits
 * for the end of that, and gives `true`: that end is this press's, too. Leaves the lock out if that takes too long. `ready`: awaited before the lock.
 */
export async function takeLost(
  { client, settings, stop, deadline }: Pick<OperationRun, 'client' | 'settings' | 'stop' | 'deadline'>,
  address: OperationAddress,
  hold: Hold,
  ready?: () => Promise<unknown>,
): Promise<boolean | undefined> {
  const { flights } = client.registry;
  const { clock } = client.platform;
  const { operationKey, lock } = address;
  const { presses } = inHand(client);
  if (presses.has(operationKey)) return undefined;
  presses.add(operationKey);
  const leaveHere = (): void => void presses.delete(operationKey);
  hold.leave = leaveHere;
  /** Keeps what came while the press was there. */
  const kept = (release: (() => void) | undefined): (() => void) | undefined => (hold.over ? release?.() : release) ?? undefined;
  // The same for presses of other tabs.
  const leave = kept(await tryLock(client, `${lock}:press`));
  if (!leave) return undefined;
  hold.leave = () => {
    leave();
    leaveHere();
  };
  await ready?.();
  const until = clock.now() + (settings.whenBusy === 'reject' ? 0 : Math.min(settings.limits.attemptMs, (deadline - clock.now()) / 2));
  const here = ending(client, address);
  const isOver = here?.then(() => true);
  if (isOver && !(await unlessLate(clock, until - clock.now(), isOver, [stop, client.closing]))) return true;
  if (flights.has(operationKey)) return undefined;
  // Take this lock first: whoever has the operation's lock then is no `resume`.
  const free = await tryLock(client, signOf(address));
  const sign = free ?? (await awaitLock(client, signOf(address), until - clock.now(), stop));
  const waited = !!here || !free;
  if (!sign) return true;
  hold.unlock = kept(await tryLock(client, lock));
  sign();
  return hold.unlock && !flights.has(operationKey) ? waited : undefined;
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
  const earlier = ending(client, address);
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
    (await lock)?.();
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
