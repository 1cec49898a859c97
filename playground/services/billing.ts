/** The billing service, one of several copies: takes messages, charges, tells the orders service, and only then says that it is done. */
import { outcomeOf, run } from 'oncefetch';
import { clientOf, env } from './common.ts';

/** Messages that a copy works on at once. */
const LANES = 4;
const IDLE_MS = 50;

// A message that another copy works on is left to it; the queue delivers again if that one dies.
const once = await clientOf('billing', { whenBusy: 'reject' });

interface Message {
  readonly id: string;
  readonly order: string;
  readonly amount: number;
}

const queue = (path: string, body: object = {}) => fetch(`${env('QUEUE')}${path}`, { method: 'POST', body: JSON.stringify(body) });

async function handle({ id, order, amount }: Message): Promise<void> {
  const charge = await run(once, ['charge', order], async ({ key, signal }) => {
    const body = JSON.stringify({ cart: order, amount, card: '4242' });
    const response = await fetch(`${env('PROVIDER')}/api/payments`, { method: 'POST', body, headers: { 'idempotency-key': key }, signal });
    if (response.status !== 201) throw new Error(`the provider says ${response.status}`);
    return ((await response.json()) as { id: number }).id;
  });
  await once
    .fetch(`${env('ORDERS')}/receipts`, { method: 'POST', body: JSON.stringify({ order, charge }), once: ['receipt', order] })
    .then(({ ok, status }) => {
      if (!ok) throw new Error(`orders says ${status}`);
    })
    // Delivered again, and it was done the first time.
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
    // Whatever went wrong: it is not done, so it comes again.
    if (message) await handle(message).catch(() => {});
    else await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  }
}

process.send?.({ port: 0 });
process.once('disconnect', () => process.exit());
await Promise.all(Array.from({ length: LANES }, lane));
