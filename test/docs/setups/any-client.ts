/** An HTTP client of another package: it accepts a fetch, and has options of its own that it does not pass on. */
import * as oncefetch from 'oncefetch';
import { show } from '../support/stage.js';

export const { createOnce } = oncefetch;

interface SdkOptions {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly headers?: Record<string, string> | undefined;
}

export class ShopSdk {
  readonly #options: SdkOptions;

  constructor(options: SdkOptions) {
    this.#options = options;
  }

  async createPayment(order: { cart: string }): Promise<{ id: string }> {
    const { baseUrl, fetch, headers = {} } = this.#options;
    const response = await fetch(`${baseUrl}/payments`, { method: 'POST', headers, body: JSON.stringify(order) });
    if (!response.ok) throw new Error(`payment: ${response.status}`, { cause: response });
    return (await response.json()) as { id: string };
  }
}
export { show };
