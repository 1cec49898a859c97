/** Goal: a key goes to the place that the record names, and is read from there unchanged. Method: a table of places and header values. */
import { describe, expect, test } from 'vitest';
import { carryOf, type Wire } from '../../src/core/carrier.js';

const AT = Date.UTC(2026, 10, 20, 12);
const wire = (headers: Record<string, string> = {}): Wire => ({ url: 'https://shop.example/', headers: new Headers(headers), body: '{}' });

describe('a place in a header', () => {
  test.each([
    ['header:Idempotency-Key', { 'idempotency-key': 'k1' }],
    ['header-sf:Idempotency-Key', { 'idempotency-key': '"k1"' }],
    ['header:X-Id+X-Date', { 'x-id': 'k1', 'x-date': 'Fri, 20 Nov 2026 12:00:00 GMT' }],
    ['header-sf:X-Id+X-Date', { 'x-id': '"k1"', 'x-date': 'Fri, 20 Nov 2026 12:00:00 GMT' }],
  ])('%s puts %j, and finds the key again', (carrier, headers) => {
    const sent = wire();
    const carry = carryOf(carrier);
    expect(carry?.find(sent)).toBeUndefined();
    expect(carry?.put(sent, 'k1', AT)).toBe(sent);
    expect(Object.fromEntries(sent.headers)).toEqual(headers);
    expect(carry?.find(sent)).toBe('k1');
  });

  test('keeps a date that the request already has', () => {
    const sent = wire({ 'x-date': 'yesterday' });
    carryOf('header:X-Id+X-Date')?.put(sent, 'k1', AT);
    expect(sent.headers.get('x-date')).toBe('yesterday');
  });

  test.each([
    ['header-sf:K', '"k1"', 'k1'],
    ['header-sf:K', 'k1', 'k1'],
    ['header-sf:K', 'a"k1"', 'a"k1"'],
    ['header-sf:K', '"k1"z', '"k1"z'],
    ['header:K', '"k1"', '"k1"'],
    ['header:K', '', ''],
  ])('%s removes quotes only where they make the whole value a structured string: %s', (carrier, there, key) => {
    expect(carryOf(carrier)?.find(wire({ k: there }))).toBe(key);
  });
});

test.each(['', 'body:key', 'header:', 'header', 'xheader:K', 'body:header:K'])('any other place: %j works only with a dialect that knows it', (carrier) => {
  const own = { find: () => undefined, put: () => undefined };
  expect(carryOf(carrier)).toBeUndefined();
  expect(carryOf(carrier, (asked) => (asked === carrier ? own : undefined))).toBe(own);
});
