/** What the two lanes have in common: each shows a customer something. */
import type { Order } from '../cart.ts';
import type { LaneName, Receipt } from '../shop.ts';

/** What the customer sees. */
export type Seen =
  | { readonly is: 'ready' }
  | { readonly is: 'paying'; readonly progress?: string | undefined }
  | { readonly is: 'paid'; readonly receipt?: Receipt | undefined }
  | { readonly is: 'declined' }
  /** The server said no, and that is the end of it. */
  | { readonly is: 'refused'; readonly status: number }
  /** "Something went wrong", which is all that plain fetch can tell. */
  | { readonly is: 'failed' }
  | { readonly is: 'unsent' }
  /** `found`: this page was told by what is stored, not by a call of its own. `late`: a press sends nothing any more. */
  | { readonly is: 'unsure'; readonly found: boolean; readonly late?: boolean };

export interface Lane {
  readonly name: LaneName;
  readonly seen: Seen;
  pay(order: Order): void;
  /** Asks what became of the cart's payment. */
  check?(): void;
  cancel?(): void;
  /** Another cart: what was seen belongs to the last one. */
  turnTo(cart: string): void;
  onChange(listener: () => void): void;
}
