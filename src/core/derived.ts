/** A key that any device and any machine arrives at. */
import { v5 } from 'uuid';
import { encodeName, type OperationName } from './name.js';

/** The UUID namespace of derived keys and of child keys (RFC 9562, section 5.5). */
const DERIVED = 'd2a1f3f0-6f0c-4a86-9c55-0f3a5a6d7b11';

const uuidOf = (...parts: readonly (string | number)[]): string => v5(JSON.stringify(parts), DERIVED);

/**
 * Derives the key from namespace, name and generation: a UUID v5 that a second device, or this one without its storage,
 * arrives at too. It wants a server that scopes keys by account, because it can be guessed, and one that repeats its
 * refusals, or `reconcile`, because a key that may have been used before is never known to be clean.
 *
 * @throws TypeError for a call without a name
 * @example
 * await once.fetch(url, { method: 'POST', body, once: { operation: ['pay', order.id], key: derived } });
 */
export function derived({ namespace, operation, generation }: { namespace: string; operation: OperationName | undefined; generation: number }): string {
  if (!operation) throw new TypeError('once: a derived key needs a name');
  return uuidOf(namespace, encodeName(operation), generation);
}

/** The key of a call that an effect makes downstream. */
export const childKey = (key: string, label: string): string => uuidOf(key, label);
