/**
 * Idempotency keys as draft-ietf-httpapi-idempotency-key-header describes them, in a table of the database that also
 * holds the charges.
 *
 * A request makes two commits. The first one takes the key: before anything else happens, it inserts a row without an
 * answer under a unique constraint, so that of all copies only one gets the row. The second one stores the answer, in
 * one transaction with the charge. If a charge took no time, one commit would do. But it does take time, and the server
 * can die in between.
 *
 * So a kill leaves one of two things: a row without an answer and no charge, or a charge with its stored answer. In the
 * first case, the next attempt takes the row over. To make that safe, each row has the boot id of the server that took
 * it: nobody is working on a row without an answer from another boot, and such a row proves that there is no charge,
 * because charge and answer are one commit. Several servers over one database would need a lease with a heartbeat
 * instead.
 */
import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { transaction } from './database.ts';
import { type Answer, problem } from './http.ts';

export const REPLAY_HEADER = 'idempotent-replayed';

export interface KeyedRequest {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly lane: string;
  readonly cart: string;
}

interface Row {
  readonly fingerprint: string;
  readonly boot: string;
  readonly answer: string | null;
}

export class IdempotencyKeys {
  readonly #db: DatabaseSync;
  readonly #boot: string;
  readonly #windowMs: number;
  /** Seconds. */
  readonly #retryAfter: number;

  constructor(db: DatabaseSync, options: { readonly boot: string; readonly windowMs: number; readonly retryAfter?: number | undefined }) {
    this.#db = db;
    this.#boot = options.boot;
    this.#windowMs = options.windowMs;
    this.#retryAfter = options.retryAfter ?? 1;
  }

  /** Takes the key. Returns `undefined` if this request is to be executed, otherwise its answer. */
  take(request: KeyedRequest): Answer | undefined {
    const { key, method, path, body, lane, cart } = request;
    const fingerprint = hash('sha256', `${method} ${path}\n${body}`);
    const now = Date.now();
    return transaction(this.#db, () => {
      this.#db.prepare('DELETE FROM idempotency_keys WHERE key = ? AND answer IS NOT NULL AND at <= ?').run(key, now - this.#windowMs);
      const inserted = this.#db
        .prepare('INSERT INTO idempotency_keys (key, fingerprint, boot, cart, lane, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
        .run(key, fingerprint, this.#boot, cart, lane, now);
      if (inserted.changes === 1) return undefined;

      const row = this.#db.prepare('SELECT fingerprint, boot, answer FROM idempotency_keys WHERE key = ?').get(key) as unknown as Row;
      if (row.fingerprint !== fingerprint) return keyProblem(422, 'Idempotency-Key is already used');
      if (row.answer !== null) {
        const answer = JSON.parse(row.answer) as Answer;
        return { ...answer, headers: { ...answer.headers, [REPLAY_HEADER]: 'true' } };
      }
      if (row.boot === this.#boot) return outstanding(this.#retryAfter);
      this.#db.prepare('UPDATE idempotency_keys SET boot = ? WHERE key = ?').run(this.#boot, key);
      return undefined;
    });
  }

  /** Stores the answer, inside the transaction of its charge. Throws if another server has taken the key over, which rolls the charge back. */
  settle(key: string, answer: Answer): void {
    const { changes } = this.#db
      .prepare('UPDATE idempotency_keys SET answer = ? WHERE key = ? AND boot = ? AND answer IS NULL')
      .run(JSON.stringify(answer), key, this.#boot);
    if (changes !== 1) throw new Error('the key was taken over while it was processed');
  }

  /** Releases a key that was taken, but under which nothing happened. */
  release(key: string): void {
    this.#db.prepare('DELETE FROM idempotency_keys WHERE key = ? AND boot = ? AND answer IS NULL').run(key, this.#boot);
  }

  /** Removes keys after their window, in batches, so that no request waits for one long delete. Returns the number removed. */
  cleanUp(batch = 500): number {
    const remove = this.#db.prepare(
      `DELETE FROM idempotency_keys WHERE key IN (SELECT key FROM idempotency_keys WHERE at <= ? AND (answer IS NOT NULL OR boot <> ?) LIMIT ?)`,
    );
    return Number(remove.run(Date.now() - this.#windowMs, this.#boot, batch).changes);
  }
}

const TYPE = 'https://developer.example.com/idempotency';
const keyProblem = (status: number, title: string, headers?: Record<string, string>) => problem(status, { type: TYPE, title }, headers);

const outstanding = (retryAfter: number): Answer => keyProblem(409, 'A request is outstanding for this Idempotency-Key', { 'retry-after': String(retryAfter) });

/** The error answer if the header's value is not a key; `undefined` if it is one. The value is opaque: quotes are part of it. */
export const refusedKey = (value: string): Answer | undefined =>
  /^[\x21-\x7e]{1,255}$/.test(value) ? undefined : keyProblem(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
