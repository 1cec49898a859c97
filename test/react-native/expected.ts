/** The expected result of each scenario, in every environment: what the customer sees, and what the server saw. */
import { expect } from 'vitest';
import type { Seen } from './realm/shop-rules.js';
import type { Says } from './support.js';

const HELLO = 'héllo 世界 😀';
const done = { effect: 'done', says: HELLO };
const NO_KEYS = /react-native-get-random-values.*reactNative\(\{ randomUUID: Crypto\.randomUUID \}\).*expo-crypto/;

interface Expected {
  readonly sees: object;
  readonly server: { readonly requests: number; readonly charges: number; readonly keys: number };
  readonly body?: string;
  /** Requests that the app gave up on, closing their connections. */
  readonly aborted?: number;
}

const server = (requests: number, charges: number, keys = 1) => ({ requests, charges, keys });

export const EXPECTED: Readonly<Record<string, Expected>> = {
  'an answer': { sees: { ...done, type: 'fresh', attempts: 1 }, server: server(1, 1), body: `{"says":"${HELLO}"}` },
  'the answer is lost': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1) },
  'the server is away for a moment': { sees: { ...done, attempts: 2 }, server: server(2, 1) },
  'in progress': { sees: { ...done, attempts: 2 }, server: server(2, 1) },
  declined: { sees: { effect: 'none', type: 'rejected', attempts: 1, says: 'declined' }, server: server(1, 0) },
  'declined after a lost answer': { sees: { effect: 'unknown', attempts: 2, says: 'declined' }, server: server(2, 1) },
  'an attempt takes too long': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1), aborted: 1 },
  'the body is cut off': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1) },
  // The system itself makes the second request, to the page.
  'a redirect to a page': { sees: { effect: 'unknown' }, server: server(2, 1) },
  'nobody is there': { sees: { effect: 'unknown', attempts: 2, says: 'ERR_ONCE_UNKNOWN' }, server: server(0, 0, 0) },
  'bytes as a body': { sees: { ...done, type: 'fresh' }, server: server(1, 1), body: `{"says":"${HELLO}"}` },
  'a form as a body': { sees: { ...done, type: 'fresh' }, server: server(1, 1), body: 'says=hello' },
  'a fetch that was handed in': { sees: { ...done, type: 'replayed', calls: 2 }, server: server(2, 1) },
  // The request left the device, and nobody knows whether it took effect.
  'the customer gives up': { sees: { effect: 'unknown' }, server: server(1, 1) },
  'two taps': { sees: { one: { ...done, type: 'fresh', attempts: 1 }, two: { ...done } }, server: server(1, 1) },
  'cut on the way to the background': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1) },
  'no source of keys': { sees: { effect: 'no outcome', says: expect.stringMatching(NO_KEYS) }, server: server(0, 0, 0) },
};

/** What the server saw, by scenario and environment, as the table in the docs words it. */
export const cells = new Map<string, Map<string, string>>();

/** Compares the result of a scenario with the expected one, and records it for the table in the docs. */
export function judge(scenario: string, environment: string, saw: Says, { requests, charges, keys, bodies, aborted }: Seen): void {
  const effect = saw['effect'] ?? (saw['one'] as Says | undefined)?.['effect'];
  const row = cells.get(scenario) ?? new Map<string, string>();
  cells.set(scenario, row.set(environment, `${effect}: ${requests}, ${charges}, ${keys.size}`));
  const expected = EXPECTED[scenario];
  expect(saw).toMatchObject(expected?.sees ?? {});
  expect({ requests, charges, keys: keys.size }).toEqual(expected?.server);
  if (expected?.body !== undefined) expect([...bodies]).toEqual([expected.body]);
  if (expected?.aborted !== undefined) expect(aborted).toBe(expected.aborted);
}
