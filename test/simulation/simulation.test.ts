/**
 * Goal: what docs/simulation.md lists holds under any mix of faults. Method: each seed draws a world (contexts, stores, a network, a server
 * of one family), which runs on a virtual clock. The server's log of effects is the truth, and one checker for each promise compares it
 * with what callers were told. A failure prints its seed, a shrunk schedule and the command that replays it.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkers } from './checkers/index.js';
import { longRun, scenarioNamed } from './long-run.js';
import { printFailure, type Totals } from './print.js';
import { type Report, run } from './run.js';
import type { Scenario } from './scenario.js';
import { killedAt } from './scenarios/killed-at.js';
import seeds from './seeds.json' with { type: 'json' };
import { shrink } from './shrink.js';

/**
 * Five of six breaks in `test/explore/breaks.json` show within 4,000 operations, whatever the seed. The others do not show reliably within
 * 10,000: the exploration and `npm run simulate` find those.
 */
const FRESH_OPERATIONS = 5000;
/**
 * The faults that must have struck: a run in which a fault never strikes proves nothing about it. The run goes on until each has struck,
 * for twice as many operations at most.
 */
const STRIKE = [
  'requestLost',
  'responseLost',
  'delayed',
  'duplicated',
  'reordered',
  'truncated',
  'connectionRefused',
  'commitFails',
  'failAfterCommit',
  'lookFails',
  'storeHangs',
  'torn',
  'killed',
  'frozen',
  'clockJump',
  'evicted',
  'full',
  'powerLoss',
  'offline',
  'logOut',
  'logIn',
  'interrupted',
] as const;
const MINUTES = 60_000;
/** The machine may be busy with other tests. */
const slow = { timeout: 5 * MINUTES };

const failure = async (report: Report, scenario: Scenario): Promise<string> => printFailure(report, await shrink(scenario, report));

async function holds(scenario: Scenario, seed: number): Promise<Report> {
  const report = await run(scenario, seed);
  expect(report.violations.length === 0 ? '' : await failure(report, scenario)).toBe('');
  return report;
}

test('there is a checker for each of the seven promises', () => {
  expect(checkers.map(({ name }) => name)).toEqual([
    'at-most-one',
    'stored-before-sent',
    'one-key',
    'outcome-is-true',
    'nothing-lost',
    'settles-when-calm',
    'screens-are-true',
  ]);
});

test('one seed decides everything', async () => {
  const twice = [await run(scenarioNamed('everything'), 4, { tracing: true }), await run(scenarioNamed('everything'), 4, { tracing: true })];
  expect(twice[0]?.lines.length).toBeGreaterThan(300);
  expect(twice[0]?.lines).toEqual(twice[1]?.lines);
});

test('a seed without a known scenario is refused with the list of scenarios', () => {
  expect(() => scenarioNamed(undefined)).toThrow(/^name the scenario of this seed with --scenario; there are .*\bcheckout\b/);
  expect(() => scenarioNamed('chekout')).toThrow(/^there is no scenario "chekout"; there are .*\bcheckout\b/);
});

describe('seeds that once broke something', slow, () => {
  test.each(seeds)('$scenario $seed: $why', async ({ scenario, seed }) => void (await holds(scenarioNamed(scenario), seed)));
});

describe('a context that dies at any await', slow, () => {
  test.each(killedAt.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    let awaits = 0;
    for (let seed = 0; seed < 1000; seed++) {
      const report = await holds(scenario, seed);
      if (!report.struck.has('killed')) break;
      awaits++;
    }
    // Fewer awaits would mean that the context never died near the end of its call.
    expect(awaits).toBeGreaterThan(10);
  });
});

/** A run that is repeated meets the same worlds, and changed sources meet others (decision 36). */
function seedOfSources(): number {
  const hash = createHash('sha256');
  for (const file of globSync('{src,test/simulation}/**/*.ts').sort()) hash.update(readFileSync(file));
  return hash.digest().readUInt32BE();
}

describe('seeds of these sources', { timeout: 3 * slow.timeout }, () => {
  const base = seedOfSources();
  test(`from ${base}, ${FRESH_OPERATIONS} operations`, async () => {
    const failures: string[] = [];
    const totals: Totals = await longRun({
      operations: 2 * FRESH_OPERATIONS,
      base,
      failed: async (report, scenario) => void failures.push(await failure(report, scenario)),
      // One complete failure says more than ten.
      enough: ({ sums, struck }) => failures.length > 0 || (sums.operations >= FRESH_OPERATIONS && STRIKE.every((fault) => struck.has(fault))),
    });
    expect(failures.join('\n\n')).toBe('');
    expect(totals.sums.operations).toBeGreaterThanOrEqual(FRESH_OPERATIONS);
    for (const fault of STRIKE) expect(totals.struck.get(fault), fault).toBeGreaterThan(0);
  });
});
