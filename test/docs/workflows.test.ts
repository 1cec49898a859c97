/**
 * Goal: the workflows that build and publish the package use pinned actions, and have no more permissions than they
 * need. Method: reads their files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './support/markdown.js';

const folder = join(root, '.github/workflows');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const workflows = readdirSync(folder).map((name) => [name, read(name)] as const);
/** The commands that the workflow runs, one per line. */
const commands = (text: string): readonly string[] => [...text.matchAll(/- run: (.+)$|^ {8}run: (?!\|)(.+)$/gm)].map(([, short, long]) => short ?? long ?? '');

describe.each(workflows)('%s', (_, text) => {
  test('pins each action to a commit, and names the version of that commit', () => {
    const used = [...text.matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action).filter((action) => !action.startsWith('./'));
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('has read permission only, unless a job asks for more', () => {
    expect(/\npermissions:\n((?: {2}.+\n)+)/.exec(text)?.[1]).toBe('  contents: read\n');
    expect(text).not.toMatch(/secrets\./);
  });
});

test('CI installs from the lockfile and runs everything', () => {
  expect(commands(read('ci.yml'))).toEqual(['npm ci', 'npm test']);
  expect(read('ci.yml')).toContain("CI: 'true'");
});

test('a release is tested, has the version of its tag, and is published with provenance and without a token', () => {
  const text = read('release.yml');
  expect(text).toMatch(/needs: test\n/);
  expect(text.match(/id-token: write/g)).toHaveLength(1);
  expect(commands(text).at(-1)).toBe('npm publish --provenance --access public');
  expect(text).toContain('test "v$version" = "$GITHUB_REF_NAME"');
});
