/** The left lane: a page with plain fetch. A reload makes it forget everything. */
import { intend } from '../shop.ts';
import type { Lane, Seen } from './lane.ts';
import { checkout } from './plain-pay.ts';

export function plainLane(): Lane {
  let seen: Seen = { is: 'ready' };
  let changed = (): void => {};
  let pay = (_: Parameters<Lane['pay']>[0]): void => {};
  return {
    name: 'plain fetch',
    get seen() {
      return seen;
    },
    pay(order) {
      if (seen.is === 'paid') return;
      void intend('plain fetch', order.cart, null);
      pay(order);
    },
    turnTo(cart) {
      // Each cart has its own form. A form that is still paying for an earlier cart continues unseen.
      const form = checkout((next) => {
        if (next.is === 'paid') void intend('plain fetch', cart, 'done');
        if (next.is === 'declined') void intend('plain fetch', cart, 'refused');
        if (pay !== current) return;
        seen = next;
        changed();
      });
      const current: typeof pay = (order) => void form(order);
      pay = current;
      seen = { is: 'ready' };
      changed();
    },
    onChange: (listener) => {
      changed = listener;
    },
  };
}
