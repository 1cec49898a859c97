/** The exploration on the command line; `scripts/explore.mjs` bundles and starts it. */
import { parseArgs } from 'node:util';
import { Chooser, scriptOf } from './choices.js';
import { type Explored, explore, type Found } from './explore.js';
import { play } from './play.js';
import { VARIANTS, type Variant } from './variants.js';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '2' },
    switches: { type: 'string', default: '2' },
    /** One of them; all if absent. */
    variant: { type: 'string' },
    /** Prints the names, one a line. */
    list: { type: 'boolean', default: false },
    replay: { type: 'string' },
    /** Ends at the first violation. */
    first: { type: 'boolean', default: false },
    minutes: { type: 'string', default: 'Infinity' },
    json: { type: 'boolean', default: false },
  },
});

const variantNamed = (name: string): Variant => {
  const variant = VARIANTS.find((one) => one.name === name);
  if (!variant) throw new RangeError(`there is no variant "${name}"; there are ${VARIANTS.map((one) => `"${one.name}"`).join(', ')}`);
  return variant;
};

/** A schedule begins with the name of its variant. */
async function replay(text: string): Promise<void> {
  const at = text.indexOf(':');
  const variant = variantNamed(text.slice(0, at));
  const chooser = new Chooser({ faults: Number.POSITIVE_INFINITY, switches: Number.POSITIVE_INFINITY }, scriptOf(text.slice(at + 1)));
  const { lines, violations } = await play(variant, chooser);
  console.log(`${variant.name}: ${variant.says}\n`);
  console.log(numbered(lines));
  console.log('\nchoices, each with what it could have been:');
  for (const [number, { options, taken }] of chooser.points.entries())
    console.log(`${String(number).padStart(4)}  ${options[taken]?.label}${taken ? '  <-' : ''}\n        ${options.map(({ label }) => label).join(' | ')}`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}

const numbered = (lines: readonly string[]): string => lines.map((line, at) => `${String(at + 1).padStart(4)}. ${line}`).join('\n');

const printFound = ({ kind, schedule, lines }: Found): string => `  ${kind}\n${numbered(lines)}\n    npm run explore -- --replay '${schedule}'\n`;

const counts = (of: ReadonlyMap<string, number>): string =>
  [...of]
    .sort((a, b) => b[1] - a[1])
    .map(([name, times]) => `${name} ${times.toLocaleString('en')}`)
    .join(', ');

function print(one: Explored, seconds: number): void {
  const { variant, played, spared, states, found, complete, bounds } = one;
  const n = (value: number): string => value.toLocaleString('en');
  console.log(
    `${variant} (${bounds.faults} faults, ${bounds.switches} switches): ${n(played)} schedules played, ${n(spared)} not needed, ${n(states)} states, ${found.length} kinds of violation, ${seconds.toFixed(1)} s${complete ? '' : ', NOT COMPLETE'}`,
  );
  console.log(`  told: ${counts(one.ends)}\n  verdicts: ${counts(one.verdicts)}`);
  for (const violation of found) console.log(printFound(violation));
}

async function all(): Promise<void> {
  const began = performance.now();
  const variants = values.variant === undefined ? VARIANTS : [variantNamed(values.variant)];
  let broken = 0;
  for (const variant of variants) {
    const started = performance.now();
    const explored = await explore(variant, {
      faults: Number(values.faults),
      switches: Number(values.switches),
      enough: (found) => (values.first && found.length > 0) || performance.now() - began > Number(values.minutes) * 60_000,
    });
    broken += explored.found.length;
    if (values.json) console.log(JSON.stringify({ ...explored, ends: [...explored.ends], verdicts: [...explored.verdicts], chosen: [...explored.chosen] }));
    else print(explored, (performance.now() - started) / 1000);
    if (values.first && broken > 0) break;
  }
  process.exitCode = broken > 0 ? 1 : 0;
}

if (values.list) console.log(VARIANTS.map(({ name }) => name).join('\n'));
else if (values.replay !== undefined) await replay(values.replay);
else await all();
