/** Shows that a proof notices faults: takes safeties out of a copy of the sources, one at a time, and lets the proof look. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleSimulation } from './simulation-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @typedef {{ readonly name: string, readonly file: string, readonly find: string, readonly replace: string }} Break */
/** @typedef {{ caught: boolean, says: string }} Found */

/**
 * Tries the breaks of `test/<proof>/breaks.json` whose name includes `only`. Sets the exit code if one is missed.
 *
 * @template {Break} B
 * @param {string} proof - the folder of the proof in `test`; its `main.ts` is the program that looks
 * @param {string | undefined} only
 * @param {(sound: string) => (broken: B, main: string) => Found} looks - gets the program of the unbroken sources, then each break with its program
 */
export function tryBreaks(proof, only, looks) {
  /** @type {readonly B[]} */
  const breaks = JSON.parse(readFileSync(join(root, 'test', proof, 'breaks.json'), 'utf8'));
  const chosen = breaks.filter(({ name }) => only === undefined || name.includes(only));
  // Otherwise a misspelled name would look like a proof.
  if (!chosen.length) throw new Error(`no break of test/${proof}/breaks.json has "${only}" in its name`);
  const copy = mkdtempSync(join(tmpdir(), `oncefetch-${proof}-breaks-`));
  for (const part of new Set(['src', 'test/simulation', `test/${proof}`])) cpSync(join(root, part), join(copy, part), { recursive: true });
  const sound = bundleSimulation(copy, `test/${proof}/main.ts`);
  const look = looks(sound.main);
  /** @param {B} broken @returns {Found} */
  const attempt = (broken) => {
    const { file, find, replace } = broken;
    const path = join(copy, 'src', file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(find)) return { caught: false, says: `src/${file} has changed: what was to be broken is not there` };
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
    const { folder, main } = bundleSimulation(copy, `test/${proof}/main.ts`);
    try {
      return look(broken, main);
    } finally {
      rmSync(folder, { recursive: true });
      writeFileSync(path, text);
    }
  };
  let missed = 0;
  try {
    for (const broken of chosen) {
      const { caught, says } = attempt(broken);
      if (!caught) missed++;
      console.log(`${caught ? 'caught' : 'MISSED'}  ${broken.name}\n        ${says}`);
    }
  } finally {
    rmSync(copy, { recursive: true });
    rmSync(sound.folder, { recursive: true });
  }
  console.log(missed === 0 ? 'every break was caught' : `${missed} not caught`);
  process.exitCode = missed === 0 ? 0 : 1;
}
