/** What keeps the second copy out at each server, and how to take it away: parts of its source, each with what stands in for it. */

/** In the order in which they are made; each text must stand in the source once. */
export type Edits = readonly (readonly [from: string, to: string])[];

const without = (from: string, to = ''): Edits => [[from, to]];

/** By scheme and part. Whatever is taken away, the run must turn red. */
export const PARTS: Readonly<Record<string, Readonly<Record<string, Edits>>>> = {
  'distributed-lock': {
    fence: without("if (current.get(order)?.['number'] !== number) return undefined;"),
    look: without('if (paid) return answer(200, { payment: paid.id });'),
  },
};

/** The edits of a part; throws where there is none of this name. */
export function editsFor(scheme: string, part: string): Edits {
  const edits = PARTS[scheme]?.[part];
  if (!edits) throw new Error(`${scheme} has no part ${part}: ${Object.keys(PARTS[scheme] ?? {}).join(', ')}`);
  return edits;
}
