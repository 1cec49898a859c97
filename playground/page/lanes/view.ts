/** One lane on the page: the screen of its customer, and the verdict of the ledger. */
import { amountOf, type Cart, euros, type Order } from '../cart.ts';
import { keepingFocus, part, say } from '../dom.ts';
import type { Charge } from '../shop.ts';
import type { Lane, Seen } from './lane.ts';
import { verdictOf } from './verdict.ts';

/** "Mash Pay" clicks as often as a customer who does not trust the first click. */
const MASH_CLICKS = 12;
const MASH_EVERY_MS = 150;

export interface LaneView {
  readonly lane: Lane;
  /** What the customer is told. It stands first on the screen. */
  readonly told: HTMLElement;
  readonly status: HTMLElement;
  readonly list: HTMLElement;
  press(): void;
  draw(cart: Cart, charges: readonly Charge[], next: string): void;
}

export function laneView(lane: Lane, root: HTMLElement, how: string, code: string, orderNow: () => Order): LaneView {
  const slug = lane.name.replace(' ', '-');
  const heading = part(root, 'name');
  heading.id = `lane-${slug}`;
  root.setAttribute('aria-labelledby', heading.id);
  root.dataset['lane'] = slug;
  say(heading, lane.name);
  say(part(root, 'how'), how);
  say(part(root, 'code'), code.trim());

  const pay = part<HTMLButtonElement>(root, 'pay');
  const mash = part<HTMLButtonElement>(root, 'mash');
  const check = part<HTMLButtonElement>(root, 'check');
  const cancel = part<HTMLButtonElement>(root, 'cancel');
  pay.addEventListener('click', () => lane.pay(orderNow()));
  mash.addEventListener('click', () => {
    for (let click = 0; click < MASH_CLICKS; click++) setTimeout(() => pay.click(), click * MASH_EVERY_MS);
  });
  check.addEventListener('click', () => lane.check?.());
  cancel.addEventListener('click', () => lane.cancel?.());

  const status = part(root, 'status');
  const draw: LaneView['draw'] = (cart, charges, next) => {
    const { seen } = lane;
    const paying = seen.is === 'paying';
    const own = charges.filter((charge) => charge.lane === lane.name && charge.cart === cart.id);
    status.dataset['is'] = seen.is;
    say(status, wordsOf(seen, lane));
    say(part(root, 'progress'), paying ? (seen.progress ?? '') : '');
    say(pay, `Pay ${euros(amountOf(cart))}`);
    pay.setAttribute('aria-busy', String(paying));
    keepingFocus(root, status, () => {
      // The plain lane has to disable its button. With oncefetch, several clicks are one operation.
      pay.disabled = seen.is === 'paid' || (paying && !lane.cancel);
      mash.disabled = seen.is === 'paid';
      check.hidden = !(seen.is === 'unsure' && !seen.found);
      cancel.hidden = !(paying && lane.cancel);
    });
    say(part(root, 'next'), next);
    const verdict = verdictOf(seen, own, cart.started);
    part(root, 'verdict').dataset['tone'] = verdict.tone;
    say(part(root, 'verdict-says'), verdict.says);
  };
  return { lane, told: part(root, 'told'), status, list: part(root, 'timeline'), press: () => pay.click(), draw };
}

/** What the screen says, in a shop's words. The plain lane uses the words of most shops. */
export function wordsOf(seen: Seen, { check }: Pick<Lane, 'check'>): string {
  switch (seen.is) {
    case 'ready':
      return 'Ready to pay.';
    case 'paying':
      return 'Paying…';
    case 'paid':
      return seen.receipt ? `Paid ${euros(seen.receipt.amount)}. Thank you! Receipt no. ${seen.receipt.id}.` : 'Paid. Thank you!';
    case 'declined':
      return check ? 'Your card was declined, nothing was charged. Choose another card.' : 'Your card was declined. Choose another card.';
    case 'refused':
      return `Not paid: the shop refused (${seen.status}). Nothing was charged.`;
    case 'failed':
      return 'Payment failed. Please try again.';
    case 'unsent':
      return 'Not sent. Nothing was charged.';
    case 'unsure':
      if (seen.late) return 'Nobody can tell whether you have paid, and it is too late to send it again. Check, or write to the shop.';
      return seen.found
        ? 'Check it, or pay again: you will be charged once.'
        : 'Not sure yet: the shop may have charged you. Check, or pay again: you will be charged once.';
  }
}
