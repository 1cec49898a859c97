/** The faults of the comparison, and which customers meet them. */

export interface Scenario {
  readonly name: string;
  /** The `x-fault` header of the nth customer's requests. */
  readonly faultOf?: ((index: number) => string | undefined) | undefined;
  /** For each fault, the share of requests that meet it. */
  readonly rates?: Readonly<Record<string, number>> | undefined;
  /** The number of clicks at the same moment. */
  readonly clicks?: number | undefined;
}

/** A scenario in which each customer's first request meets the fault. */
const once = (name: string, numbers = ''): Scenario => ({ name, faultOf: () => `${name}; times=1${numbers}` });

/** A scenario in which every sixth customer's first request kills the server, which disturbs the other customers, too. */
const killing = (name: string): Scenario => ({ name, faultOf: (index) => (index % 6 === 0 ? `${name}; times=1` : undefined) });

export const scenarios: readonly Scenario[] = [
  { name: 'none' },
  { name: 'double-click', clicks: 2 },
  once('lose-request'),
  once('lose-response'),
  once('truncate'),
  once('hang'),
  once('hang-after-commit'),
  once('delay', '; ms=500'),
  once('unavailable'),
  once('unavailable-after-commit'),
  once('unauthorized'),
  once('duplicate'),
  killing('kill'),
  killing('kill-after-commit'),
  {
    name: 'all at once',
    clicks: 2,
    rates: {
      'lose-request': 0.08,
      'lose-response': 0.08,
      truncate: 0.08,
      'hang-after-commit': 0.05,
      delay: 0.05,
      unavailable: 0.08,
      'unavailable-after-commit': 0.08,
      duplicate: 0.08,
      'kill-after-commit': 0.02,
    },
  },
];
