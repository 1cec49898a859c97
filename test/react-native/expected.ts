/** What each scenario must come to, in every environment: what the customer sees, and what the server saw. */
export interface Came {
  readonly effect: string;
  readonly requests: number;
  readonly charges: number;
  readonly keys: number;
}

const HELLO = 'héllo 世界 😀';
const done = { effect: 'done', says: HELLO };

export interface Expected {
  readonly sees: object;
  readonly server: { readonly requests: number; readonly charges: number; readonly keys: number };
  readonly body?: string;
}

const server = (requests: number, charges: number, keys = 1) => ({ requests, charges, keys });

export const EXPECTED: Readonly<Record<string, Expected>> = {
  'an answer': { sees: { ...done, type: 'fresh', attempts: 1 }, server: server(1, 1), body: `{"says":"${HELLO}"}` },
  'the answer is lost': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1) },
  'the server is away for a moment': { sees: { ...done, attempts: 2 }, server: server(2, 1) },
  'in progress': { sees: { ...done, attempts: 2 }, server: server(2, 1) },
  declined: { sees: { effect: 'none', type: 'rejected', attempts: 1, says: 'declined' }, server: server(1, 0) },
  'declined after a lost answer': { sees: { effect: 'unknown', attempts: 2, says: 'declined' }, server: server(2, 1) },
  'an attempt takes too long': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1) },
  'the body is cut off': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1) },
  'a redirect to a page': { sees: { effect: 'unknown' }, server: server(0, 1) },
  'nobody is there': { sees: { effect: 'unknown', attempts: 2, says: 'ERR_ONCE_UNKNOWN' }, server: server(0, 0, 0) },
  'bytes as a body': { sees: { ...done, type: 'fresh' }, server: server(1, 1), body: `{"says":"${HELLO}"}` },
  'a form as a body': { sees: { ...done, type: 'fresh' }, server: server(1, 1), body: 'says=hello' },
  'a fetch that was handed in': { sees: { ...done, type: 'replayed', calls: 2 }, server: server(2, 1) },
  // It left, and nobody knows what became of it.
  'the customer gives up': { sees: { effect: 'unknown' }, server: server(1, 1) },
  'two taps': { sees: { one: { ...done, type: 'fresh', attempts: 1 }, two: { ...done } }, server: server(1, 1) },
  'cut on the way to the background': { sees: { ...done, type: 'replayed', attempts: 2 }, server: server(2, 1) },
  'no source of keys': { sees: { effect: 'no outcome' }, server: server(0, 0, 0) },
};
