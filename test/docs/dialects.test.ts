/**
 * Goal: docs/dialects.md describes every dialect as it is. Method: creates each dialect, and compares its row;
 * `UPDATE_DOCS=1` writes the rows.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as all from '../../src/entries/dialects.js';
import type { Dialect } from '../../src/entries/index.js';
import { readPage, root } from './support/markdown.js';

const PATH = 'docs/dialects.md';
/** What the entry exports besides dialects. */
const TOOLS = ['defineDialect', 'inBody', 'inDirective', 'inHeader', 'inQuery', 'stripeVerdict'];

const makers = Object.entries(all).filter(([name]) => !TOOLS.includes(name)) as [string, (options?: { makes: 'payout' }) => Dialect][];

/** Carriers as records keep them: `header:Name`, `header-sf:Name`, `body:path`, `query:name`, `graphql:@directive(argument)`. */
function placeOf(carrier: string): string {
  const [kind = '', name = ''] = carrier.split(/:(.*)/s);
  const where = { header: 'header', 'header-sf': 'header, quoted', body: 'body', query: 'query', graphql: 'directive' }[kind];
  if (where === undefined) throw new Error(`nothing is said of the place ${carrier}`);
  return `${where} \`${name.replace('+', '`, `')}\``;
}

const HOUR = 3_600_000;
const spanOf = (ms: number): string => (ms >= 48 * HOUR ? `${ms / 24 / HOUR} days` : ms >= HOUR ? `${ms / HOUR} h` : `${ms / 60_000} min`);
const yes = (known: boolean | undefined): string => (known === undefined ? 'not known' : known ? 'yes' : 'no');

function rowOf([name, make]: (typeof makers)[number]): string {
  const { carrier, windowMs, answersMismatch } = make(...(name === 'razorpay' ? [{ makes: 'payout' } as const] : []));
  const span = windowMs > 1000 * 24 * HOUR ? 'for good' : spanOf(windowMs);
  return `| \`${name}\` | ${placeOf(carrier ?? '')} | ${span} | ${yes(answersMismatch)} |`;
}

const BLOCK = /(<!-- generated: dialects -->\n)[\s\S]*?(<!-- \/generated -->)/;
const table = ['| dialect | the key goes into | remembers | refuses another payload |', '| --- | --- | --- | --- |', ...makers.map(rowOf)].join('\n');

test('docs/dialects.md has a row for every dialect (UPDATE_DOCS=1 writes them)', () => {
  const wanted = readPage(PATH).text.replace(BLOCK, `$1\n${table}\n\n$2`);
  if (process.env['UPDATE_DOCS']) writeFileSync(join(root, PATH), wanted);
  expect(readPage(PATH).text).toBe(wanted);
  expect(makers.length).toBeGreaterThan(10);
});
