/** The left lane: what a page with plain fetch knows, which a reload ends. */
import { intend } from '../shop.ts';
import type { Lane, Seen } from './lane.ts';
import { pay } from './plain-pay.ts';

export function plainLane(): Lane {
  let seen: Seen = { is: 'ready' };
  let changed = (): void => {};
  let current = '';
  return {
    name: 'plain fetch',
    get seen() {
      return seen;
    },
    pay(order) {
      if (seen.is === 'paid') return;
      void intend('plain fetch', order.cart, null);
      void pay(order, (next) => {
        if (next.is === 'paid') void intend('plain fetch', order.cart, 'done');
        if (next.is === 'declined') void intend('plain fetch', order.cart, 'refused');
        if (order.cart !== current) return;
        seen = next;
        changed();
      });
    },
    turnTo(cart) {
      current = cart;
      seen = { is: 'ready' };
      changed();
    },
    onChange: (listener) => {
      changed = listener;
    },
  };
}
