/** A server process that calls its payment provider by got: a stand-in for the few members of got that the guide uses. */
import * as oncefetch from 'oncefetch';
import { shop, show } from '../support/stage.js';

interface GotOptions {
  readonly json: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly retry: { readonly limit: number };
  readonly signal: AbortSignal;
}

export const order = { id: 'o-42', total: 4200 };
export const ledger = shop().origin;
export const once = oncefetch.createOnce({ namespace: 'billing', store: oncefetch.memoryStore() });
export const got = {
  post: (url: string, { json, headers, signal }: GotOptions) => ({
    async json<T>(): Promise<T> {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(json), headers: { ...headers, 'content-type': 'application/json' }, signal });
      if (!response.ok) throw Object.assign(new Error(`Response code ${response.status}`), { response: { statusCode: response.status } });
      return (await response.json()) as T;
    },
  }),
};
export { show };
