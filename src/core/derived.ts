/** Derived keys, which every device and every machine computes alike. */
import { v5 } from 'uuid';
import { wrong } from '../texts/full.js';
import { encodeName, type OperationName, typeOf } from './name.js';

/** The UUID namespace of derived keys and of child keys (RFC 9562, section 5.5). */
const DERIVED = 'd2a1f3f0-6f0c-4a86-9c55-0f3a5a6d7b11';

const uuidOf = (...parts: readonly (string | number)[]): string => v5(JSON.stringify(parts), DERIVED);

/**
 * Derives the key from namespace, name and generation: a UUID v5 that a second device, or this one after losing its storage,
 * computes too. The key can be guessed, so the server must scope keys by account. And it may have been used before, so it is never
 * known to be clean: the server must repeat its refusals, or the client needs `reconcile`.
 *
 * @throws TypeError for a call without a name, and if it is called instead of given as `key`
 * @example
 * await once.fetch(url, { method: 'POST', body, once: { operation: ['pay', order.id], key: derived } });
 */
export function derived(question: { namespace: string; operation: OperationName | undefined; generation: number }): string {
  if (typeof question?.generation !== 'number') throw new TypeError(wrong('derived', 'given', typeOf(question)));
  const { namespace, operation, generation } = question;
  if (!operation) throw new TypeError(wrong('derived', 'no-name'));
  return uuidOf(namespace, encodeName(operation), generation);
}

/** The key for a downstream call that a function given to `run` makes. */
export const childKey = (key: string, label: string): string => uuidOf(key, label);
