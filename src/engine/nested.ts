/** Calls that are made inside of the functions of operations (`run`), where the platform can tell. Pages have `nested-lean.ts`. */
import type { Outcome } from '../core/outcome.js';
import type { Nested, Platform } from '../ports.js';

/** The parts that are needed of a call and of an attempt. `client.ts` has the whole types, but imports this file by way of `in-flight.ts`. */
interface Call {
  readonly client: { readonly platform: Pick<Platform, 'clock' | 'nesting'> };
  readonly operationKey: string;
}
interface Attempted {
  readonly job: Call & { readonly settings: { readonly limits: { readonly leaseMs: number } } };
  stillMine?(): Promise<boolean>;
}

/** Hears the outcome of a call; `undefined` if it ends without one. */
export type Hears = (outcome: Outcome | undefined) => void;

/** Whether the caller is inside of the function of this operation. */
export const isWithin = ({ client, operationKey }: Call): boolean | undefined =>
  client.platform.nesting?.around().some((outer) => outer.operation === operationKey);

/**
 * Whether another driver has taken over the operation of a function around the caller, and may have been told that there was no effect. Ask it after the
 * claim of a call: who takes over later, and makes the same call, finds its record, and goes on with its key. `undo`: takes the claim back.
 */
export async function isOvertaken({ client }: Pick<Call, 'client'>, undo: () => Promise<unknown>): Promise<boolean> {
  for (const outer of client.platform.nesting?.around() ?? []) {
    if (!(await outer.overtaken())) continue;
    await undo();
    return true;
  }
  return false;
}

/**
 * Notes a call for the functions around it, until its outcome says that it had no effect. Gives what hears of that, and tells `hook`. What an earlier
 * attempt of the function left unknown, the same call may find refused in a later one. While another call of the operation goes on, a refusal says
 * nothing of that one. A call that ends without an outcome, such as one that finds the operation busy, goes on no more, and says nothing.
 */
export function counted(hook: ((outcome: Outcome) => void) | undefined, { client, operationKey }: Call): Hears | undefined {
  const notes = (client.platform.nesting?.around() ?? []).map(({ calls }) => {
    const note = calls.get(operationKey) ?? { open: 0, effect: 'unknown' };
    note.open++;
    calls.set(operationKey, note);
    return { calls, note };
  });
  return (outcome) => {
    for (const { calls, note } of notes) {
      note.open--;
      if (outcome && note.effect !== 'done') note.effect = outcome.effect;
      if (note.effect === 'none' && !note.open) calls.delete(operationKey);
    }
    if (outcome) hook?.(outcome);
  };
}

/** Tells what {@link counted} gave that the call ends without an outcome. */
export function unheard(hears: Hears | undefined): void {
  hears?.(undefined);
}

/** Runs the function of an operation. `calls`: see {@link Nested}. */
export function runNested<T>({ job, stillMine }: Attempted, calls: Nested['calls'], work: () => T): T | Promise<Awaited<T>> {
  const { clock, nesting } = job.client.platform;
  const begun = clock.now();
  // Before half of its time is over, the lease can't have run out.
  const isFresh = () => Math.abs(clock.now() - begun) < job.settings.limits.leaseMs / 2;
  const overtaken = async () => !isFresh() && !(await stillMine?.());
  return nesting ? nesting.run({ operation: job.operationKey, calls, overtaken }, work) : work();
}
