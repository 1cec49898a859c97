/**
 * Goal: the key of an operation whose outcome is open goes only where its server knows it: to the method, origin and path where it has been. Anywhere else it
 * would be a new key, and the request would be executed once more.
 */
import { describe, expect } from 'vitest';
import { defineDialect, generic, inHeader } from '../../src/entries/dialects.js';
import { derived, run as runOnce } from '../../src/entries/index.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { says } from '../support/texts.js';
import { CART, NAME, newWorld, ONE, pay, saying, test, URL_ } from '../support/world.js';

const ELSEWHERE = {
  'another region': { url: 'https://eu.shop.example/api/payments' },
  'another endpoint': { url: 'https://shop.example/api/paypal' },
  'another method': { init: { method: 'PATCH' } },
  'another port': { url: 'https://shop.example:8443/api/payments' },
} as const;

describe.each(Object.entries(ELSEWHERE))('a press after a lost answer goes to %s', (_, where) => {
  test('nothing is sent, and the error says why', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    const end = await world.end(tab, pay(once, where));
    expect(end).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown', reason: 'elsewhere', key } });
    expect(String(end.error)).toContain(says('another address', 'ERR_ONCE_MISMATCH, elsewhere'));
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key });
  });

  test("reconcile is asked; after 'none' the call goes on there under a new key", async ({ world }) => {
    const key = await world.interrupted(lost());
    const { tab, once } = world.open();
    const asked: unknown[] = [];
    const end = await world.end(tab, pay(once, { ...where, reconcile: saying(asked, 'none') }), answers(201));
    expect(asked).toMatchObject([{ key, reason: 'elsewhere' }]);
    expect(end.outcome).toMatchObject({ type: 'fresh' });
    expect(end.outcome?.key).not.toBe(key);
  });

  test('after a refusal, the press goes out under a new key', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(422, { code: 'no' }));
    expect((await world.end(tab, pay(once, where), answers(201))).outcome).toMatchObject({ type: 'fresh' });
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('an operation that is done is not sent there for its answer', async ({ world }) => {
    const { tab, once } = world.open({ dialect: { ...generic(), replays: true } });
    await world.end(tab, pay(once, { keep: { response: false } }), answers(201, { id: 1 }));
    expect(await world.end(tab, pay(once, where))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });
});

test('another query of the same path is another payload, not another place', async ({ world }) => {
  const key = await world.interrupted(lost());
  const { tab, once } = world.open();
  expect((await world.end(tab, pay(once, { url: `${URL_}?retry=1` }), answers(201))).outcome).toMatchObject({ effect: 'done', key });
});

const byAccount = defineDialect({ name: 'by-account', place: inHeader('Idempotency-Key'), scope: ['account'] });

test.for([
  ['a dialect whose keys count for an account', byAccount, true],
  [
    'a dialect whose keys count for an endpoint',
    defineDialect({ name: 'by-endpoint', place: inHeader('Idempotency-Key'), scope: ['account', 'endpoint'] }),
    false,
  ],
  ['a dialect of which nothing is known', generic(), false],
] as const)('%s: whether an open key goes to another endpoint', async ([_, dialect, sends], { world }) => {
  const first = world.open({ dialect });
  const { key } = (await world.end(first.tab, pay(first.once, ONE), lost())).outcome ?? {};
  const { tab, once } = world.open({ dialect });
  if (sends) world.server.plays(answers(201));
  const end = await world.end(tab, pay(once, { url: 'https://shop.example/api/paypal' }));
  expect(end.outcome).toMatchObject(sends ? { effect: 'done', key } : { reason: 'elsewhere', key });
});

