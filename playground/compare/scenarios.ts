/** The faults of the comparison: which customers meet which one. */

export interface Scenario {
  readonly name: string;
  /** The `x-fault` header of the nth customer's requests. */
  readonly faultOf?: ((index: number) => string | undefined) | undefined;
  /** Faults drawn for every request, with these rates. */
  readonly rates?: Readonly<Record<string, number>> | undefined;
  /** Presses at once. */
  readonly clicks?: number | undefined;
}

/** Each customer's first request meets it. */
const once = (name: string, numbers = ''): Scenario => ({ name, faultOf: () => `${name}; times=1${numbers}` });

/** Every sixth customer's first request kills the server; the others feel it. */
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
