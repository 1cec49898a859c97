/** Writes docs/cost.md from the results in bench/results. No figure in the page is typed by hand. `npm run bench:docs` */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { page } from './lib/page.ts';

const docs = fileURLToPath(new URL('../docs/', import.meta.url));

writeFileSync(`${docs}cost.md`, page());
console.log('docs/cost.md');
