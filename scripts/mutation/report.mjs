/** What mutation testing found: a table on the screen, kept with hand-written reasons in `results.json`, printed as `docs/mutants.md`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ line: number, at: string, from: string, to: string, reason: string }} Survivor
 * @typedef {{ mutants: number, killed: number, endless: number, survivors: Survivor[] }} FileResult
 * @typedef {{ line: number, column: number }} Position
 * @typedef {{ status: string, statusReason?: string, mutatorName: string, replacement: string, location: { start: Position, end: Position } }} Mutant
 * @typedef {{ files: Record<string, { source: string, mutants: Mutant[] }> }} StrykerResult
 */

const TEXT_MAX = 120;
const FROM_MIN = 30;

/** @param {string} source @param {Mutant['location']} location */
function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = /** @type {string} */ (lines.at(-1)).slice(0, end.column - 1);
  lines[0] = /** @type {string} */ (lines[0]).slice(start.column - 1);
  return lines.join(' ');
}

/** On one line, and no longer than a reader wants. @param {string} text */
const short = (text) => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX)}…` : line;
};

/** A loop without end is stopped by a counter or a clock; a promise without end by the silence after it. @param {Mutant} mutant */
const isEndless = ({ status, statusReason = '' }) => status === 'Timeout' || /^mutation: the test (hung|late)/.test(statusReason);

/** @param {{ source: string, mutants: Mutant[] }} file @param {readonly Survivor[]} before @returns {FileResult} */
function resultOf({ source, mutants }, before) {
  // By its line's text, which stays when the line moves.
  const key = (/** @type {Omit<Survivor, 'line' | 'reason'>} */ { at, from, to }) => JSON.stringify([at, from, to]);
  const known = new Map(before.map((survivor) => [key(survivor), survivor.reason]));
  const lines = source.split('\n');
  const valid = mutants.filter(({ status }) => /^(Killed|Timeout|Survived|NoCoverage)$/.test(status));
  const survivors = valid
    .filter(({ status }) => /^(Survived|NoCoverage)$/.test(status))
    .map(({ location, replacement }) => {
      const { line } = location.start;
      const one = { at: short(lines[line - 1] ?? ''), from: short(textAt(source, location)), to: short(replacement) };
      return { line, ...one, reason: known.get(key(one)) ?? '' };
    });
  const endless = valid.filter(isEndless).length;
  return { mutants: valid.length, killed: valid.length - survivors.length - endless, endless, survivors: survivors.sort((a, b) => a.line - b.line) };
}

/** @param {string} what @param {readonly FileResult[]} results */
function row(what, results) {
  const sum = (/** @type {(one: FileResult) => number} */ of) => results.reduce((total, one) => total + of(one), 0);
  const [all, survived] = [sum(({ mutants }) => mutants), sum(({ survivors }) => survivors.length)];
  const score = all === 0 ? 100 : ((all - survived) / all) * 100;
  return `| ${what} | ${all} | ${sum(({ killed }) => killed)} | ${sum(({ endless }) => endless)} | ${survived} | ${score.toFixed(1)} % |`;
}

const HEAD = ['| file | mutants | killed | endless | survived | score |', '| --- | --: | --: | --: | --: | --: |'];

/** @param {Record<string, FileResult>} results */
function table(results) {
  const names = Object.keys(results).sort();
  const of = (/** @type {string} */ folder) => names.filter((name) => name.startsWith(folder)).map((name) => /** @type {FileResult} */ (results[name]));
  return [
    ...HEAD,
    ...names.map((name) => row(name, of(name))),
    row('**src/core**', of('src/core/')),
    row('**src/engine**', of('src/engine/')),
    row('**both**', of('src/')),
  ].join('\n');
}

/** A few letters say nothing without their line. @param {Survivor} survivor */
const where = ({ line, at, from }) => (from.length < FROM_MIN ? `line ${line}, in ${code(at)}` : `line ${line}`);

const code = (/** @type {string} */ text) => (text === '' ? 'nothing' : `\`${text.replaceAll('`', 'ˋ')}\``);

/** @param {Record<string, FileResult>} results */
function page(results) {
  const lists = Object.entries(results)
    .filter(([, { survivors }]) => survivors.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, { survivors }]) =>
        `### ${name}\n\n${survivors.map((one) => `- ${where(one)}: ${code(one.from)} → ${code(one.to)}. ${one.reason || 'No reason yet.'}`).join('\n')}\n`,
    );
  return `${INTRO}\n${table(results)}\n\n## Survivors\n\n${lists.join('\n')}`;
}

const INTRO = `# Mutants

Each line of \`src/core\` and \`src/engine\` is changed on purpose, one change at a time: conditions turned round, operators and
literals exchanged, blocks and arrow functions emptied, single statements left out. A change that makes no test fail has
survived. \`npm run test:mutation\` does it all over again with [StrykerJS](https://stryker-mutator.io/);
\`-- --slice core\`, \`engine\` or a file does a part. *Endless*: stopped as a loop that turned a hundred times too often, or as a test that waits for what
can't come any more. Those count as killed, the others are killed by an assertion.

This page is printed by \`scripts/mutation/report.mjs\`; the reasons are in \`scripts/mutation/results.json\`.
`;

/** Of the `files` that were judged now; what was found of others before stays. @param {string} root @param {readonly string[]} files @param {StrykerResult} found */
export function report(root, files, found) {
  const path = join(root, 'scripts', 'mutation', 'results.json');
  /** @type {Record<string, FileResult>} */
  const results = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  /** @type {Record<string, FileResult>} */
  const now = {};
  for (const [name, file] of Object.entries(found.files).filter(([name]) => files.includes(name))) now[name] = resultOf(file, results[name]?.survivors ?? []);
  Object.assign(results, now);
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(root, 'docs', 'mutants.md'), page(results));
  console.log(table(now));
  for (const [name, { survivors }] of Object.entries(now))
    for (const { line, from, to, reason } of survivors) console.log(`${name}:${line}  ${code(from)} → ${code(to)}  ${reason}`);
}
