/** The service worker of the page that is killed: nothing in it but the outbox. */
import { outbox } from 'oncefetch/service-worker';
import { clientFor, whoIsHere } from './client.ts';

const own = globalThis as unknown as { skipWaiting(): Promise<void>; readonly clients: { claim(): Promise<void> } };
addEventListener('install', () => void own.skipWaiting());
addEventListener('activate', (event) => (event as Event & { waitUntil(work: Promise<void>): void }).waitUntil(own.clients.claim()));
outbox(
  clientFor(() => undefined),
  { namespace: whoIsHere },
);
