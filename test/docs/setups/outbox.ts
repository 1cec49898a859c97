/** A page that is closed in the middle of a payment: all answers were lost, though the shop has charged. */
import * as oncefetch from 'oncefetch';
import { reload, shop, show } from '../support/stage.js';

export const session: { userId: string | undefined } = { userId: 'u-7' };
export const options: oncefetch.OnceOptions = { use: [oncefetch.background()], namespace: () => session.userId };
export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };

/** The customer presses Pay, and closes the tab. */
export async function payAndClose(): Promise<void> {
  shop().server.faults.next('lose-response', 'lose-response', 'lose-response', 'lose-response', 'lose-response');
  const untilMs = Date.now() + 86_400_000;
  await oncefetch
    .createOnce(options)
    .fetch('/api/payments', { method: 'POST', body: JSON.stringify(cart), once: { operation: ['pay', cart.id], background: { untilMs } } })
    .catch((error: unknown) => oncefetch.isOnceError(error, 'ERR_ONCE_UNKNOWN') || Promise.reject(error));
  reload();
}

export { show };
