/**
 * Goal: a mutation that a GraphQL server refuses inside a 200 is none, and the guide says where to read that.
 * Method: each GraphQL client asks a server that answers in that way; its client has a dialect as in docs/clients.md.
 */
import { expect, test } from 'vitest';
import { defineDialect, inHeader } from '../../src/entries/dialects.js';
import { createOnce, memoryStore, type Outcome, outcomeOf } from '../../src/entries/node.js';
import { clients } from './support/clients.js';

const dialect = defineDialect({
  name: 'graphql-server',
  place: inHeader('Idempotency-Key'),
  answers: [{ status: 200, at: { 'errors.*.extensions.code': 'CARD_DECLINED' }, empty: 'data.*', means: 'refused' }],
});
const refusal = () => Response.json({ errors: [{ message: 'Declined', path: ['pay'], extensions: { code: 'CARD_DECLINED' } }], data: { pay: null } });

test.each([
  ['Apollo', undefined],
  ['graphql-request', undefined],
  ['urql', 'none'],
] as const)('%s: a refusal inside a 200 is told to onOutcome as none; its error says %s', async (client, said) => {
  const one = clients.find((other) => other.client === client);
  const outcomes: Outcome[] = [];
  const onOutcome = (outcome: Outcome) => outcomes.push(outcome);
  const once = createOnce({ ...one?.options, store: memoryStore(), namespace: 'ann', dialect, onOutcome, fetch: async () => refusal() });
  const end: unknown = await one
    ?.pay({ once, origin: 'http://shop.example', order: { cart: 'c-42', card: 'declined' }, name: ['pay', 'c-42'] })
    .catch((error: unknown) => error);
  expect(outcomes).toMatchObject([{ effect: 'none', type: 'rejected' }]);
  expect(end).toBeDefined();
  expect(one?.charge(end)).toBeUndefined();
  expect((outcomeOf(end) ?? outcomeOf((end as { error?: unknown }).error))?.effect).toBe(said);
});
