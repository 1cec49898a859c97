/**
 * Makes the theme of the documentation site accessible to screen readers: landmarks, headings in order, no link inside
 * a button, and wide tables that scroll on their own.
 */
import { PageEvent } from 'typedoc';

/** @type {readonly (readonly [theme: string | RegExp, here: string])[]} */
const CHANGES = [
  ['<div class="col-content">', '<div class="col-content" role="main">'],
  ['<div class="page-menu">', '<div class="page-menu" role="complementary" aria-label="This page">'],
  ['<nav class="tsd-navigation">', '<nav class="tsd-navigation" aria-label="All pages">'],
  [/(<summary [^>]*><svg[^>]*><use [^>]*><\/use><\/svg>\s*<h2 [^>]*>[^<]*)<a [^>]*aria-label="Permalink".*?<\/a>(<\/h2>)/g, '$1$2'],
  ['<table>', '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>'],
  ['</table>', '</table></div>'],
];

/**
 * Keeps each heading at most one level deeper than the one before it. Headings keep the size that the theme gives them.
 * @param {string} html
 */
function inOrder(html) {
  let before = 0;
  return html.replace(/<h([1-6])\b/g, (heading, level) => {
    const skips = Number(level) > before + 1;
    before = Math.min(Number(level), before + 1);
    return skips ? `${heading} aria-level="${before}"` : heading;
  });
}

/** @param {import('typedoc').Application} app */
export function load({ renderer }) {
  renderer.on(PageEvent.END, (page) => {
    page.contents = inOrder(CHANGES.reduce((html, [theme, here]) => html.replaceAll(theme, here), page.contents ?? ''));
  });
}
