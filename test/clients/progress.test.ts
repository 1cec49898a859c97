/**
 * Goal: clients report the same progress of uploads and downloads over `once.fetch` as over `fetch`. Method: compares the events of each
 * client over both, against a real server, but not the number of chunks, which depends on the network.
 */
import axios from 'axios';
import ky from 'ky';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOnce, memoryStore, type OnceInit } from '../../src/entries/node.js';
import { withOnce } from '../../src/integrations/ky.js';
import { type Echo, LARGE_BYTES, openEcho } from './support/echo.js';

type Fetch = typeof fetch;

interface Progress {
  readonly transferred: number;
  readonly total: number | undefined;
}

interface Transfer {
  readonly fetch: Fetch;
  readonly url: string;
  readonly once?: OnceInit;
  /** Absent: a download. */
  readonly body?: string | Blob;
  hears(progress: Progress): void;
}

const clients: Record<string, (transfer: Transfer) => Promise<unknown>> = {
  ky: ({ fetch, url, once, body, hears }) => {
    const heard = ({ transferredBytes, totalBytes }: { transferredBytes: number; totalBytes: number }) =>
      hears({ transferred: transferredBytes, total: totalBytes });
    if (body === undefined) return ky.get(url, { fetch, onDownloadProgress: heard }).arrayBuffer();
    return ky.post(url, { fetch, body, retry: 0, timeout: false, onUploadProgress: heard, ...(once !== undefined && { once }) }).json();
  },
  axios: async ({ fetch, url, once, body, hears }) => {
    const api = axios.create({ adapter: 'fetch', env: { fetch }, ...(once !== undefined && { fetchOptions: { once } as object }) });
    const heard = ({ loaded, total }: { loaded: number; total?: number | undefined }) => hears({ transferred: loaded, total });
    if (body === undefined) return api.get(url, { responseType: 'arraybuffer', onDownloadProgress: heard });
    return (await api.post(url, body, { onUploadProgress: heard })).data;
  },
};

const MINE: OnceInit = ['upload', 1];
const onceFetch = (): Fetch => createOnce({ namespace: 'ann', store: memoryStore(), retry: { minDelayMs: 1, maxDelayMs: 2 } }).fetch as Fetch;

let echo: Echo;
beforeAll(async () => void (echo = await openEcho()));
afterAll(() => echo.close());

/** The last event, whether the count only ever grew, and the requests that arrived. */
async function progress(transfer: (transfer: Transfer) => Promise<unknown>, of: Omit<Transfer, 'hears'>) {
  const events: Progress[] = [];
  echo.arrivals.splice(0);
  await transfer({ ...of, hears: (event) => events.push(event) });
  const grows = events.every(({ transferred }, n) => transferred >= (events[n - 1]?.transferred ?? 0));
  const arrivals = echo.arrivals.map(({ method, bytes, digest }) => ({ method, bytes, digest }));
  return { last: events.at(-1), grows, some: events.length > 0, arrivals };
}

describe.each(Object.entries(clients))('%s', (_, transfer) => {
  test('a download: reports the same progress', async () => {
    const url = echo.at('large');
    const expected = await progress(transfer, { fetch, url });
    expect(expected).toMatchObject({ last: { transferred: LARGE_BYTES }, grows: true });
    expect(await progress(transfer, { fetch: onceFetch(), url })).toEqual(expected);
  });

  test.each([
    ['text', 'x'.repeat(500_000)],
    ['a Blob', new Blob(['x'.repeat(500_000)], { type: 'text/x' })],
  ])('an upload of %s: reports the same progress with once: false, without a name, and with a name', async (_, body) => {
    const url = echo.at('told');
    const expected = await progress(transfer, { fetch, url, body });
    expect(expected).toMatchObject({ last: { transferred: 500_000 }, grows: true, arrivals: [{ bytes: 500_000 }] });
    expect(await progress(transfer, { fetch: onceFetch(), url, body, once: false })).toEqual(expected);
    expect(await progress(transfer, { fetch: onceFetch(), url, body })).toEqual(expected);
    expect(await progress(transfer, { fetch: onceFetch(), url, body, once: MINE })).toEqual(expected);
  });
});

test('ky through withOnce reports the progress of an upload', async () => {
  const body = 'x'.repeat(500_000);
  const last: number[] = [];
  const api = withOnce(ky, createOnce({ namespace: 'ann', store: memoryStore() }));
  await api.post(echo.at('told'), { body, once: MINE, onUploadProgress: ({ transferredBytes }) => last.push(transferredBytes) });
  expect(last.at(-1)).toBe(500_000);
});
