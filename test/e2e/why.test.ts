/**
 * Goal: oncefetch does in real pages what docs/why.md says. Method: plays its lane through every scenario, and compares the cells
 * with the guide. `npm run playground:why` plays the other lanes, too.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { SCENARIOS } from '../../playground/why/scenarios.ts';

const root = join(import.meta.dirname, '../..');

/** The first and the last cell of each row. */
const rowsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      return cells.length > 3 ? [[cells[1] ?? '', cells.at(-2) ?? '']] : [];
    }),
  );

test('oncefetch charges once in every scenario, as docs/why.md says', { timeout: 600_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['playground/why.ts', '--only', 'oncefetch'], { cwd: root });
  const played = rowsOf(stdout);
  expect(Object.keys(played)).toEqual(expect.arrayContaining(SCENARIOS.map(({ name }) => name)));
  expect(rowsOf(readFileSync(join(root, 'docs/why.md'), 'utf8'))).toMatchObject(Object.fromEntries(SCENARIOS.map(({ name }) => [name, played[name]])));
  for (const { name } of SCENARIOS) expect(played[name], name).toMatch(/^once/);
});
