/**
 * Plays every schedule of small worlds, within bounds, on all cores: `npm run explore -- --faults 3 --minutes 60`. To replay one
 * schedule: `npm run explore -- --replay 'two tabs: 5:copied; 15:frontRefuses'`. See docs/explore.md.
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleSimulation, run } from './simulation-bundle.mjs';

const { folder, main } = bundleSimulation(fileURLToPath(new URL('..', import.meta.url)), 'test/explore/main.ts');
try {
  process.exitCode = (await run(main, process.argv.slice(2), 'inherit')).code;
} finally {
  rmSync(folder, { recursive: true });
}
