/**
 * The orders service, one of several copies. It takes orders and puts a message into the queue for each one. It also takes
 * receipts and writes them into its database.
 */

import { DatabaseSync } from 'node:sqlite';
import { run } from 'oncefetch';
import { clientOf, env, listen } from './common.ts';

const db = new DatabaseSync(env('ORDERS_DB'), { timeout: 5000 });
const once = await clientOf('orders');

/** An effect through a request: the request carries the key, and the queue drops a second copy. */
const place = (order: string, amount: number) =>
  run(once, ['place', order], async ({ child, signal }) => {
    const body = JSON.stringify({ order, amount });
    const response = await fetch(`${env('QUEUE')}/messages`, { method: 'POST', body, headers: { 'idempotency-key': child('message') }, signal });
    if (!response.ok) throw new Error(`the queue says ${response.status}`);
    return { state: 'placed' };
  });

/** An effect in the service's own database: the same transaction stores the key. */
const receive = (order: string, charge: number) =>
  run(once, ['receipt', order], ({ key }) => {
    db.prepare('INSERT INTO receipts (key, order_id, charge) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING').run(key, order, charge);
    return { state: 'paid' };
  });

const port = await listen({
  'POST /orders': async ({ order, amount }) => ({ status: 201, body: await place(String(order), Number(amount)) }),
  'POST /receipts': async ({ order, charge }) => ({ status: 201, body: await receive(String(order), Number(charge)) }),
});
process.send?.({ port });
process.once('disconnect', () => process.exit());
