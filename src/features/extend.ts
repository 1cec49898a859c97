/** Makes a client with other options over the same store. */
import { Extensions } from '../engine/extensions.js';
import { clientOf, createOn, type Once } from '../once.js';
import type { OnceOptions } from '../option-types.js';
import { extendOptions } from '../options.js';

/**
 * Makes a client with other options. It shares the store, and the operations under way, with the client that it is extended from.
 * Closing that client closes this one too, but not the other way round.
 *
 * @throws TypeError or RangeError that names the wrong option
 * @example
 * const patient = extend(once, { limits: { totalMs: 300_000 } });
 */
export function extend(once: Once, options: Partial<OnceOptions>): Once {
  const client = clientOf(once, 'extend');
  const { made, store, fallback, registry, session, sweeps } = client;
  const all = extendOptions(made.options, options);
  const extended = createOn(made.platform, all, {
    registry,
    ...((all.store ?? store) === store && { store, fallback, sweeps, borrowsStore: true as const }),
    ...(all.namespace === made.options.namespace && { session }),
  });
  const inside = clientOf(extended, 'extend');
  client.extensions ??= new Extensions();
  client.extensions.add(inside);
  if (client.closing.aborted) inside.closing.abort();
  return extended;
}
