/** The banner that shows unsettled payments, for example after a reload. */

import { pending as listPending, type PendingOperation } from 'oncefetch';
import { euros } from './cart.ts';
import { keepingFocus, part, say } from './dom.ts';
import { check, once } from './lanes/once-pay.ts';
import { intend } from './shop.ts';

const cartOf = ({ name }: PendingOperation): string => String(name[1]);
const amountOf = ({ meta }: PendingOperation): string => euros((meta as { amount?: number } | null)?.amount ?? 0);

export interface Banner {
  /** Reads the pending operations again. */
  refresh(): Promise<void>;
}

/**
 * `mine`: whether the screen already shows this payment. `checkMine`: checks the payment on that screen, if it belongs
 * to the cart shown there. `status`: gets the focus.
 */
export function banner(root: HTMLElement, status: HTMLElement, mine: (cart: string) => boolean, checkMine: (cart: string) => boolean): Banner {
  const says = part(root, 'banner-says');
  const button = part<HTMLButtonElement>(root, 'banner-check');
  let shown: PendingOperation | undefined;
  /** The result of the payment that was checked last. */
  let told = '';

  const refresh = async (): Promise<void> => {
    const pending = await listPending(once, { prefix: ['pay'] });
    const others = pending.filter((operation) => !mine(cartOf(operation))).sort((a, b) => b.createdAt - a.createdAt);
    shown = others[0];
    if (shown) say(says, `A payment of ${amountOf(shown)} is still being confirmed${others.length > 1 ? `, and ${others.length - 1} more` : ''}.`);
    else say(says, told);
    keepingFocus(root, status, () => {
      button.hidden = !shown;
      root.hidden = !shown && !told;
    });
  };
  button.addEventListener('click', () => {
    if (!shown) return;
    const cart = cartOf(shown);
    const amount = amountOf(shown);
    if (checkMine(cart)) return void refresh();
    button.disabled = true;
    void intend('oncefetch', cart, null);
    void check(cart)
      .then(({ is }) => {
        if (is === 'paid') void intend('oncefetch', cart, 'done');
        else if (is !== 'unsure') void intend('oncefetch', cart, 'refused');
        told = is === 'paid' ? `The payment of ${amount} was made.` : is === 'unsure' ? '' : `The payment of ${amount} was not made.`;
        return refresh();
      })
      .finally(() => {
        button.disabled = false;
      });
  });
  return { refresh };
}
