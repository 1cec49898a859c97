/** Writes docs/cost.md and its plots from the results in bench/results. No figure in them is typed by hand. `npm run bench:docs` */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { page } from './lib/page.ts';
import { plots } from './lib/plots.ts';
import { results } from './lib/results.ts';

const docs = fileURLToPath(new URL('../docs/', import.meta.url));

for (const [name, svg] of Object.entries(plots(results))) writeFileSync(`${docs}images/${name}`, svg);
writeFileSync(`${docs}cost.md`, page());
console.log('docs/cost.md');
