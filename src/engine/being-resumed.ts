/**
 * Tells calls without a name that a `resume` has an operation in hand, here or in another tab. The press that began it was told `unknown`, so an equal
 * press means the same effect. If another press drives it, an equal one means another effect.
 */
import { awaitLock, tryLock, tryLockInTime } from './claim.js';
import type { Client, OperationAddress } from './client.js';
import type { Stop } from './closing.js';
import { unlessLate } from './wait.js';

/** The lock that a `resume` holds beside that of the operation, for as long as it drives. */
const signOf = ({ lock }: OperationAddress): string => `${lock}:resume`;

/** If a `resume` has it in hand, waits for the end of that, but at most `ms`: `true` if it is over then, `false` if not. `undefined` if none has. */
export async function awaitResume(client: Client, address: OperationAddress, ms: number, stop: Stop): Promise<boolean | undefined> {
  const over = client.registry.inHand?.get(address.operationKey);
  if (over) return (await unlessLate(client.platform.clock, ms, over, [stop, client.closing])) ?? false;
  const free = await tryLock(client, signOf(address));
  const release = free ?? (await awaitLock(client, signOf(address), ms, stop));
  release?.();
  return free ? undefined : !!release;
}

/** Does `work` with the lock of an operation without a name that nobody drives, and tells equal calls so meanwhile. Gives `undefined` if somebody drives it. */
export async function whileResumed<T>(client: Client, address: OperationAddress, work: (held: () => void) => Promise<T>): Promise<T | undefined> {
  const { registry } = client;
  const { flights } = registry;
  const { operationKey } = address;
  registry.inHand ??= new Map();
  const { inHand } = registry;
  if (flights.has(operationKey) || inHand.has(operationKey)) return undefined;
  let over!: (is: true) => void;
  inHand.set(operationKey, new Promise((resolve) => (over = resolve)));
  // Take this lock first: an equal call that finds the operation locked must be able to tell by whom.
  const sign = await tryLockInTime(client, signOf(address));
  const held = sign && (await tryLockInTime(client, address.lock));
  const end = async (): Promise<void> => {
    // If its caller has left, the operation may still be stopping.
    if (held) await flights.get(operationKey)?.landed;
    held?.();
    sign?.();
    inHand.delete(operationKey);
    over(true);
  };
  try {
    return held && (await work(held));
  } finally {
    void end();
  }
}
