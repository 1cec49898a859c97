/** An ordinary form with an action. Enter, one click or twelve clicks make one payment. */
import { useState } from 'react';
import { type Cart, euros, totalOf } from '../shop/cart.ts';

/** Test numbers of a payment provider. A real shop keeps a token here, never a card number. */
const CARDS = { '4242424242424242': '4242, is accepted', '4000000000000002': '0002, is declined' } as const;

export function PayForm({ cart, action, busy, unsure }: { cart: Cart; action: (form: FormData) => void; busy: boolean; unsure: boolean }) {
  const [card, choose] = useState('4242424242424242');
  return (
    <form action={action} aria-busy={busy}>
      <label>
        Card
        <select name="card" value={card} onChange={({ target }) => choose(target.value)} autoComplete="off">
          {Object.entries(CARDS).map(([number, says]) => (
            <option key={number} value={number}>
              {says}
            </option>
          ))}
        </select>
      </label>
      <div className="buttons">
        {/* Not disabled while busy: oncefetch prevents double payments, and a disabled button would lose the keyboard focus. */}
        <button type="submit" className="primary">
          Pay {euros(totalOf(cart))}
        </button>
        {unsure && (
          <button type="submit" name="check">
            Check my payment
          </button>
        )}
      </div>
    </form>
  );
}
