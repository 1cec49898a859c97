/** Compares what customers wanted with what they were charged, for the page, and answers requests for the order page of a cart. */
import type { DatabaseSync } from 'node:sqlite';
import { type Answer, BadRequest, json, text } from './http.ts';

/** The counts of one lane. {@link ledgerOf} explains them. */
export interface LaneLedger {
  readonly lane: string;
  readonly wanted: number;
  readonly made: number;
  readonly duplicates: number;
  readonly lost: number;
  readonly open: number;
}

/**
 * - wanted: carts that the page declared, without those that ended refused (a declined card)
 * - made: charges
 * - duplicates: charges beyond the first of each cart
 * - lost: carts without a charge whose customer believes that it is paid, or has left
 * - open: carts without a charge whose customer is still trying
 */
export function ledgerOf(db: DatabaseSync): readonly LaneLedger[] {
  return db
    .prepare(
      `WITH counted AS (SELECT lane, cart, count(*) AS made FROM charges GROUP BY lane, cart),
            carts AS (SELECT lane, cart FROM intents UNION SELECT lane, cart FROM counted),
            facts AS (SELECT lane, cart, intents.at IS NOT NULL AS declared, ended, coalesce(made, 0) AS made
                      FROM carts LEFT JOIN intents USING (lane, cart) LEFT JOIN counted USING (lane, cart))
       SELECT lane, sum(declared AND ended IS NOT 'refused') AS wanted, sum(made) AS made, sum(max(made - declared, 0)) AS duplicates,
              sum(made = 0 AND ended IN ('done', 'gave-up', 'failed')) AS lost, sum(made = 0 AND declared AND ended IS NULL) AS open
       FROM facts GROUP BY lane ORDER BY lane`,
    )
    .all()
    .map((row) => ({ ...row, lost: row['lost'] ?? 0 }) as unknown as LaneLedger);
}

const ROWS_MAX = 200;

export const ledger = (db: DatabaseSync): Answer =>
  json(200, {
    lanes: ledgerOf(db),
    /** The latest carts first: what each customer was told in the end, and how often that customer was charged. */
    carts: db
      .prepare(
        `SELECT lane, cart, ended, (SELECT count(*) FROM charges WHERE charges.lane = intents.lane AND charges.cart = intents.cart) AS made
         FROM intents ORDER BY at DESC, rowid DESC LIMIT ?`,
      )
      .all(ROWS_MAX),
    /** The latest charges first; `nth` is 2 for the first duplicate of a cart. */
    rows: db
      .prepare('SELECT id, cart, lane, amount, key, at, row_number() OVER (PARTITION BY lane, cart ORDER BY id) AS nth FROM charges ORDER BY id DESC LIMIT ?')
      .all(ROWS_MAX),
  });

/** `POST /api/intents`: a customer wants this cart paid. Comes once more later, with `ended`: what the customer was told in the end. */
export function declareIntents(db: DatabaseSync, body: Record<string, unknown>): Answer {
  const intents = Array.isArray(body['intents']) ? (body['intents'] as Record<string, unknown>[]) : [body];
  const upsert = db.prepare(`INSERT INTO intents (lane, cart, at, ended) VALUES (?, ?, ?, ?) ON CONFLICT (lane, cart) DO UPDATE SET ended = excluded.ended`);
  for (const { lane, cart, ended } of intents) {
    if (ended !== undefined && ended !== null && !['done', 'gave-up', 'failed', 'refused'].includes(ended as string))
      throw new BadRequest('ended must be done, gave-up, failed or refused');
    upsert.run(text(lane, 'lane'), text(cart, 'cart'), Date.now(), (ended as string | null | undefined) ?? null);
  }
  return json(200, { declared: intents.length });
}

/** What the shop knows about a cart. */
export interface Order {
  readonly cart: string;
  /** `processing`: a key of this cart has no answer yet. `open`: there is no charge now, but one may follow. */
  readonly state: 'paid' | 'processing' | 'open';
  readonly charges: readonly { readonly id: number; readonly amount: number; readonly at: number }[];
}

export function orderOf(db: DatabaseSync, cart: string, lane: string | null = null): Order {
  const where = 'cart = ? AND (? IS NULL OR lane = ?)';
  const charges = db.prepare(`SELECT id, amount, at FROM charges WHERE ${where} ORDER BY id`).all(cart, lane, lane) as unknown as Order['charges'];
  const working = db.prepare(`SELECT 1 FROM idempotency_keys WHERE ${where} AND answer IS NULL`).get(cart, lane, lane);
  return { cart, state: charges.length > 0 ? 'paid' : working ? 'processing' : 'open', charges };
}

/** `GET /api/orders/by-cart/:id` */
export const orderByCart = (db: DatabaseSync, cart: string, lane: string | null): Answer => json(200, orderOf(db, cart, lane));
