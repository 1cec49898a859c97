/** An edge function whose client is made at module level. */
import { answer, clientOver } from './app.js';

const once = clientOver();

addEventListener('fetch', ((event: Event & { request: Request; respondWith(response: Promise<Response>): void }) =>
  event.respondWith(answer(once, event.request))) as EventListener);
