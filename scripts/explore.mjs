/**
 * Every schedule of small worlds, within bounds, on all cores: `npm run explore -- --faults 3`. One schedule again:
 * `npm run explore -- --replay 'two tabs: 5:copied; 15:frontRefuses'`. See docs/explore.md.
 */
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleSimulation, run } from './simulation-bundle.mjs';

const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: {
    faults: { type: 'string' },
    switches: { type: 'string' },
    variant: { type: 'string' },
    replay: { type: 'string' },
    minutes: { type: 'string' },
    first: { type: 'boolean' },
    list: { type: 'boolean' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const given = args.filter((arg, at) => arg !== '--jobs' && args[at - 1] !== '--jobs');

const { folder, main } = bundleSimulation(fileURLToPath(new URL('..', import.meta.url)), 'test/explore/main.ts');

/** @param {readonly string[]} args @param {'inherit' | 'pipe'} stdout */
const start = (args, stdout) => run(main, args, stdout);

/** One variant after another, as many at a time as there are jobs. */
async function together() {
  const variants = (await start(['--list'], 'pipe')).text.trim().split('\n');
  let worst = 0;
  const work = async () => {
    for (let variant = variants.shift(); variant !== undefined; variant = variants.shift()) {
      const { code, text } = await start([...given, '--variant', variant], 'pipe');
      process.stdout.write(text);
      worst = Math.max(worst, code);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, work));
  return worst;
}

const alone = values.variant !== undefined || values.replay !== undefined || values.list === true;
try {
  process.exitCode = alone ? (await start(given, 'inherit')).code : await together();
} finally {
  rmSync(folder, { recursive: true });
}
