// @vitest-environment jsdom
/**
 * Goal: the drawings agree with the types, for people who cannot see them as well. Method: parses the drawings, and
 * compares their text.
 */
import { describe, expect, test } from 'vitest';
import { drawings } from '../../scripts/drawings/all.ts';
import { svgOf } from '../../scripts/drawings/svg.ts';
import { linksOf, readPage, readPages } from './support/markdown.js';
import { unionOf } from './support/public-types.js';

const parse = (text: string): XMLDocument => new DOMParser().parseFromString(text, 'image/svg+xml');
const wordsOf = (path: string): readonly string[] =>
  [...parse(readPage(path).text).querySelectorAll('text.word')].flatMap(({ textContent }) => (textContent ?? '').split(/[\s,·]+/));
const sorted = (words: Iterable<string>): readonly string[] => [...new Set(words)].sort();

describe.each(Object.entries(drawings))('%s', (path, drawing) => {
  const document = parse(readPage(path).text);
  const within = (x: number, y: number): boolean => x >= 0 && x <= drawing.width && y >= 0 && y <= drawing.height;

  test('is what its source generates (`npm run drawings` writes it)', () => expect(readPage(path).text).toBe(svgOf(drawing)));

  test('is XML, and its title and description label the picture', () => {
    expect(document.documentElement.localName).toBe('svg');
    expect(document.documentElement.getAttribute('role')).toBe('img');
    for (const id of document.documentElement.getAttribute('aria-labelledby')?.split(' ') ?? [])
      expect(document.getElementById(id)?.textContent?.length, id).toBeGreaterThan(15);
    expect([...document.documentElement.children].slice(0, 2).map(({ localName }) => localName)).toEqual(['title', 'desc']);
  });

  test('has colours for dark and light, and no others', () => {
    const style = document.querySelector('style')?.textContent ?? '';
    expect(style).toContain('@media (prefers-color-scheme: dark)');
    const [light = '', dark = ''] = style.match(/svg \{[^}]*\}/g) ?? [];
    const names = (rule: string): readonly string[] => [...rule.matchAll(/(--\w+):/g)].map(([, name = '']) => name);
    expect(names(dark)).toEqual(names(light));
    expect(style.replaceAll(/svg \{[^}]*\}/g, '')).not.toMatch(/#[0-9a-f]{3,6}/i);
  });

  test('has nothing outside its frame', () => {
    const places = [...document.querySelectorAll('text')].map((one) => [Number(one.getAttribute('x')), Number(one.getAttribute('y'))] as const);
    expect(places.length).toBeGreaterThan(5);
    expect(places.filter(([x, y]) => !within(x, y))).toEqual([]);
  });

  test('is shown in a guide, with an alternative text', () => {
    const name = path.replace('docs/', '');
    const shown = readPages().flatMap(({ text }) => [...text.matchAll(/!\[([^\]]*)\]\((?:docs\/)?([^)]+)\)/g)].filter(([, , target]) => target === name));
    expect(shown.length).toBeGreaterThan(0);
    for (const [, alternative = ''] of shown) expect(alternative.length).toBeGreaterThan(60);
  });
});

test('the check notices a drawing that is not XML', () => {
  expect(() => parse('<svg xmlns="http://www.w3.org/2000/svg"><text>a & b</svg>').documentElement.localName === 'svg' || expect.unreachable()).toThrow();
});

test('the tree ends in every word of an outcome', () => {
  expect(sorted(wordsOf('docs/images/which-outcome.svg'))).toEqual(sorted([...unionOf('Ending', 'effect'), ...unionOf('Ending', 'type')]));
});

// `loading` is a phase of the screen alone, before it has read the store.
test('the life of an operation has the phases of its state', () => {
  expect(sorted(wordsOf('docs/images/life-of-an-operation.svg'))).toEqual(sorted(unionOf('OperationState', 'phase').filter((phase) => phase !== 'loading')));
});

test('README and two guides show them', () => {
  const from = readPages().filter((page) => linksOf(page).some(({ target }) => Object.keys(drawings).some((path) => path.endsWith(target))));
  expect(from.map(({ path }) => path)).toEqual(['README.md', 'docs/names-and-keys.md', 'docs/outcomes.md']);
});
