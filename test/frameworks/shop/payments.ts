/** What the server of each shop does: it has the bank charge a cart once, and knows afterwards what happened. */
import { DatabaseSync } from 'node:sqlite';
import { createOnce, outcomeOf, pending } from 'oncefetch/node';
import { sqliteStore } from 'oncefetch/sqlite';

const db = new DatabaseSync(process.env['DATABASE'] ?? 'shop.db', { timeout: 5000 });
db.exec('CREATE TABLE IF NOT EXISTS orders (user TEXT, cart TEXT, receipt INTEGER, PRIMARY KEY (user, cart))');
// Keeps a receipt, whatever comes later.
const remember = db.prepare('INSERT INTO orders VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET receipt = coalesce(receipt, excluded.receipt)');
// Called before a charge, so that a process that dies before `book` leaves no "not paid" behind.
const forgetRefusal = db.prepare('DELETE FROM orders WHERE cart = ? AND receipt IS NULL');

const store = sqliteStore({ database: db });
// A customer waits for the page: two attempts, and the next press goes on under the same key.
export const onceFor = (user: string) => createOnce({ namespace: user, store, durability: 'required', limits: { attempts: 2 } });

/** The request for the bank. */
function chargeOf(cart: string, card: string) {
  const body = JSON.stringify({ cart, card, amount: 4200 }); // the price is the server's
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body };
}

/** Asks the bank to charge a cart. */
export function bank(key: string, cart: string, card: string): Promise<Response> {
  forgetRefusal.run(cart);
  const init = chargeOf(cart, card);
  return fetch(`${process.env['BANK']}/api/payments`, { ...init, headers: { ...init.headers, 'idempotency-key': key } });
}

/** Records the bank's answer about a cart. */
export async function book(user: string, cart: string, answer: Response): Promise<void> {
  const { id = null } = answer.ok ? await answer.clone().json() : {};
  remember.run(user, cart, id);
}

/** The bank's answer, the same however often it is asked for; 504 while nobody knows. `user`: from the session, never from the form. */
export async function charge(user: string, cart: string, card: string): Promise<Response> {
  forgetRefusal.run(cart);
  try {
    const answer = await onceFor(user).fetch(`${process.env['BANK']}/api/payments`, { ...chargeOf(cart, card), once: ['pay', cart] });
    // After a lost answer a 402 proves nothing, and the browser would take it for "not paid".
    if (outcomeOf(answer)?.effect === 'unknown') return notKnown();
    await book(user, cart, answer);
    return answer;
  } catch (error) {
    const known = outcomeOf(error);
    if (!known) throw error;
    if (known.effect === 'done') return Response.json({ title: 'Paid before, with another card' });
    return notKnown();
  }
}

const notKnown = () => Response.json({ title: 'Not known yet' }, { status: 504 });

/** What a page says about a cart when it is rendered. */
export async function said(user: string, cart: string): Promise<string> {
  const order = db.prepare('SELECT receipt FROM orders WHERE user = ? AND cart = ?').get(user, cart);
  if (order?.['receipt']) return `Paid. Receipt no. ${order['receipt']}.`;
  const [open] = await pending(onceFor(user), { prefix: ['pay', cart] });
  if (open && open.expiresAt <= Date.now()) return 'We cannot tell whether you have paid. Please write to us.';
  if (open) return 'Not sure yet. Pay again: you will be charged once.';
  return order ? 'Not paid. Nothing was charged.' : '';
}
