/**
 * A test runner for StrykerJS: bundles the tests once, and runs those that reach a mutant in one process, those
 * likeliest to kill it first.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { Script } from 'node:vm';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { DryRunStatus, determineHitLimitReached, TestStatus, toMutantRunResult } from '@stryker-mutator/api/test-runner';
import { build } from 'esbuild';
import * as suite from './suite.mjs';

/**
 * @typedef {import('@stryker-mutator/api/test-runner').TestResult} TestResult
 * @typedef {import('@stryker-mutator/api/test-runner').MutantRunOptions} MutantRunOptions
 * @typedef {import('@stryker-mutator/api/core').MutantCoverage} MutantCoverage
 * @typedef {{ activeMutant?: string | undefined, currentTestId?: string | undefined, mutantCoverage?: MutantCoverage | undefined, hitCount?: number | undefined, hitLimit?: number | undefined }} Switches
 */

const FOLDERS = (process.env['MUTATION_TESTS'] ?? '').split(',');
/** Left out because it bundles the built files, so no mutant can make it fail. */
const BUNDLES = 'test/dialects/size.test.ts';
/**
 * In ms. A slower test runs only if no faster test reaches the mutant. One test in thirty is slower, and this saves
 * more than half of the time.
 */
const TEST_MS_MAX = 25;
/** How many of the latest kills are remembered, by test. */
const KILLERS_MAX = 100;
/** Expected number of kills of a test that is not among the latest killers. */
const KILLS_ELSE = 0.1;
/** The file with the results of the dry run: only the first process makes the dry run, and a process that replaces it reads them. */
const DRY_RUN = 'dry-run.json';
/** The global in which Stryker's instrumented sources look for the active mutant. */
const SWITCHES = '__stryker__';

const native = createRequire(resolve('package.json'));

/**
 * Writes its own folder into each test file, because the paths of a bundle say nothing about the folders of its
 * sources.
 * @type {import('esbuild').Plugin}
 */
const folders = {
  name: 'folders',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]test[\\/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    })),
};

/**
 * Code that runs while a source file is loaded is covered by no single test. A mutant in it is judged by all tests of
 * each test file that reaches any other mutant of the source file.
 *
 * @param {MutantCoverage} coverage
 * @param {readonly string[]} all
 */
function reaching({ perTest }, all) {
  /** @type {Map<string, string[]>} */
  const tests = new Map();
  for (const file of globSync('src/**/*.ts')) {
    const covered = [...readFileSync(file, 'utf8').matchAll(/stryCov_\w+\(([^)]*)\)/g)].map(([, ids]) => ids).join();
    const mutants = [...covered.matchAll(/"(\d+)"/g)].map(([, id]) => /** @type {string} */ (id));
    const found = Object.keys(perTest).filter((test) => mutants.some((id) => perTest[test]?.[id]));
    const files = new Set(found.map(fileOf));
    if (found.length > 0)
      tests.set(
        resolve(file),
        all.filter((test) => files.has(fileOf(test))),
      );
  }
  return tests;
}

const fileOf = (/** @type {string} */ id) => id.slice(0, id.indexOf(' > '));

