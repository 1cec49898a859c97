/** Arbitraries for fast-check. */
import fc from 'fast-check';

/** Any text, lone surrogates included. fast-check's own `binary` takes seconds to initialize. */
export const text = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) }, fc.integer({ min: 0, max: 0xffff })), { minLength, maxLength })
    .map((units) => String.fromCharCode(...units));

export const number = fc.double({ noNaN: true, min: 1 - 2 ** 53, max: 2 ** 53 - 1 });

/** One part of a name, including parts that an encoding could mistake for another one. */
export const namePart = fc.oneof(text(1, 12), fc.constantFrom('/', '","', '[', ']', '\\', '1', 'n', '{"n":"1"}', '~'), number, fc.integer(), fc.bigInt());