test('one region keeps its refusal of a key: the next generation goes to another region, and is not sent back', async ({ world, tab, once }) => {
  const there = ELSEWHERE['another region'];
  const key = ({ generation }: { readonly generation: number }) => `order-1.${generation}`;
  await world.end(tab, pay(once, { key }), answers(402, { code: 'card_declined' }));
  const kept = answers(402, { code: 'card_declined' }, { 'idempotent-replayed': 'true' });
  expect((await world.end(tab, pay(once, { key }), kept)).outcome).toMatchObject({ effect: 'none', key: 'order-1.0' });
  await world.end(tab, pay(once, { ...ONE, ...there, key }), charged(lost()));
  expect(await world.end(tab, pay(once, { key }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { reason: 'elsewhere', key: 'order-1.1' } });
  expect((await world.end(tab, pay(once, { ...there, key }), replays())).outcome).toMatchObject({ effect: 'done', key: 'order-1.1' });
  expect([...world.server.charged]).toEqual(['order-1.1']);
});

describe('two servers behind one origin, told apart by a `dialect` function: only one of them has keys that count for an account', () => {
  const dialect = ({ url }: { url: string }) => (url.endsWith('/by-account') ? byAccount : generic());
  const url = 'https://shop.example/api/by-account';

  test('an open key of the other server is not sent to that one', async ({ world }) => {
    const { tab, once } = world.open({ dialect });
    const { outcome } = await world.end(tab, pay(once, ONE), charged(lost()));
    expect((await world.end(tab, pay(once, { url }))).outcome).toMatchObject({ reason: 'elsewhere', key: outcome?.key });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });

  test('a key that stays in use at the other server after a refusal is not sent to that one either', async ({ world }) => {
    const { tab, once } = world.open({ dialect });
    await world.end(tab, pay(once), answers(400));
    expect((await world.end(tab, pay(once, { url }), answers(201))).outcome).toMatchObject({ type: 'fresh' });
    expect(new Set(world.server.keys).size).toBe(2);
  });
});

test('a dialect whose keys count for an account: an open key does not go to another origin', async ({ world }) => {
  await world.interrupted(lost());
  const { tab, once } = world.open({ dialect: byAccount });
  expect((await world.end(tab, pay(once, { url: 'https://eu.shop.example/api/payments' }))).outcome).toMatchObject({ reason: 'elsewhere' });
});

test('derived and literal keys do not go to another endpoint either', async () => {
  for (const key of [derived, 'my-key-1234']) {
    const { world, tab, once } = newWorld().open(ONE);
    await world.end(tab, pay(once, { key }), charged(lost()));
    expect(await world.end(tab, pay(once, { key, url: 'https://shop.example/api/paypal' }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH' });
  }
});

test('a function under the name of an open request is refused, and so is a request under the name of an open function', async ({ world }) => {
  await world.interrupted(lost());
  const { tab, once } = world.open(ONE);
  const [run] = await world.run(Promise.allSettled([runOnce(once, NAME, () => 'charged')]));
  expect(run).toMatchObject({ status: 'rejected', reason: { code: 'ERR_ONCE_MISMATCH' } });
  const other = ['charge', 'c2'] as const;
  await world.run(runOnce(once, other, () => Promise.reject(new Error('lost'))).catch(() => {}));
  expect(await world.end(tab, pay(once, { operation: other }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH' });
});

test('a record that has an origin and no endpoint is still driven', async ({ world }) => {
  const key = await world.interrupted(lost());
  const { seal } = await import('../../src/core/record.js');
  world.damage((record) => seal({ ...record, endpoint: undefined }));
  const { tab, once } = world.open();
  expect((await world.end(tab, pay(once, { url: 'https://eu.shop.example/api/payments' }))).outcome).toMatchObject({ reason: 'elsewhere' });
  expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ effect: 'done', key });
});

test('a second press, for another endpoint, while the first one is under way is not sent either', async ({ world }) => {
  const { tab, once } = world.open(ONE);
  world.server.plays(charged(lost()));
  const calls = [pay(once), pay(once, { url: 'https://shop.example/api/paypal', body: { ...CART, amount: 12 } })] as const;
  expect((await world.end(tab, calls[0])).outcome).toMatchObject({ effect: 'unknown' });
  expect(await world.end(tab, calls[1])).toMatchObject({ code: 'ERR_ONCE_MISMATCH' });
});
