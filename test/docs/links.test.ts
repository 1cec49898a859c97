/**
 * Goal: every link of README, docs and the files beside README leads somewhere. Method: looks up files and headings; of
 * a web address it checks only the form.
 */
import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, linksOf, readPage, readPages, root } from './support/markdown.js';

const pages = readPages();
/** The files beside README. */
const others = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'llms.txt'].map(readPage);
const links = [...pages, ...others].flatMap(linksOf);

test.each(links.map(({ path, target }) => [path, target]))('%s: %s', (path, target) => {
  if (/^[a-z]+:/.test(target)) return expect(target).toMatch(/^https:\/\/[\w.-]+\//);
  const [file = '', anchor] = target.split('#');
  const to = file === '' ? path : posix.join(posix.dirname(path), file);
  expect(existsSync(join(root, to)), `${to} exists`).toBe(true);
  expect(statSync(join(root, to)).isFile()).toBe(true);
  if (anchor !== undefined) expect([...anchorsOf(readPage(to))]).toContain(anchor);
});

test('README, or CONTRIBUTING for maintainers, leads to every page of docs, directly or through other pages', () => {
  const reached = new Set(['README.md', 'CONTRIBUTING.md']);
  for (const from of reached) {
    for (const { path, target } of links)
      if (path === from && !/^[a-z]+:/.test(target)) reached.add(posix.join(posix.dirname(from), target.split('#')[0] || posix.basename(from)));
  }
  expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  for (const path of ['CHANGELOG.md', 'SECURITY.md', 'llms.txt']) expect([...reached]).toContain(path);
});
