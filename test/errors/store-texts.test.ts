/**
 * Goal: the message of an error says which setting of a store is wrong, and nothing that a platform or a database said. Method: errors whose causes are
 * faults of stores, and other causes.
 */
import { expect, test } from 'vitest';
import { unsent } from '../../src/core/outcome.js';
import { OnceError } from '../../src/errors.js';
import { StoreFault } from '../../src/stores/fault.js';
import { LEAN } from '../support/texts.js';

const FACTS = {
  operation: ['pay', 1],
  key: undefined,
  attempts: 0,
  firstSentAt: undefined,
  sent: 'no',
  resumed: false,
  joined: false,
  storedIn: 'disk',
} as const;
const messageOf = (cause: unknown): string => new OnceError('ERR_ONCE_UNSENT', { ...FACTS, ...unsent('store-write') }, { cause }).message;
const EVICTS = 'redis:1:once may evict keys, and each would be a payment that can be made twice: its maxmemory-policy is allkeys-lru. Set it to noeviction';

test('a Redis that may evict records is named in the message', () => {
  const message = messageOf(new StoreFault('denied', EVICTS));
  if (LEAN) expect(message).toBe('once: ["pay",1]: ERR_ONCE_UNSENT, store-write (docs/errors.md#err_once_unsent).');
  else expect(message).toMatch(/its record could not be stored, so nothing was sent\. .*redis:1:once may evict keys.* Set it to noeviction\. See its cause/);
});

const { proxy, revoke } = Proxy.revocable({}, {});
revoke();

test.each<[string, unknown]>([
  ['what a database said', new StoreFault('io', 'redis:1:once failed: WRONGPASS secret', new Error('WRONGPASS secret'))],
  ['what IndexedDB said with null', new StoreFault('io', 'indexeddb:x failed: secret', null)],
  ['an error of the app', new TypeError('secret')],
  ['a text', 'secret'],
  ['nothing', undefined],
  ['null', null],
  ['a proxy that was revoked', proxy],
])('%s is in no message', (_, cause) => expect(messageOf(cause)).not.toContain('secret'));
