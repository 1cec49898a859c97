/** Tells screens when to look again, and who the present user is. */
import { checkOne } from '../check.js';
import { namespaceNow } from '../engine/address.js';
import { refreshScreens } from '../engine/registry.js';
import * as screens from '../engine/screens.js';
import { clientOf, type Once } from '../once.js';

/**
 * Calls back when a screen should look again: an operation began or ended, here or in another tab, or another user has logged in.
 *
 * @returns a function that unsubscribes
 * @throws TypeError if the listener is not a function
 * @example
 * const stop = watch(once, async () => show(await pending(once)));
 */
export function watch(once: Once, listener: () => void): () => void {
  const client = clientOf(once, 'watch');
  checkOne(listener, 'function', 'the listener of watch');
  return screens.watch(client, () => listener());
}

/**
 * Makes every mounted screen check at once who is logged in and what is stored. Call it right after a log-in or log-out.
 *
 * @example
 * await logIn(); refresh(once);
 */
export function refresh(once: Once): void {
  const client = clientOf(once, 'refresh');
  namespaceNow(client);
  refreshScreens(client.registry, true);
}

/**
 * The present user, as the option `namespace` gives it; `undefined` while nobody is logged in, `''` without that option.
 *
 * @example
 * if (namespace(once) === undefined) showLogin();
 */
export const namespace = (once: Once): string | undefined => namespaceNow(clientOf(once, 'namespace'));
