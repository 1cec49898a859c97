/** A new key for each call, kept across its retries: what stripe-node does, and axios-retry with a key in the headers. */
import axios, { AxiosError } from 'axios';
import { bodyOf, HEADERS, type Pay, sleep, URL_ } from './lane.ts';

const RETRIES = 2;

/** No answer, a conflict, or a server error. */
const isRetryable = (error: unknown): boolean => {
  const status = error instanceof AxiosError ? error.response?.status : 0;
  return status === undefined || status === 409 || status >= 500;
};

export const keyPerCall: Pay = async (order) => {
  const headers = { ...HEADERS, 'idempotency-key': crypto.randomUUID() };
  for (let retries = 0; ; retries++) {
    try {
      await axios.post(URL_, bodyOf(order), { headers });
      return 'done';
    } catch (error) {
      if (retries === RETRIES || !isRetryable(error)) return 'none';
      await sleep(Math.min(500 * 2 ** retries, 5000));
    }
  }
};
