/** The right lane: shows the state of the cart's operation, whichever page or tab runs it. */

import { type Operation, type OperationState, operation } from 'oncefetch';
import type { Order } from '../cart.ts';
import { intend, receiptOf } from '../shop.ts';
import type { Lane, Seen } from './lane.ts';
import { check, once, pay } from './once-pay.ts';

const nameOf = (cart: string): readonly [string, string] => ['pay', cart];

export class OnceLane implements Lane {
  readonly name = 'oncefetch';
  #cart = '';
  /** A new object for each cart. A call for an earlier cart finds another object when it ends, and changes nothing. */
  #turn = {};
  #operation: Operation | undefined;
  #unsubscribe = (): void => {};
  /** The result of the last call that this page made for the cart. */
  #told: Seen | undefined;
  /** Whether this page has made a call for the cart. */
  #called = false;
  #reported: Seen['is'] = 'ready';
  /** Whether another tab was refused. Needed because this tab keeps showing the first state that it saw of another tab's operation. */
  #refusedElsewhere = false;
  #calls = 0;
  #abort = new AbortController();
  #changed = (): void => {};

  get seen(): Seen {
    const state = this.#operation?.state ?? { phase: 'loading' };
    const progress = progressOf(state);
    if (this.#calls > 0 || progress !== undefined) return { is: 'paying', progress };
    if (state.phase === 'unsettled' && !this.#refusedElsewhere) return { is: 'unsure', found: !this.#called, late: state.pending.expiresAt <= Date.now() };
    if (state.phase === 'settled' && state.outcome.effect === 'done') return this.#told?.is === 'paid' ? this.#told : { is: 'paid' };
    if (state.phase === 'settled' && state.outcome.type === 'unsent') return { is: 'unsent' };
    return this.#told ?? { is: 'ready' };
  }

  turnTo(cart: string): void {
    this.#unsubscribe();
    this.#cart = cart;
    this.#turn = {};
    this.#calls = 0;
    this.#told = undefined;
    this.#called = false;
    this.#refusedElsewhere = false;
    this.#reported = 'ready';
    this.#operation = operation(once, nameOf(cart));
    this.#unsubscribe = this.#operation.subscribe(() => this.#notice());
    this.#notice();
  }

  /** Pays. Several clicks are one operation. */
  pay(order: Order): void {
    if (this.seen.is === 'paid') return;
    void intend(this.name, order.cart, null);
    if (this.#calls === 0) this.#abort = new AbortController();
    void this.#follow(pay(order, this.#abort.signal), order.cart);
  }

  check(): void {
    void intend(this.name, this.#cart, null);
    void this.#follow(check(this.#cart), this.#cart);
  }

  /** Another tab has reported a result. Resumes the payment from the store, without showing any progress. */
  async heardElsewhere(cart: string, done: boolean): Promise<void> {
    if (cart !== this.#cart || this.#calls > 0 || this.seen.is === 'paid') return;
    if (!done) {
      this.#refusedElsewhere = true;
      this.#told = undefined;
      return this.#changed();
    }
    const turn = this.#turn;
    const told = await check(cart);
    if (turn !== this.#turn || this.#calls > 0) return;
    this.#told = told;
    this.#notice();
  }

  cancel(): void {
    this.#abort.abort();
  }

  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  async #follow(call: Promise<Seen | undefined>, cart: string): Promise<void> {
    const turn = this.#turn;
    this.#calls++;
    this.#called = true;
    this.#told = undefined;
    this.#refusedElsewhere = false;
    this.#reported = 'paying';
    this.#changed();
    let told: Seen | undefined;
    try {
      told = await call;
    } finally {
      if (turn === this.#turn) {
        this.#calls--;
        this.#told = told;
        this.#notice();
      } else if (told) report(told.is, cart);
    }
  }

  /** Reports to the ledger what the customer is told now, and loads what the screen still needs. */
  #notice(): void {
    const { seen } = this;
    const turn = this.#turn;
    if (seen.is !== this.#reported) report(seen.is, this.#cart);
    this.#reported = seen.is;
    if (seen.is === 'paid' && !seen.receipt) {
      // Another page has paid, so the receipt comes from the order page.
      void receiptOf(this.name, this.#cart).then((receipt) => {
        if (turn !== this.#turn || !receipt) return;
        this.#told = { is: 'paid', receipt };
        this.#changed();
      });
    }
    this.#changed();
  }
}

function report(is: Seen['is'], cart: string): void {
  if (is === 'paid') void intend('oncefetch', cart, 'done');
  if (is === 'declined' || is === 'refused' || is === 'unsent') void intend('oncefetch', cart, 'refused');
}

const WAITS = {
  backoff: 'No answer yet. Asking again with the same key.',
  'retry-after': 'The shop asked for a moment. Then again, with the same key.',
  'in-progress': 'The shop is still working on it.',
  offline: 'You are offline. It goes on with the network.',
  'another-context': 'Another tab is paying this cart.',
} as const;

function progressOf(state: OperationState): string | undefined {
  if (state.phase === 'sending')
    return state.attempt === 1 ? 'Sent. Waiting for the shop.' : `Asking again with the same key, attempt ${state.attempt} of ${state.maxAttempts}.`;
  return state.phase === 'waiting' ? WAITS[state.why] : undefined;
}
