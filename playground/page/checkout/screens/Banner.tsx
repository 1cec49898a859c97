/** The banner of an unsettled payment, on any page, after a reload or on another day. */

import { usePending } from 'oncefetch/react';
import { useState } from 'react';
import { euros } from '../shop/cart.ts';
import { once } from '../shop/client.ts';
import { effectOf } from '../shop/pay.ts';
import { Status } from './Status.tsx';

/** `except`: the cart on the screen, whose own screen shows its payment. */
export function Banner({ except }: { except: string }) {
  const open = usePending(once, { prefix: ['pay'] }).find(({ name, sent }) => name[1] !== except && sent !== 'no');
  const [told, tell] = useState('');
  if (!open && !told) return null;
  const meta = open?.meta as { amount: number } | undefined; // none after a log-out
  const amount = meta ? ` of ${euros(meta.amount)}` : '';
  async function look(cart: string): Promise<void> {
    const effect = await effectOf(cart);
    if (effect !== 'unknown') tell(`The payment${amount} was ${effect === 'done' ? 'made' : 'not made'}.`);
  }
  return (
    <aside className="banner" aria-label="An open payment">
      <Status>{open ? `Your payment${amount} is still being confirmed.` : told}</Status>
      {open && (
        <button type="button" onClick={() => void look(String(open.name[1]))}>
          Check
        </button>
      )}
    </aside>
  );
}
