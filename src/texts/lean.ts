/**
 * What stands in for `full.ts` in pages in production: the code or the name of what is wrong, where it is wrong, and the
 * page that explains it. `import type` keeps the two alike.
 */
import type * as full from './full.js';

export const REASONS: typeof full.REASONS = {};

/** An operation's outcome knows the reason, which tells the cases of a code apart. */
export const errorText: typeof full.errorText = (code, outcome, says) =>
  `${says ?? `${code}${'reason' in outcome ? `, ${outcome.reason}` : ''} (docs/errors.md#${code.toLowerCase()})`}.`;

export const diagnosticText: typeof full.diagnosticText = (code, where) => `${code} (docs/diagnostics.md#${code}${where ? `; ${where}` : ''})`;

export const wanted: typeof full.wanted = String;

export const wrong: typeof full.wrong = (where, mistake, got) => `once: ${where}: ${mistake}${got ? `, got ${got}` : ''} (docs/errors.md#mistakes)`;

export const needs: typeof full.needs = (what, feature) => `once: ${what} needs ${feature}() of 'oncefetch' in use (docs/errors.md#mistakes)`;
