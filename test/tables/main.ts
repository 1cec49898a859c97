/** Prints docs/verdicts.md; run by `scripts/tables.mjs`. */
import { page } from './page.js';

process.stdout.write(page());