class InProcess {
  static inject = /** @type {[]} */ ([]);
  /** @type {readonly string[]} */
  #files = [];
  /** @type {Script | undefined} */
  #script;
  /** @type {ReturnType<typeof suite.collect>} */
  #tests = new Map();
  /** How long tests take, in CPU time of this process, ms. @type {Map<string, number>} */
  #times = new Map();
  /** Tests that reach a file, by its path. @type {Map<string, string[]>} */
  #reaching = new Map();
  /** How many mutants a test reaches. @type {Map<string, number>} */
  #breadth = new Map();
  /** Tests that killed a mutant, the latest last. @type {string[]} */
  #killers = [];
  /** @type {Switches} */
  #switches = {};
  #stale = true;
  /** @type {Record<string, () => void>} */
  #modules = {};
  /** @type {Set<string>} */
  #loaded = new Set();
  /** The mutant that is active while a module is evaluated. @type {string | undefined} */
  #atLoading;
  /** @type {string[]} */
  #leftOut = [];

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    // A fixed seed, and no shrinking, because nobody needs the smallest counterexample here.
    native('fast-check').configureGlobal({ seed: 1, endOnFailure: true });
    this.#switches = /** @type {any} */ (globalThis)[SWITCHES] ??= {};
    this.#files = globSync(
      FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`),
      { exclude: [BUNDLES] },
    ).sort();
    if (existsSync(DRY_RUN)) {
      const { files, times, breadth, reaching: tests } = JSON.parse(readFileSync(DRY_RUN, 'utf8'));
      [this.#files, this.#times, this.#breadth, this.#reaching] = [files, new Map(times), new Map(breadth), new Map(tests)];
    }
    const { outputFiles } = await build({
      plugins: [folders],
      stdin: {
        contents: this.#files.map((file) => `exports[${JSON.stringify(file)}] = () => require(${JSON.stringify(`./${file}`)});`).join('\n'),
        resolveDir: '.',
        loader: 'js',
      },
      bundle: true,
      write: false,
      format: 'cjs',
      platform: 'node',
      target: 'node24',
      external: ['vitest', 'fast-check'],
      logLevel: 'error',
    });
    this.#script = new Script(`(require, module, exports) => {${outputFiles[0]?.text}\n}`, { filename: resolve('mutation-bundle.cjs') });
  }

  /** @param {import('@stryker-mutator/api/test-runner').DryRunOptions} options */
  async dryRun({ coverageAnalysis }) {
    if (coverageAnalysis !== 'off') this.#switches.mutantCoverage = { static: {}, perTest: {} };
    this.#load();
    for (const file of this.#files) this.#collect(file);
    const tests = (await this.#run([...this.#tests.keys()], false)).map((result) => this.#usable(result));
    this.#killers = [];
    writeFileSync('left-out.json', JSON.stringify({ leftOut: this.#leftOut, times: [...this.#times].sort(([, a], [, b]) => b - a) }, null, 2));
    const { mutantCoverage } = this.#switches;
    if (mutantCoverage) this.#reaching = reaching(mutantCoverage, [...this.#times.keys()]);
    this.#breadth = new Map(Object.entries(mutantCoverage?.perTest ?? {}).map(([id, mutants]) => [id, Object.keys(mutants).length]));
    this.#switches.mutantCoverage = undefined;
    writeFileSync(DRY_RUN, JSON.stringify({ files: this.#files, times: [...this.#times], reaching: [...this.#reaching], breadth: [...this.#breadth] }));
    return { status: DryRunStatus.Complete, tests, mutantCoverage };
  }

  /** @param {MutantRunOptions} options */
  async mutantRun({ activeMutant, mutantActivation, reloadEnvironment, testFilter, hitLimit, disableBail }) {
    const fixed = mutantActivation === 'static';
    this.#switches.hitLimit = hitLimit;
    this.#switches.hitCount = hitLimit === undefined ? undefined : 0;
    this.#switches.activeMutant = activeMutant.id;
    try {
      if (fixed || reloadEnvironment || this.#stale) this.#load(fixed ? activeMutant.id : undefined);
      this.#stale = fixed;
      const tests = await this.#run(this.#inTurn(testFilter ?? this.#reaching.get(activeMutant.fileName) ?? [...this.#times.keys()]), !disableBail);
      const endless = determineHitLimitReached(this.#switches.hitCount, hitLimit);
      return toMutantRunResult(endless ?? { status: DryRunStatus.Complete, tests });
    } catch (error) {
      this.#stale = true;
      return toMutantRunResult({ status: DryRunStatus.Complete, tests: [failed('loading', `could not be loaded: ${String(error)}`)] });
    } finally {
      this.#switches.activeMutant = undefined;
    }
  }

  /** Loads all modules again; each is evaluated when a test needs it, with `activeMutant` active. @param {string} [activeMutant] */
  #load(activeMutant) {
    const module = { exports: /** @type {Record<string, () => void>} */ ({}) };
    this.#script?.runInThisContext()((/** @type {string} */ name) => (name === 'vitest' ? suite : native(name)), module, module.exports);
    this.#tests = new Map();
    this.#modules = module.exports;
    this.#atLoading = activeMutant;
    this.#loaded.clear();
  }

  /** @param {string} file */
  #collect(file) {
    const { activeMutant, currentTestId } = this.#switches;
    this.#switches.activeMutant = this.#atLoading;
    this.#switches.currentTestId = undefined;
    this.#loaded.add(file);
    for (const [id, test] of suite.collect([file], () => this.#modules[file]?.())) this.#tests.set(id, test);
    this.#switches.activeMutant = activeMutant;
    this.#switches.currentTestId = currentTestId;
  }

  /** @param {string} id */
  #test(id) {
    const file = fileOf(id);
    if (!this.#loaded.has(file)) this.#collect(file);
    return this.#tests.get(id);
  }

  /** Skips a test that fails without a mutant, because it can't judge one. @param {TestResult} result @returns {TestResult} */
  #usable(result) {
    if (result.status !== TestStatus.Failed) return result;
    this.#leftOut.push(`${result.name}: ${result.failureMessage}`);
    return { ...result, status: TestStatus.Skipped };
  }

  /**
   * Orders tests by expected kills per unit of time: first those that killed recently, and those that reach few
   * mutants.
   * @param {readonly string[]} ids
   */
  #inTurn(ids) {
    const kills = new Map(this.#killers.map((id) => [id, 0]));
    for (const id of this.#killers) kills.set(id, (kills.get(id) ?? 0) + 1);
    const cost = (/** @type {string} */ id) => ((this.#times.get(id) ?? 0) * (this.#breadth.get(id) ?? 1)) / ((kills.get(id) ?? 0) + KILLS_ELSE);
    const costs = new Map(ids.map((id) => [id, cost(id)]));
    // A test that failed without a mutant has no recorded time, and cannot judge mutants.
    const sound = ids.filter((id) => this.#times.has(id));
    const cheap = sound.filter((id) => (this.#times.get(id) ?? 0) <= TEST_MS_MAX);
    return (cheap.length > 0 ? cheap : sound).sort((a, b) => (costs.get(a) ?? 0) - (costs.get(b) ?? 0));
  }

  /** @param {readonly string[]} ids @param {boolean} bail @returns {Promise<TestResult[]>} */
  async #run(ids, bail) {
    /** @type {TestResult[]} */
    const results = [];
    for (const id of ids) {
      const one = this.#test(id);
      // The mutated code may compute the table of a `test.each`, which then has other rows than before.
      if (!one) continue;
      this.#switches.currentTestId = id;
      const [begun, used] = [performance.now(), process.cpuUsage()];
      const failure = await suite.runOne(one);
      this.#switches.currentTestId = undefined;
      const timeSpentMs = performance.now() - begun;
      if (failure === undefined) this.#times.set(id, process.cpuUsage(used).user / 1000);
      results.push(failure === undefined ? { id, name: id, timeSpentMs, status: TestStatus.Success } : failed(id, failure, timeSpentMs));
      if (failure === undefined) continue;
      this.#killers = [...this.#killers, id].slice(-KILLERS_MAX);
      if (bail) break;
    }
    return results;
  }
}

/** @param {string} id @param {string} failureMessage @returns {TestResult} */
const failed = (id, failureMessage, timeSpentMs = 0) => ({
  id,
  name: id,
  timeSpentMs,
  status: TestStatus.Failed,
  failureMessage: failureMessage.slice(0, 300),
});

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'in-process', /** @type {any} */ (InProcess))];
