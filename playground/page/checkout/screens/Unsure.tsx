/** The text of an unsettled payment. It says that both checking and paying again are safe, as long as the server remembers the key. */
import type { PendingOperation } from 'oncefetch';
import { type Cart, euros, totalOf } from '../shop/cart.ts';

export function Unsure({ cart, pending }: { cart: Cart; pending: PendingOperation }) {
  const { amount } = (pending.meta ?? {}) as { amount?: number }; // none after a log-out
  const sum = amount === undefined ? '' : ` ${euros(amount)}`;
  return (
    <p className="unsure">
      {pending.expiresAt > Date.now()
        ? `We are still finding out whether you have paid${sum}. Check, or pay again: you will be charged once.`
        : `We cannot tell whether you have paid${sum}. Check, or write to us: it is too late to send it again.`}
      {amount !== undefined && amount !== totalOf(cart) && ` You have changed your cart since: if ${euros(amount)} was paid, that stands.`}
    </p>
  );
}
