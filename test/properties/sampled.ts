/**
 * Properties over one sample. Records are expensive to draw and cheap to check, so each property checks the whole sample. A failure prints
 * its case and the seed of the sample; `PROPERTY_SEED` draws the sample again.
 */
import fc from 'fast-check';

export const seed = Number(process.env['PROPERTY_SEED'] ?? fc.readConfigureGlobal()?.seed ?? Math.trunc(Math.random() * 2 ** 31));

const shown = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one === undefined ? '(undefined)' : one), 1)?.slice(0, 4000) ??
  String(value);

/** Draws `count` cases. Returns a function that checks a property on each of them. */
export function sampled<T>(from: fc.Arbitrary<T>, count: number): (holds: (one: T) => void) => void {
  let drawn: T[] | undefined;
  return (holds) => {
    drawn ??= fc.sample(from, { numRuns: count, seed });
    for (const one of drawn) {
      try {
        holds(one);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n\nPROPERTY_SEED=${seed}, case: ${shown(one)}`, { cause: error });
      }
    }
  };
}
