/**
 * Replaces `full.ts` in production pages: a message has the code or name of the mistake, where it is, and the page that explains
 * it. `import type` makes the compiler check that both files export the same.
 */
import type * as full from './full.js';

export const REASONS: typeof full.REASONS = {};

/** The message of an error. It contains the outcome's reason, which tells the cases of a code apart. */
export const errorText: typeof full.errorText = (code, outcome, says) =>
  `${says ?? `${code}${'reason' in outcome ? `, ${outcome.reason}` : ''} (docs/errors.md#${code.toLowerCase()})`}.`;

export const diagnosticText: typeof full.diagnosticText = (code, where) => `${code} (docs/diagnostics.md#${code}${where ? `; ${where}` : ''})`;

export const wanted: typeof full.wanted = String;

export const wrong: typeof full.wrong = (where, mistake, got) => `once: ${where}: ${mistake}${got ? `, got ${got}` : ''} (docs/errors.md#mistakes)`;

export const needs: typeof full.needs = (what, feature) => `once: ${what} needs ${feature}() (docs/errors.md#mistakes)`;
