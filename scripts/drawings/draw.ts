/** Writes the drawings of the guides: `npm run drawings`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawings } from './all.ts';
import { svgOf } from './svg.ts';

const root = join(import.meta.dirname, '../..');
for (const [path, drawing] of Object.entries(drawings)) writeFileSync(join(root, path), svgOf(drawing));
