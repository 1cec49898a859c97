export { type OutboxOptions, outbox } from '../integrations/service-worker/outbox.js';
