/** Goal: the key gets into the document. Method: GraphQL documents. */
import { describe, expect, test } from 'vitest';
import { carryOf } from '../../src/core/carrier.js';
import { shopify } from '../../src/entries/dialects.js';

const { carrier, carry } = shopify();
const put = (body: unknown) => {
  const wire = { url: 'https://shop.example/graphql.json', headers: new Headers(), body: typeof body === 'string' ? body : JSON.stringify(body) };
  const way = carryOf(carrier, carry);
  const sent = way?.put(wire, 'k-1', 0)?.body as string | undefined;
  return {
    sent: sent === undefined ? undefined : (JSON.parse(sent) as { query: string; variables?: unknown }),
    found: sent === undefined ? undefined : way?.find({ ...wire, body: sent }),
    raw: sent,
  };
};

test.each([
  ['mutation { refundCreate(input: {}) { refund { id } } }', 'mutation { refundCreate(input: {}) @idempotent(key: "k-1") { refund { id } } }'],
  ['mutation m($a: [X!]! = [{b: 1}], $c: Y) { go(a: $a) { ok } }', 'mutation m($a: [X!]! = [{b: 1}], $c: Y) { go(a: $a) @idempotent(key: "k-1") { ok } }'],
  ['mutation { mine: go { ok } }', 'mutation { mine: go @idempotent(key: "k-1") { ok } }'],
  ['mutation { go }', 'mutation { go @idempotent(key: "k-1") }'],
  ['mutation { go @include(if: true) { ok } }', 'mutation { go @idempotent(key: "k-1") @include(if: true) { ok } }'],
  ['# {(\nmutation { go(a: "){", b: """ } """) { ok } }', '# {(\nmutation { go(a: "){", b: """ } """) @idempotent(key: "k-1") { ok } }'],
  ['fragment f on X { a b } mutation { go(a: 1) { ...f } }', undefined],
  ['mutation { one two }', undefined],
  ['mutation a { one } mutation b { two }', undefined],
  ['query { shop { name } }', undefined],
  ['{ shop { name } }', undefined],
])('writes the directive behind the only field of the mutation: %s', (query, wanted) => {
  const { sent, found } = put({ query, variables: { a: 1 } });
  expect(sent?.query).toBe(wanted);
  if (wanted !== undefined) expect(found).toBe('k-1');
});

describe('fills the variable of a directive that is there', () => {
  const query = 'mutation m($k: String!) { go @idempotent(key: $k) { ok } }';
  test.each([
    [{ query, variables: {} }, { k: 'k-1' }],
    [
      { query, variables: { a: 1 } },
      { k: 'k-1', a: 1 },
    ],
    [{ query }, { k: 'k-1' }],
    [{ query, variables: { k: 'mine' } }, { k: 'mine' }],
  ])('%j', (body, variables) => expect(put(body).sent?.variables).toEqual(variables));

  test('refuses a body whose variables are null', () => expect(put({ query, variables: null }).sent).toBeUndefined());
});

test('a literal key in the document is the key', () => expect(put({ query: 'mutation { go @idempotent(key: "mine") { ok } }' }).found).toBe('mine'));

test.each([
  '# repeats are kept out by @idempotent(key: "…")\nmutation { go }',
  '# it is filled in: @idempotent(key: $k)\nmutation { go }',
  'mutation m("""@idempotent(key: "x")""" $a: X) { go(a: $a) }',
])('a directive in a comment or a string of the document is not a key: %s', (query) => {
  const { sent, found } = put({ query, variables: { a: 1 } });
  expect(sent?.query).toContain('@idempotent(key: "k-1")');
  expect(found).toBe('k-1');
});

test('a key that is not a string is refused', () => {
  expect(() => put({ query: 'mutation m($k: X) { go @idempotent(key: $k) { ok } }', variables: { k: 7 } })).toThrow(TypeError);
});

test('every other byte of the body stays as it was', () => {
  const raw = '{ "variables": {"n": 1.0, "query": "x"} ,"query" :  "mutation { go }" , "extensions":{"query":"y"} }';
  expect(put(raw).raw).toBe(raw.replace('"mutation { go }"', JSON.stringify('mutation { go @idempotent(key: "k-1") }')));
});
