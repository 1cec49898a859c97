/**
 * Tells calls without a name that a `resume` has an operation in hand, here or in another tab. The press that began it was told `unknown`, so an equal
 * press means the same effect. If another press drives it, an equal one means another effect.
 */
import type { OperationKey } from '../core/ids.js';
import { tryLock, tryLockInTime } from './claim.js';
import type { Client, OperationAddress } from './client.js';

/** The operations that a `resume` of this realm has in hand; the key is the realm's table of operations in flight. */
const inHand = new WeakMap<object, Set<OperationKey>>();

/** The lock that a `resume` holds beside that of the operation, for as long as it drives. */
const signOf = ({ lock }: OperationAddress): string => `${lock}:resume`;

/** Whether a `resume` has it in hand. */
export async function isBeingResumed(client: Client, address: OperationAddress): Promise<boolean> {
  if (inHand.get(client.registry.flights)?.has(address.operationKey)) return true;
  const free = await tryLock(client, signOf(address));
  free?.();
  return !free;
}

/** Does `work` with the lock of an operation without a name that nobody drives, and tells equal calls so meanwhile. Gives `undefined` if somebody drives it. */
export async function whileResumed<T>(client: Client, address: OperationAddress, work: (held: () => void) => Promise<T>): Promise<T | undefined> {
  const { flights } = client.registry;
  const { operationKey } = address;
  const here = inHand.get(flights) ?? new Set();
  if (flights.has(operationKey) || here.has(operationKey)) return undefined;
  inHand.set(flights, here.add(operationKey));
  // Take this lock first: an equal call that finds the operation locked must be able to tell by whom.
  const sign = await tryLockInTime(client, signOf(address));
  const held = sign && (await tryLockInTime(client, address.lock));
  try {
    return held && (await work(held));
  } finally {
    held?.();
    sign?.();
    here.delete(operationKey);
  }
}
