/** `POST /api/payments`: charges a cart once per idempotency key. Without a key, it charges at every request. */
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from './database.ts';
import { type Answer, json, number, parseObject, problem, text } from './http.ts';
import { type IdempotencyKeys, refusedKey } from './idempotency-keys.ts';

/** Stripe's test number for a declined card, so that nobody enters a real number. */
export const DECLINED_CARD = '4000000000000002';

export interface PaymentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly key: string | undefined;
  readonly lane: string;
}

/** Points of a payment, after its key was taken, at which a fault can act. */
export interface Moments {
  /** The key is written, and nothing else. */
  readonly beforeCharge?: (() => Promise<void>) | undefined;
  /** The charge is written but its answer is not, and nothing is committed. */
  readonly beforeCommit?: (() => void) | undefined;
  readonly afterCommit?: (() => void) | undefined;
}

export class Payments {
  /** The number of payments in progress. */
  busy = 0;
  readonly #db: DatabaseSync;
  readonly #keys: IdempotencyKeys;
  readonly #chargeMs: number;

  constructor(db: DatabaseSync, keys: IdempotencyKeys, options: { readonly chargeMs: number }) {
    this.#db = db;
    this.#keys = keys;
    this.#chargeMs = options.chargeMs;
  }

  /** Runs to its end even if the client has gone, as servers do. */
  async pay(request: PaymentRequest, moments: Moments = {}): Promise<Answer> {
    // Checked before the key is taken, so that a malformed request does not use up a key.
    const order = readOrder(request.body);
    const { key } = request;
    if (key === undefined) return this.#charge(request, order, moments);
    const answer = refusedKey(key) ?? this.#keys.take({ ...request, key, cart: order.cart });
    if (answer) return answer;
    try {
      return await this.#charge(request, order, moments);
    } catch (error) {
      this.#keys.release(key);
      throw error;
    }
  }

  async #charge({ key, lane }: PaymentRequest, order: Order, moments: Moments): Promise<Answer> {
    this.busy++;
    try {
      await sleep(this.#chargeMs / 2);
      await moments.beforeCharge?.();
      const answer = transaction(this.#db, () => {
        const charged = order.card === DECLINED_CARD ? declined(order) : this.#insert(order, lane, key);
        moments.beforeCommit?.();
        // A refusal is stored, too: the same key gets the same answer until the customer corrects the card.
        if (key !== undefined) this.#keys.settle(key, charged);
        return charged;
      });
      moments.afterCommit?.();
      await sleep(this.#chargeMs / 2);
      return answer;
    } finally {
      this.busy--;
    }
  }

  #insert({ cart, amount }: Order, lane: string, key: string | undefined): Answer {
    const { lastInsertRowid } = this.#db
      .prepare('INSERT INTO charges (cart, lane, amount, key, at) VALUES (?, ?, ?, ?, ?)')
      .run(cart, lane, amount, key ?? null, Date.now());
    return json(201, { id: Number(lastInsertRowid), cart, amount, state: 'paid' });
  }
}

interface Order {
  readonly cart: string;
  readonly amount: number;
  readonly card: string;
}

function readOrder(body: string): Order {
  const { cart, amount, card } = parseObject(body);
  return { cart: text(cart, 'cart'), amount: Math.round(number(amount, 'amount', 1, 1_000_000)), card: text(card, 'card') };
}

const declined = ({ cart }: Order): Answer => problem(402, { title: 'The card was declined', code: 'card_declined', cart });
