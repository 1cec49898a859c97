'use client';
import { useActionState } from 'react';
import { pay } from './actions';

/** `said`: what the server knows. */
export function StateForm({ cart, said }: { cart: string; said: string }) {
  const [told, action, busy] = useActionState(pay, undefined, `/state?cart=${encodeURIComponent(cart)}`);
  return (
    <form action={action} aria-busy={busy}>
      <input type="hidden" name="cart" value={cart} />
      <input name="card" aria-label="Card" defaultValue="4242424242424242" />
      <button type="submit">Pay</button>
      <p role="status">{busy ? 'Paying…' : (told?.said ?? said)}</p>
    </form>
  );
}
