/** The rows of the probe, and what each tries. */

/** A row of the probe. */
export type ProbeRowName =
  | 'first'
  | 'again'
  | 'at-once'
  | 'other-payload'
  | 'answer-cut'
  | 'reset'
  | 'killed'
  | 'refusal'
  | 'passing-fault'
  | 'changed-after-fault'
  | 'refused-login'
  | 'other-path'
  | 'other-account'
  | 'after-wait'
  | 'preflight';

export const ROWS: Readonly<Record<ProbeRowName, string>> = {
  first: 'one request under a new key',
  again: 'the same key twice, one after the other',
  'at-once': 'ten copies at once',
  'other-payload': 'another payload under the same key',
  'answer-cut': 'the answer cut off after the commit, then the same key again',
  reset: 'the connection reset while the work goes on, then the same key again',
  killed: 'the server killed in mid-work and started again, then the same key again',
  refusal: 'a refused request, then a corrected one under the same key, and under a new one',
  'passing-fault': 'work that fails once, then the same key again',
  'changed-after-fault': 'work that fails once, then another payload under the same key',
  'refused-login': 'the same key with a refused login, before and after',
  'other-path': 'the same key at another path',
  'other-account': 'the same key by another account',
  'after-wait': 'the same key again, after a wait',
  preflight: 'a page of another origin that asks to send the key',
};

/** The rows in the order in which they are played. */
export const ROW_NAMES = Object.keys(ROWS) as readonly ProbeRowName[];

/** How many effects each row can have at most if the server ignores keys. */
export const EFFECTS_MAX: Readonly<Record<ProbeRowName, number>> = {
  first: 1,
  again: 2,
  'at-once': 11,
  'other-payload': 2,
  'answer-cut': 2,
  reset: 2,
  killed: 2,
  refusal: 4,
  'passing-fault': 2,
  'changed-after-fault': 2,
  'refused-login': 4,
  'other-path': 2,
  'other-account': 2,
  'after-wait': 2,
  preflight: 2,
};
