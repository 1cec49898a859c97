/** The service worker: nothing in it but the outbox. */
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
// The page's network is only played, so the browser does not notice that it is back.
addEventListener('message', (event: Event) => (event as Told).data === 'the network is back' && (event as Told).waitUntil(goOn()));
