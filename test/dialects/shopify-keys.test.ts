/**
 * Goal: what Shopify says of a key is read as it is meant, and nothing else is read as such. Method: `support/suite.ts`, and the error codes of the directive.
 */
import { describe, expect, test } from 'vitest';
import { shopify } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { HOUR, pay } from '../support/world.js';
import { plays, worldOf } from './support/suite.js';

const SET = 'mutation set($input: SetInput!) { inventorySetQuantities(input: $input) { inventoryAdjustmentGroup { id } userErrors { code message } } }';
const setting = (quantity: number) => ({ body: JSON.stringify({ query: SET, variables: { input: { quantity } } }) });
const answer = (userErrors: readonly object[], id?: string) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: { data: { inventorySetQuantities: { inventoryAdjustmentGroup: id === undefined ? null : { id }, userErrors } } },
});
const MESSAGE = 'A previous request with this idempotency key failed. Retry with a new idempotency key.';

describe.each([
  ['by its code', { code: 'IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED' }],
  ['by its message', { message: MESSAGE }],
])('Shopify says, %s, that a previous request with the key failed', (_, error) => {
  test('the outcome is none at once, and the next call has another key', async () => {
    const dialect = shopify();
    const world = worldOf(dialect);
    const { tab, once } = world.open({ dialect });
    const refused = await world.end(tab, pay(once, setting(1)), lost(), plays(answer([error])));
    expect(refused.outcome).toMatchObject({ type: 'rejected', effect: 'none', attempts: 2 });
    const done = await world.end(tab, pay(once, setting(1)), plays(answer([], 'gid://1'), true));
    expect(done.outcome).toMatchObject({ effect: 'done' });
    expect(done.outcome?.key).not.toBe(refused.outcome?.key);
  });

  test('beside a result of the mutation this proves nothing', async () => {
    const dialect = shopify();
    const world = worldOf(dialect);
    const { tab, once } = world.open({ dialect });
    world.server.plays(charged(lost()));
    world.server.otherwise = plays(answer([error], 'gid://1'));
    expect((await world.end(tab, pay(once, setting(1)))).outcome).toMatchObject({ effect: 'unknown' });
  });
});

test('"not found" after a lost answer: the object may have been made and deleted since, so the outcome stays open, however often this comes', async () => {
  const dialect = shopify();
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  world.server.plays(charged(lost()));
  world.server.otherwise = plays(answer([{ code: 'NOT_FOUND', message: 'Not found' }]));
  const first = await world.end(tab, pay(once, setting(1)));
  await world.clock.advance(HOUR);
  const second = await world.end(tab, pay(once, setting(1)));
  for (const { outcome } of [first, second]) expect(outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a mutation that takes the key as an argument may not compare payloads: a changed one is not sent under its key', async () => {
  const dialect = shopify({ field: 'variables.input.idempotencyKey' });
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  await world.end(tab, pay(once, { ...setting(1), limits: { attempts: 1 } }), charged(lost()));
  expect(await world.end(tab, pay(once, setting(2)))).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown' } });
  expect(world.server.arrivals).toHaveLength(1);
});

describe('errors that tell nothing of the effect', () => {
  const without = (code: string) =>
    plays({ status: 200, headers: { 'content-type': 'application/json' }, body: { errors: [{ message: code, extensions: { code } }] } });

  test.each([
    ['without data', without('INTERNAL_SERVER_ERROR')],
    ['as a user error', plays(answer([{ code: 'INTERNAL_ERROR', message: 'Internal error' }]))],
  ])('an internal error, %s, may have come after the effect: the same key goes out again, and its answer counts', async (_, trouble) => {
    const dialect = shopify();
    const world = worldOf(dialect);
    const { tab, once } = world.open({ dialect });
    const end = await world.end(tab, pay(once, setting(1)), charged(trouble), plays(answer([], 'gid://1'), true));
    expect(end.outcome).toMatchObject({ effect: 'done', attempts: 2 });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test.each(['INTERNAL_SERVER_ERROR', 'THROTTLED', 'ACCESS_DENIED'])('%s after a lost answer never says none, however often it comes', async (code) => {
    const dialect = shopify();
    const world = worldOf(dialect);
    const { tab, once } = world.open({ dialect });
    world.server.plays(charged(lost()));
    world.server.otherwise = without(code);
    const first = await world.end(tab, pay(once, setting(1)));
    await world.clock.advance(HOUR);
    const second = await world.end(tab, pay(once, setting(1)));
    for (const { outcome } of [first, second]) expect(outcome).toMatchObject({ effect: 'unknown' });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});
