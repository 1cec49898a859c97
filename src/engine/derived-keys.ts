/** Begins operations whose keys are made for one generation, by a function: the app's strategy, or the package's own derivation. */
import { beginDerived } from '../core/begin-derived.js';
import type { Begun } from '../core/claimant.js';
import type { IdempotencyKey } from '../core/ids.js';
import { claim } from './claim.js';
import type { OperationRun } from './client.js';

/** How often the generation may turn out to be another one, because other contexts begin operations of the name at the same time. */
const REKEYS_MAX = 3;

/**
 * Begins the operation. `keyFor` is asked only when a new key is needed, because a pending operation keeps its key, whatever would be made
 * now. With `atOnce`, it is asked before the first look at the record.
 */
export async function beginWithKeys(
  job: OperationRun,
  keyFor: (generation: number) => IdempotencyKey | Promise<IdempotencyKey>,
  atOnce = false,
): Promise<Begun> {
  let keyGeneration = atOnce ? 0 : undefined;
  for (let round = 0; ; round++) {
    const key = keyGeneration === undefined ? ('' as IdempotencyKey) : await keyFor(keyGeneration);
    const begun = await claim(job, { key, keyGeneration, keyKind: 'derived' }, beginDerived);
    if (begun.do !== 'rekey' || round > REKEYS_MAX) return begun;
    keyGeneration = begun.generation;
  }
}
