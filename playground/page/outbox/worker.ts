/** The service worker. It contains only the outbox. */
import { outbox } from 'oncefetch/service-worker';
import { clientFor, customer } from './client.ts';

interface Told extends Event {
  readonly data?: unknown;
  waitUntil(work: Promise<unknown>): void;
}

const goOn = outbox(
  clientFor(() => undefined),
  { namespace: customer },
);
// The page only simulates a broken network, so the browser fires no event when it works again. The page sends a message
// instead.
addEventListener('message', (event: Event) => (event as Told).data === 'the network is back' && (event as Told).waitUntil(goOn()));
