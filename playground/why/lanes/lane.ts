/** What a page of the comparison asks a lane for. */

/** One press of Pay, as the form sends it. */
export interface Order {
  readonly user: string;
  /** What the customer means to pay for, as the app names it. */
  readonly name: string;
  /** As the ledger knows it. */
  readonly cart: string;
  readonly amount: number;
  readonly card: string;
  /** The app knows that this server takes no keys. */
  readonly withoutKeys: boolean;
}

/** What the page tells its customer: paid, not paid, that it does not know, or that the order is paid as it was before it was edited. */
export type Word = 'done' | 'none' | 'unknown' | 'earlier';

export type Pay = (order: Order) => Promise<Word>;

export const URL_ = '/api/payments';

export const bodyOf = ({ cart, amount, card }: Order): string => JSON.stringify({ cart, amount, card });

export const HEADERS = { 'content-type': 'application/json' };

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
