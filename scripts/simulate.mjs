/**
 * Simulates millions of operations on all cores: `npm run simulate -- --operations 1000000`. To replay and shrink one seed:
 * `npm run simulate -- --scenario checkout --seed 7`, with `--trace` for everything that happened.
 */
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleSimulation, run } from './simulation-bundle.mjs';

/** Distance between the first seeds of two jobs, so that no two jobs play the same seed. */
const SEEDS_APART = 2 ** 24;

const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: {
    operations: { type: 'string', default: '20000' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    base: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    minutes: { type: 'string', default: 'Infinity' },
    scenario: { type: 'string' },
    seed: { type: 'string' },
    trace: { type: 'boolean' },
  },
});

const { folder, main } = bundleSimulation(fileURLToPath(new URL('..', import.meta.url)));

/** @param {readonly string[]} args @param {'inherit' | 'pipe'} stdout */
const start = (args, stdout) => run(main, args, stdout);

async function together() {
  const jobs = Math.max(1, Number(values.jobs));
  const started = performance.now();
  console.log(`seeds from ${values.base}, ${jobs} jobs`);
  const common = [
    '--operations',
    String(Math.ceil(Number(values.operations) / jobs)),
    '--json',
    '--minutes',
    values.minutes,
    ...(values.scenario === undefined ? [] : ['--scenario', values.scenario]),
  ];
  const ends = await Promise.all(
    Array.from({ length: jobs }, (_, job) => start([...common, '--base', String((Number(values.base) + job * SEEDS_APART) % 2 ** 32)], 'pipe')),
  );
  // A job without output has already printed its error.
  if (ends.some(({ text }) => text === '')) return 1;
  const { code } = await start(
    ['--sum', JSON.stringify(ends.map(({ text }) => JSON.parse(text))), '--seconds', String((performance.now() - started) / 1000)],
    'inherit',
  );
  return Math.max(code, ...ends.map((end) => end.code));
}

try {
  process.exitCode = values.seed === undefined ? await together() : (await start(args, 'inherit')).code;
} finally {
  rmSync(folder, { recursive: true });
}
