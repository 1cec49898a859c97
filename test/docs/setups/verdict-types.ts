/** The types of a hook that stands alone. */
export type { Evidence } from 'oncefetch';

import type { Evidence } from 'oncefetch';
import { show } from '../support/stage.js';

export type Hook = (evidence: Evidence) => unknown;
export { show };
