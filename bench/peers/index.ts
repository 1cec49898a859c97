/**
 * The peers, each used as in its own documentation, and told to retry POSTs if it does not do so by default. They are not installed
 * with the project: run `npm ci` in this folder. They are loaded by name, so that the project's types do not need them.
 */
import { readFileSync } from 'node:fs';

/** Sends one POST with a JSON body and an idempotency key, resolves with the answer's JSON. */
export type Call = (url: string, body: string, key: string) => Promise<unknown>;
export type Fetch = typeof globalThis.fetch;

// Without types: they are not installed with the project.
const load = (name: string) =>
  import(name).catch((cause) => {
    throw new Error(`${name} is not installed: run "npm ci" in bench/peers`, { cause });
  });

const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { devDependencies: Record<string, string> };
export const versions: Readonly<Record<string, string>> = devDependencies;

/** Attempts that each client may make, if it has an option for that. */
export const ATTEMPTS = 5;

const headers = (key: string) => ({ 'content-type': 'application/json', 'idempotency-key': key });
const answer = (response: Response): Promise<unknown> => {
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
  return response.json();
};

/** Makes a client over `fetch`, by name. `defaults` means without options for POST. */
export const peers: Readonly<Record<string, (fetch: Fetch) => Promise<Call>>> = {
  'plain fetch': async (fetch) => async (url, body, key) => answer(await fetch(url, { method: 'POST', headers: headers(key), body })),
  'ky, defaults': async (fetch) => {
    const { default: ky } = await load('ky');
    const client = ky.create({ fetch });
    return (url, body, key) => client.post(url, { body, headers: headers(key) }).json();
  },
  ky: async (fetch) => {
    const { default: ky } = await load('ky');
    const client = ky.create({ fetch, retry: { limit: ATTEMPTS - 1, methods: ['post'] } });
    return (url, body, key) => client.post(url, { body, headers: headers(key) }).json();
  },
  'axios + axios-retry': async (fetch) => {
    const { default: axios } = await load('axios');
    const { default: retry } = await load('axios-retry');
    // With the adapter for fetch, so that all peers send in the same way.
    const client = axios.create({ adapter: 'fetch', env: { fetch, Request, Response } });
    retry(client, { retries: ATTEMPTS - 1, retryCondition: retriedByAxios, retryDelay: retry.exponentialDelay });
    return async (url, body, key) => (await client.post(url, body, { headers: headers(key) })).data;
  },
  'fetch-retry': async (fetch) => {
    const { default: wrap } = await load('fetch-retry');
    const client = wrap(fetch, { retries: ATTEMPTS - 1, retryOn: [429, 500, 502, 503, 504] }) as Fetch;
    return async (url, body, key) => answer(await client(url, { method: 'POST', headers: headers(key), body }));
  },
  'p-retry': async (fetch) => {
    const { default: pRetry } = await load('p-retry');
    return (url, body, key) => pRetry(async () => answer(await fetch(url, { method: 'POST', headers: headers(key), body })), { retries: ATTEMPTS - 1 });
  },
  ofetch: async (fetch) => {
    const { createFetch } = await load('ofetch');
    const client = createFetch({ fetch, Headers, AbortController });
    return (url, body, key) => client(url, { method: 'POST', headers: headers(key), body, retry: ATTEMPTS - 1 });
  },
  'idempotent-fetch': async (fetch) => {
    const { idempotentFetch } = await load('idempotent-fetch');
    return async (url, body, key) =>
      answer((await idempotentFetch(url, { fetch, method: 'POST', headers: { 'content-type': 'application/json' }, body, idempotency: { key } })).response);
  },
};

const retriedByAxios = (error: { response?: { status: number } }): boolean => !error.response || error.response.status >= 500 || error.response.status === 429;
