/**
 * The billing service, one of several copies. For each message it makes the charge, tells the orders service, and only
 * then reports the message as done.
 */
import { outcomeOf } from 'oncefetch';
import { clientOf, env } from './common.ts';

/** The number of messages that a copy works on at once. */
const LANES = 4;
const IDLE_MS = 50;

// If another copy is working on a message, this one leaves it to that copy. The queue delivers it again if that copy
// dies or gives up after two attempts.
const once = await clientOf('billing', { whenBusy: 'reject', limits: { attempts: 2, attemptMs: 2000, totalMs: 20_000 } });

interface Message {
  readonly id: string;
  readonly order: string;
  readonly amount: number;
}

const queue = (path: string, body: object = {}) => fetch(`${env('QUEUE')}${path}`, { method: 'POST', body: JSON.stringify(body) });

async function handle({ id, order, amount }: Message): Promise<void> {
  const body = JSON.stringify({ cart: order, amount, card: '4242' });
  // When a message is delivered again, it gets the answer that was stored the first time.
  const paid = await once.fetch(`${env('PROVIDER')}/api/payments`, { method: 'POST', body, once: ['charge', order] });
  if (paid.status !== 201) throw new Error(`the provider says ${paid.status}`);
  const { id: charge } = (await paid.json()) as { id: number };
  await once
    .fetch(`${env('ORDERS')}/receipts`, { method: 'POST', body: JSON.stringify({ order, charge }), once: ['receipt', order] })
    .then(({ ok, status }) => {
      if (!ok) throw new Error(`orders says ${status}`);
    })
    // The message was delivered a second time, and the receipt is already written.
    .catch((error: unknown) => {
      if (outcomeOf(error)?.effect !== 'done') throw error;
    });
  await queue('/done', { id });
}

async function lane(): Promise<never> {
  for (;;) {
    const message = await queue('/take', { consumer: process.pid }).then(
      async (response) => (response.status === 200 ? ((await response.json()) as Message) : undefined),
      () => undefined,
    );
    // After any error the message is not reported as done, so the queue delivers it again.
    if (message) await handle(message).catch(() => {});
    else await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  }
}

process.send?.({ port: 0 });
process.once('disconnect', () => process.exit());
await Promise.all(Array.from({ length: LANES }, lane));
