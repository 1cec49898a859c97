/** Goal: inserting a key changes nothing else of a body. Method: arbitrary JSON, with every path into its objects. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fields, insertMember } from '../../src/dialects/fields.js';

type Json = null | boolean | number | string | Json[] | { [k: string]: Json };
const NAME = fc.stringMatching(/^[a-z]{1,3}$/);
const json = fc.letrec<{ any: Json; object: Json }>((tie) => ({
  any: fc.oneof({ maxDepth: 3 }, fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>, fc.string(), fc.array(tie('any'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(NAME, tie('any'), { maxKeys: 4 }),
})).object as fc.Arbitrary<{ [k: string]: Json }>;

/** The paths of all objects inside an object, by names alone. */
const paths = (of: Json, at: string[] = []): string[][] =>
  typeof of !== 'object' || of === null || Array.isArray(of)
    ? []
    : [at, ...Object.entries(of).flatMap(([name, member]) => (/^[a-z]{1,3}$/.test(name) ? paths(member, [...at, name]) : []))];

const at = (of: Json, path: readonly string[]): Json => path.reduce<Json>((one, name) => (one as { [k: string]: Json })[name] as Json, of);

test('a member can be inserted into any object of any JSON, and nothing else changes', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2, '\t'), fc.string(), fc.nat(), (value, indent, key, pick) => {
      const text = JSON.stringify(value, null, indent);
      const all = paths(value);
      const path = all[pick % all.length] as string[];
      const sent = insertMember(text, [...path, 'the_key'], key);
      const parsed = JSON.parse(sent as string) as Json;
      const changed = at(parsed, path) as { [k: string]: Json };
      expect(changed['the_key']).toBe(key);
      delete changed['the_key'];
      expect(parsed).toEqual(JSON.parse(text));
      // Without the member, the text is the same as before.
      const member = `"the_key":${JSON.stringify(key)}`;
      expect((sent as string).replace(`${member},`, '').replace(member, '')).toBe(text);
    }),
    { numRuns: 300 },
  );
});

test('a path to an object that does not exist inserts nothing', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(insertMember(JSON.stringify(value), ['no_such', 'the_key'], 'k')).toBeUndefined();
    }),
  );
});

test.each([
  ['https://a.example/x', 'https://a.example/x?ClientToken=k%201'],
  ['https://a.example/x?a=1', 'https://a.example/x?a=1&ClientToken=k%201'],
  ['https://a.example/x?MyClientToken=2', 'https://a.example/x?MyClientToken=2&ClientToken=k%201'],
  ['https://a.example/x?ClientToken=mine', 'https://a.example/x?ClientToken=mine'],
])('query: %s becomes %s', (url, wanted) => {
  expect(fields('query:ClientToken')?.put({ url, headers: new Headers(), body: undefined }, 'k 1', 0)?.url).toBe(wanted);
});

test.each([
  ['', 'ClientToken=k%201'],
  ['Action=Run', 'Action=Run&ClientToken=k%201'],
  ['ClientToken=mine+1&Action=Run', 'ClientToken=mine+1&Action=Run'],
])('form: "%s" becomes "%s"', (body, wanted) => {
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' });
  const way = fields('body:ClientToken');
  const sent = way?.put({ url: 'https://a.example/', headers, body }, 'k 1', 0)?.body;
  expect(sent).toBe(wanted);
  expect(way?.find({ url: 'https://a.example/', headers, body: sent })).toBe(body.includes('mine') ? 'mine 1' : 'k 1');
});
