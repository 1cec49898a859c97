/**
 * Goal: everything that the installed package refers to is inside it. Method: follows every link of its Markdown within
 * the package, and searches the comments of the built files for documents that it does not contain.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anchorsOf, linksOf, type Page } from '../docs/support/markdown.ts';
import { type Installed, install } from './installed.js';

let installed: Installed;
beforeAll(() => void (installed = install()));
afterAll(() => installed?.remove());

const text = (path: string): string => readFileSync(join(installed.folder, path), 'utf8');
const page = (path: string): Page => ({ path, text: text(path) });
const pages = (): Page[] => installed.files.filter((file) => /\.md$|^llms\.txt$/.test(file)).map(page);

function isDead({ path, target }: { path: string; target: string }): boolean {
  if (/^[a-z]+:/.test(target)) return !target.startsWith('https://');
  const [file = '', anchor] = target.split('#');
  const to = file === '' ? path : posix.join(posix.dirname(path), file);
  if (!installed.files.includes(to)) return true;
  return anchor !== undefined && !anchorsOf(page(to)).has(anchor);
}

describe('links', () => {
  test('of README lead to a file of the package, or to the web', () => {
    const links = linksOf(page('README.md'));
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(isDead)).toEqual([]);
  });

  test('of the guides lead there too, and all guides are there', () => {
    expect(pages().length).toBeGreaterThan(30);
    expect(pages().flatMap(linksOf).filter(isDead)).toEqual([]);
  });

  test('the check notices a link that leads nowhere', () => {
    expect(isDead({ path: 'README.md', target: 'docs/nowhere.md' })).toBe(true);
    expect(isDead({ path: 'docs/react.md', target: '#nowhere' })).toBe(true);
    expect(isDead({ path: 'docs/react.md', target: 'ssr.md#what-requests-share' })).toBe(false);
  });
});

/** Cites one of our documents by a name that no user has, or a section of an unnamed document. */
const CITES = /\bDESIGN\b|\b[Rr]ows? \d|\((?:A|B|C|E)\d{1,2}\)|(?<!\b(?:RFC|draft|specification|IETF|HTTP)\b[^\n]{0,80})\b[Ss]ection \d/g;

describe('comments in the built files', () => {
  const files = () => installed.files.filter((file) => /\.(js|cjs|d\.ts|d\.cts)$/.test(file));

  test('cite no document that the package does not contain', () => {
    expect(files().length).toBeGreaterThan(20);
    expect(files().flatMap((file) => (text(file).match(CITES) ?? []).map((cited) => `${file}: ${cited}`))).toEqual([]);
  });

  test('the check notices such a citation', () => {
    for (const one of ['the table of DESIGN.md', 'see section 9', 'Rows 7, 8', 'a rule (A8)']) expect(one.match(CITES), one).not.toBeNull();
    for (const one of ['RFC 9110, section 9.2.2', 'draft-ietf-httpapi-idempotency-key-header, section 2.7']) expect(one.match(CITES), one).toBeNull();
  });

  test('name only guides that exist', () => {
    const named = files().flatMap((file) => [...text(file).matchAll(/(?<![\w./])docs\/[\w./-]+\.md/g)].map(([path]) => path));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !installed.files.includes(path))).toEqual([]);
  });
});
