/** Servers that expect the key in different headers. */
import { shop, show } from '../support/stage.js';

export const api = shop().origin;
export const headersThatArrived = (): string[] =>
  shop().arrived.map((headers) => ['idempotency-key', 'x-request-id'].find((name) => name in headers) ?? 'none');
export { show };
