/** The exploration on the command line; `scripts/explore.mjs` bundles and starts it. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Chooser, scriptOf } from './choices.js';
import { type Explored, explore, type Found } from './explore.js';
import { play } from './play.js';
import { numbered, print, printTotal } from './print.js';
import { compareStates } from './states.js';
import { together } from './together.js';
import { VARIANTS, type Variant } from './variants.js';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '2' },
    switches: { type: 'string', default: '2' },
    /** The variant to explore; all if absent. */
    variant: { type: 'string' },
    /** Prints the names, one a line. */
    list: { type: 'boolean', default: false },
    replay: { type: 'string' },
    /** Ends a variant at its first violation. */
    first: { type: 'boolean', default: false },
    /** The time for all variants together. @default an hour with more than two faults, which would take days; else no limit */
    minutes: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    json: { type: 'boolean', default: false },
    /** Compares what follows states that the exploration takes for the same. */
    compare: { type: 'boolean', default: false },
  },
});

const minutes = Number(values.minutes ?? (Number(values.faults) > 2 ? 60 : Number.POSITIVE_INFINITY));

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

const explored = (name: string): Promise<Explored> => {
  const began = performance.now();
  let told = began;
  const enough = (found: readonly Found[], schedules: number): boolean => {
    const now = performance.now();
    if (!process.send && now - told > 60_000) {
      told = now;
      console.error(
        `${name}: ${schedules.toLocaleString('en-US')} schedules after ${Math.round((now - began) / 60_000)} min, ${found.length} kinds of violations`,
      );
    }
    return (values.first && found.length > 0) || now - began > minutes * 60_000;
  };
  return explore(variantNamed(name), { faults: Number(values.faults), switches: Number(values.switches), enough });
};

async function alone(name: string): Promise<void> {
  const one = await explored(name);
  // Sends the result to the parent process, or prints it.
  if (process.send) process.send(one);
  else if (values.json) console.log(JSON.stringify({ ...one, ends: [...one.ends], verdicts: [...one.verdicts], chosen: [...one.chosen] }));
  else console.log(print(one));
  process.exitCode = one.found.length > 0 ? 1 : 0;
}

async function all(): Promise<void> {
  const one = await together({
    variants: VARIANTS.map(({ name }) => name),
    jobs: Math.max(1, Number(values.jobs)),
    ms: minutes * 60_000,
    args: ['--faults', values.faults, '--switches', values.switches, ...(values.first ? ['--first'] : [])],
    heard: (explored) => console.log(print(explored)),
  });
  console.log(`\n${printTotal(one)}`);
  process.exitCode = one.some(({ found }) => found.length > 0) ? 1 : 0;
}

async function compare(variants: readonly Variant[]): Promise<void> {
  for (const variant of variants) {
    const { alike, different } = await compareStates(variant, { faults: Number(values.faults), switches: Number(values.switches) });
    console.log(`${variant.name}: ${alike.toLocaleString('en')} states followed as before, ${different.length} did not`);
    for (const pair of different.slice(0, 3)) console.log(`${pair}\n`);
    if (different.length > 0) process.exitCode = 1;
  }
}

if (values.list) console.log(VARIANTS.map(({ name }) => name).join('\n'));
else if (values.replay !== undefined) await replay(values.replay);
else if (values.compare) await compare(values.variant === undefined ? VARIANTS : [variantNamed(values.variant)]);
else if (values.variant === undefined) await all();
else await alone(values.variant);
