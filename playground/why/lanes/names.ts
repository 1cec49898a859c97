/** The names of the lanes in the table, by the names of their functions. */
export const LANES = {
  plain: 'plain fetch',
  keyPerCall: 'a key per call',
  tanstackQuery: 'TanStack Query',
  keyInAMap: 'a key in a Map',
  fiftyLines: 'fifty careful lines',
  oncefetch: 'oncefetch',
} as const;

export type LaneName = keyof typeof LANES;
