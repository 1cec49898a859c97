'use client';
import { outcomeOf } from 'oncefetch';
import { useOperation } from 'oncefetch/react';
import { type FormEvent, useState } from 'react';
import { mustLogIn, once, told } from '../../../shop/once';
import { pay } from '../actions';

/** `said`: what the server knows. Without script the form goes to the server action, and is the same payment. */
export function PayForm({ cart, said }: { cart: string; said: string }) {
  const payment = useOperation(once, ['pay', cart]);
  const [isOver, setOver] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const call = payment.fetch('/api/payments', { method: 'POST', body: new FormData(event.currentTarget) });
    const answer: unknown = await call.catch((error: unknown) => error);
    setOver(mustLogIn(answer));
    if (!mustLogIn(answer) && !outcomeOf(answer)) throw answer; // a bug; what became of the payment is in the state
  }

  return (
    <form action={pay} onSubmit={submit}>
      <input type="hidden" name="cart" value={cart} />
      <input name="card" aria-label="Card" defaultValue="4242424242424242" />
      <button type="submit">Pay</button>
      <p role="status">{isOver ? 'Please log in.' : told(payment.state, said)}</p>
    </form>
  );
}
