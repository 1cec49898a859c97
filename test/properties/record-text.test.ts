/** Goal: a record that a store keeps as text is read back unchanged. Method: records with values at any depth, including those that JSON cannot express. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Stored } from '../../src/ports.js';
import { recordOf, textOf } from '../../src/stores/text.js';
import { seed } from './sampled.js';

const odd = fc.oneof(
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, '', 'null', '~', '{}', true),
  fc.uint8Array({ maxLength: 3 }),
  fc.integer(),
  fc.string(),
);
const { tree } = fc.letrec((of) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    odd,
    fc.array(of('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('~', '0', 'a', 'null'), of('tree'), { maxKeys: 3 }),
  ),
}));

test('a record with any values in it is read back unchanged from its text', () => {
  fc.assert(
    fc.property(tree, fc.double(), (meta, forgetAt) => {
      const record = { id: 'a', ns: 'n', state: 'pending', label: '["pay"]', forgetAt: Object.is(forgetAt, -0) ? 0 : forgetAt, meta } as Stored;
      expect(recordOf(textOf(record))).toEqual(record);
    }),
    { numRuns: 2000, seed },
  );
});
