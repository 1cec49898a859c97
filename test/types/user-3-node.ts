import { DelayedError, UnrecoverableError, Worker } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import { close, createOnce, extend, outcomeOf, run } from 'oncefetch';
import { stripe as stripeDialect, stripeVerdict } from 'oncefetch/dialects';
import { redisStore } from 'oncefetch/redis';
import Stripe from 'stripe';

const redis = new Redis();
const stripe = new Stripe('sk', { maxNetworkRetries: 0 });
const once = createOnce({ namespace: 'billing', store: redisStore(redis), durability: 'required' });
const toStripe = extend(once, { dialect: stripeDialect() }); // same store, claims and retry budget
new Worker<{ orderId: string; amount: number; card: string }>(
  'charges',
  async (job, token) => {
    const { orderId, amount, card } = job.data;
    try {
      const intent = await run(
        toStripe,
        ['charge', orderId],
        ({ key }) => stripe.paymentIntents.create({ amount, currency: 'eur', payment_method: card, confirm: true }, { idempotencyKey: key }),
        { verdict: stripeVerdict, limits: { attempts: 2 } },
      );
      await once.fetch('http://ledger/entries', { method: 'POST', body: JSON.stringify({ orderId, intent: intent.id }), once: ['ledger', orderId] });
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome?.type === 'rejected') throw new UnrecoverableError(String(error)); // declined: tell the customer, a new card gets a new key
      if (outcome?.type === 'unknown' && outcome.retryAt) {
        await job.moveToDelayed(outcome.retryAt, token);
        throw new DelayedError();
      }
      throw error; // unknown: the queue delivers again, same name, same key
    }
  },
  { connection: { host: '127.0.0.1' } },
);
const app = express();
app.post('/webhooks', express.raw({ type: '*/*' }), async (req, res) => {
  const event = stripe.webhooks.constructEvent(req.body as Buffer, req.header('stripe-signature')!, 'whsec');
  await run(once, ['stripe-event', event.id], ({ child }) => fulfil(event, child('ship')), { limits: { attempts: 1 } }); // child keys for what it calls
  res.sendStatus(200);
});
app.post('/orders/:id/pay', async (req, res) => {
  // what a customer sees while the outcome is unknown
  try {
    res.json(await run(once, ['order', req.params.id], ({ child }) => charge(req.params.id, child('charge'))));
  } catch (error) {
    const o = outcomeOf(error);
    if (o?.effect !== 'unknown') throw error;
    res.status(202).location(`/orders/${req.params.id}`).json({ state: 'confirming' });
  }
});
declare function fulfil(e: Stripe.Event, key: string): Promise<void>;
declare function charge(id: string, key: string): Promise<{ id: string }>;
process.on('SIGTERM', () => void close(once)); // no new attempts, waits end, running attempts get limits.attemptMs, leases are released
