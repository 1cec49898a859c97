/**
 * Replaces `vitest` while mutants are tested: runs the same tests in this process, one after another. Starting a worker
 * for every test file and every one of thousands of mutants would take far longer than the tests themselves.
 */
import { expect, vi } from 'vitest';

/**
 * @typedef {() => unknown} Work
 * @typedef {{ readonly id: string, readonly work: Work }} Test
 */

/** The longest that one test may take, in CPU time of this process, ms. The slowest test takes half a second. */
const TEST_MS_MAX = 4_000;
/** A test counts as hung after this many checks in a row that find nothing left which could wake it. */
const LOOKS_MAX = 6;
const LOOK_MS = 40;

/** @type {Map<string, Test>} */
let tests = new Map();
/** @type {string[]} */
let path = [];
/** @type {{ before: Work[], after: Work[] }} */
let hooks = { before: [], after: [] };
/** @type {Work[]} */
let finishing = [];
/** @type {unknown[]} */
const unhandled = [];

process.on('unhandledRejection', (error) => unhandled.push(error));

/** The context of a test, as in vitest: a fixture is made when the test first reads it. @typedef {Readonly<Record<string, unknown>>} Context */
/** @typedef {Readonly<Record<string, (context: Context) => unknown>>} Fixtures */

/** @param {Fixtures} fixtures @returns {Context} */
function contextOf(fixtures) {
  const context = { expect, onTestFinished };
  for (const [name, make] of Object.entries(fixtures))
    Object.defineProperty(context, name, {
      configurable: true,
      get() {
        const value = make(context);
        Object.defineProperty(context, name, { value });
        return value;
      },
    });
  return context;
}

/**
 * The text of a function's parameters. The body may have variables with the names of fixtures, which must not be made for that: a test that opens its
 * own page would find another one in its world.
 * @param {Body} body
 */
function parametersOf(body) {
  const text = String(body);
  const begin = text.indexOf('(');
  for (let at = begin, depth = 0; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return text.slice(begin, at);
  }
  return '';
}

/** The context, with each fixture that the parameters of the body name made and awaited. @param {Fixtures} fixtures @param {Body} body */
async function readyFor(fixtures, body) {
  const context = contextOf(fixtures);
  const text = parametersOf(body);
  for (const name of Object.keys(fixtures)) if (new RegExp(`\\b${name}\\b`).test(text)) Object.defineProperty(context, name, { value: await context[name] });
  return context;
}

/** @param {string} name @param {Work} body */
function add(name, body) {
  const { before, after } = hooks;
  const full = [...path, name].join(' > ');
  // Two rows of a table may have the same title.
  let id = full;
  for (let row = 2; tests.has(id); row++) id = `${full} #${row}`;
  const work = async () => {
    try {
      for (const hook of before) await hook();
      await body();
    } finally {
      for (const hook of [...finishing.splice(0), ...after]) await hook();
    }
  };
  tests.set(id, { id, work });
}

/** @param {string} name @param {unknown} options @param {unknown} [last] */
function group(name, options, last) {
  const outside = hooks;
  hooks = { before: [...outside.before], after: [...outside.after] };
  path = [...path, name];
  /** @type {Work} */ (typeof options === 'function' ? options : last)();
  path = path.slice(0, -1);
  hooks = outside;
}

/** @typedef {(...given: any[]) => unknown} Body */

/** One test or group for each row. @param {(name: string, body: Work) => void} one @param {(body: Body, row: unknown, spread: boolean) => unknown} give */
const table = (one, give) => (/** @type {readonly unknown[]} */ rows) => (/** @type {string} */ name, /** @type {any} */ options, /** @type {any} */ last) => {
  const body = typeof options === 'function' ? options : last;
  const spread = rows.every((row) => Array.isArray(row));
  for (const [index, row] of rows.entries()) one(`${name} [${index}]`, () => give(body, row, spread));
};

/** @type {(body: Body, row: any, spread: boolean) => unknown} */
const spreading = (body, row, spread) => (spread ? body(...row) : body(row));

/** @param {Fixtures} fixtures */
function testWith(fixtures) {
  /** @param {string} name @param {unknown} options @param {unknown} [last] */
  const one = (name, options, last) => {
    const body = /** @type {Body} */ (typeof options === 'function' ? options : last);
    add(name, async () => body(await readyFor(fixtures, body)));
  };
  return Object.assign(one, {
    each: table(add, spreading),
    for: table(add, async (body, row) => body(row, await readyFor(fixtures, body))),
    /** @param {string} name @param {(context: Context) => unknown} make @returns {any} */
    extend: (name, make) => testWith({ ...fixtures, [name]: make }),
  });
}

export const test = testWith({});
export const it = test;
export const describe = Object.assign(group, { each: table(group, spreading), for: table(group, (body, row) => body(row)) });
export const beforeEach = (/** @type {Work} */ hook) => void hooks.before.push(hook);
export const afterEach = (/** @type {Work} */ hook) => void hooks.after.unshift(hook);
export const onTestFinished = (/** @type {Work} */ hook) => void finishing.unshift(hook);
export { expect, vi };

/** The tests that `load` adds. @param {readonly string[]} files @param {(file: string) => void} load */
export function collect(files, load) {
  tests = new Map();
  for (const file of files) {
    path = [file];
    hooks = { before: [], after: [] };
    load(file);
  }
  return tests;
}

/** Runs one test. Resolves to its failure, or to `undefined` if it passed. @param {Test} one @returns {Promise<string | undefined>} */
export async function runOne({ work }) {
  unhandled.length = 0;
  /** @type {(error: Error) => void} */
  let reject = () => {};
  const stuck = new Promise((_, no) => {
    reject = no;
  });
  const stop = watch((how) => reject(new Error(`mutation: the test ${how}`)));
  try {
    await Promise.race([work(), stuck]);
    await new Promise((next) => setImmediate(next));
    return unhandled.length > 0 ? `unhandled: ${String(unhandled[0])}` : undefined;
  } catch (error) {
    return error instanceof Error ? error.message || error.name : `threw ${String(error)}`;
  } finally {
    stop();
    vi.restoreAllMocks();
    finishing = [];
  }
}

/**
 * Calls back when a test can never end because nothing in this process can wake it, or when it takes too long.
 * @param {(how: 'hung' | 'late') => void} tell
 */
function watch(tell) {
  let idle = 0;
  const begun = process.cpuUsage();
  const timer = setInterval(() => {
    // One of these resources is the timer of this watch itself.
    const awake = process.getActiveResourcesInfo().filter((kind) => /Timeout|Immediate|FSReq|Worker|MessagePort|ChildProcess/.test(kind));
    idle = awake.length <= 1 ? idle + 1 : 0;
    if (idle >= LOOKS_MAX) tell('hung');
    else if (process.cpuUsage(begun).user > TEST_MS_MAX * 1000) tell('late');
  }, LOOK_MS);
  return () => clearInterval(timer);
}
