/** Goal: a key in the body changes nothing else of it. Method: `support/suite.ts`, and bodies that re-serializing would change. */
import { expect } from 'vitest';
import { square } from '../../src/entries/dialects.js';
import { charged, lost, textOf } from '../support/server.js';
import { NAME, pay, URL_ } from '../support/world.js';
import { plays, testOf, worldOf } from './support/suite.js';

const dialect = square();
const test = testOf(dialect);
const PAID = plays({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"payment":{"id":"p1"}}' }, true);

test.each([
  ['{"amount":12345678901234567890}'],
  ['{ "rate" : 1.0 , "exp":1e2}'],
  ['\n\t{"name":"caf\\u00e9 {\\"idempotency_key\\":1}"}'],
  ['{}'],
  ['{"nested":{"idempotency_key_note":"x"},"list":[{},{}]}'],
])('%s goes out with the key first and every other byte as it was', async (body) => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const key = (await world.end(tab, pay(once, { body }), PAID)).outcome?.key;
  const sent = world.server.arrivals[0]?.body as string;
  expect(sent.replace(new RegExp(`"idempotency_key":"${key}",?`), '')).toBe(body);
  expect(JSON.parse(sent)).toEqual({ idempotency_key: key, ...(JSON.parse(body) as object) });
});

test('a body that came as bytes, or in a Request, gets its key too', async ({ world, tab, once }) => {
  const bytes = new TextEncoder().encode('{"amount":1}');
  await world.end(tab, once.fetch(URL_, { method: 'POST', body: bytes, once: NAME }), PAID);
  await world.end(tab, once.fetch(new Request(URL_, { method: 'POST', body: bytes }), { once: [...NAME, 'again'] }), PAID);
  for (const arrival of world.server.arrivals) expect(JSON.parse(await textOf(arrival))).toEqual({ idempotency_key: arrival.key, amount: 1 });
});

test('the fingerprint is taken before the key is inserted, so the same body is the same operation', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  const before = world.record();
  const next = tab.reload();
  expect(await world.end(next, pay(next.once({ dialect })), PAID)).toMatchObject({ outcome: { effect: 'done', changed: false } });
  expect(world.record()?.payloads).toEqual(before?.payloads);
});

test.each([
  ['no body', undefined],
  ['text', 'hello'],
  ['a list', '[1]'],
  ['a form with files', new FormData()],
  ['a key that is not a string', '{"idempotency_key":7}'],
])('a body that cannot carry a key is refused before anything is stored: %s', async (_, body) => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const { error } = await world.end(tab, once.fetch(URL_, { method: 'POST', ...(body !== undefined && { body }), once: NAME }));
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toContain('idempotency_key');
  expect(world.writes).toEqual([]);
});

test('a dialect that cannot put the key where the record says sends nothing', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  const next = tab.reload();
  // This client has another dialect, which does not know how to put a key into a body.
  expect(await world.end(next, pay(next.once()))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown' } });
  expect(world.server.arrivals).toHaveLength(1);
  expect(world.record()).toMatchObject({ state: 'pending', carrier: 'body:idempotency_key' });
});
