/**
 * Every schedule of small worlds, within bounds, on all cores: `npm run explore -- --faults 3`. One schedule again:
 * `npm run explore -- --replay 'two tabs: 5:copied; 15:frontRefuses'`. See docs/explore.md.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleSimulation } from './simulation-bundle.mjs';

/** Worlds are short-lived (MB), and the states that were met are not. */
const NODE = ['--max-semi-space-size=32', '--max-old-space-size=8192'];

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

/**
 * @param {readonly string[]} with_
 * @param {'inherit' | 'pipe'} stdout
 * @returns {Promise<{ code: number, text: string }>}
 */
const start = (with_, stdout) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...NODE, main, ...with_], { stdio: ['ignore', stdout, 'inherit'] });
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, text }));
  });

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
