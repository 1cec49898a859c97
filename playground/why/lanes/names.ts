/** The lanes by the names of their functions, as the table calls them. */
export const LANES = {
  plain: 'plain fetch',
  keyPerCall: 'a key per call',
  tanstackQuery: 'TanStack Query',
  keyInAMap: 'a key in a Map',
  fiftyLines: 'fifty careful lines',
  oncefetch: 'oncefetch',
} as const;

export type LaneName = keyof typeof LANES;
