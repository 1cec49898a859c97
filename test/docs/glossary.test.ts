/**
 * Goal: docs/glossary.md explains the words that users meet, and the guides link to it. Method: compares the page with
 * the types, and searches the guides for its terms.
 */
import { expect, test } from 'vitest';
import { anchorsOf, linksOf, type Page, proseOf, readPage, readPages, tableUnder } from './support/markdown.js';
import { unionOf } from './support/public-types.js';

const page = readPage('docs/glossary.md');
const words = (start: string): readonly string[] => {
  const text = page.text.slice(page.text.indexOf(start));
  return tableUnder({ ...page, text: `\n\n${text}` }, '').map(([word = '']) => word.replaceAll('`', ''));
};

test('it has every word of an outcome and of a verdict, and no others', () => {
  expect([...words('### Outcome')].sort()).toEqual([...new Set(unionOf('Ending', 'effect'))].sort());
  expect(words('The `type` of an outcome')).toEqual(unionOf('Ending', 'type'));
  expect([...words('### Verdict')].sort()).toEqual([...unionOf('Verdict')].sort());
});

test('each term is explained in a few plain sentences', () => {
  const terms = page.text.split(/^### /m).slice(1);
  expect(terms.length).toBeGreaterThan(20);
  for (const term of terms) {
    const [title = '', text = ''] = term.split(/\n\n/);
    expect(text.split(/(?<=[.!?]) /).length, title).toBeLessThanOrEqual(4);
  }
});

/** Terms that no reader knows without an explanation. */
const TERMS = ['ambiguous', 'burnt', 'dialect', 'generation', 'key window', 'lease', 'namespace'];
/** Pages that are generated, written for maintainers, or about servers. */
const OTHERS =
  /^docs\/(?:decisions\/|schemes\/|(?:README|api|architecture|cost|explore|glossary|observability|probe|runtimes|server|simulation|ssr|testing|verdicts)\.md)/;

/** The text of a page without code, links, headings and comments. */
const plain = (guide: Page): string => proseOf(guide).replaceAll(/`[^`]*`|\[[^\]]*\]\((?!glossary)[^)]*\)|^#.*$|<!--[\s\S]*?-->/gm, '');
const uses = (guide: Page, term: string): boolean => new RegExp(`\\b${term}s?\\b`, 'i').test(plain(guide));
const using = readPages()
  .filter(({ path }) => path.startsWith('docs/') && !OTHERS.test(path))
  .flatMap((guide) => TERMS.filter((term) => uses(guide, term)).map((term) => [guide.path, term] as const));

test('some guides use its terms', () => expect(using.length).toBeGreaterThan(10));

test.each(using)('%s, which says "%s", links to it', (path, term) => {
  const anchor = term.replace(' ', '-');
  expect([...anchorsOf(page)]).toContain(anchor);
  expect(linksOf(readPage(path)).map(({ target }) => target)).toContain(`glossary.md#${anchor}`);
});
