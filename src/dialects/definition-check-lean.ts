/** Replaces `definition-check.ts` in production pages. `define.ts` still refuses members that are misspelled. */
import type * as full from './definition-check.js';

export const checkShape: typeof full.checkShape = () => {};
export const checkDefinition: typeof full.checkDefinition = () => {};
