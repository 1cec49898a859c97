/** The service worker of the page that is killed. It runs only the outbox. */
import { outbox } from 'oncefetch/service-worker';
import { clientFor, whoIsHere } from './client.ts';

interface Waits extends Event {
  readonly data?: unknown;
  waitUntil(work: Promise<unknown>): void;
}

const own = globalThis as unknown as { skipWaiting(): Promise<void>; readonly clients: { claim(): Promise<void> } };
addEventListener('install', () => void own.skipWaiting());
addEventListener('activate', (event) => (event as Waits).waitUntil(own.clients.claim()));
const goOn = outbox(
  clientFor(() => undefined),
  { namespace: whoIsHere },
);
// Any message starts a stopped worker. This message also makes a running worker resume its payments.
addEventListener('message', (event: Event) => (event as Waits).data === 'go on' && (event as Waits).waitUntil(goOn()));
