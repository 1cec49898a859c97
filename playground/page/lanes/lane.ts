/** What the two lanes share: each of them shows a screen to a customer. */
import type { Order } from '../cart.ts';
import type { LaneName, Receipt } from '../shop.ts';

/** What the customer sees. */
export type Seen =
  | { readonly is: 'ready' }
  | { readonly is: 'paying'; readonly progress?: string | undefined }
  | { readonly is: 'paid'; readonly receipt?: Receipt | undefined }
  | { readonly is: 'declined' }
  /** The server refused, and nothing more will happen. */
  | { readonly is: 'refused'; readonly status: number }
  /** "Something went wrong": plain fetch cannot tell more. */
  | { readonly is: 'failed' }
  | { readonly is: 'unsent' }
  /** `found`: the page learned this from the store, not from its own call. `late`: the server may have forgotten the key, so a press sends nothing. */
  | { readonly is: 'unsure'; readonly found: boolean; readonly late?: boolean };

export interface Lane {
  readonly name: LaneName;
  readonly seen: Seen;
  pay(order: Order): void;
  /** Finds out what happened to the payment of the cart. */
  check?(): void;
  cancel?(): void;
  /** Switches to another cart, and drops what was shown for the last one. */
  turnTo(cart: string): void;
  onChange(listener: () => void): void;
}
