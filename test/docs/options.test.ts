/**
 * Goal: docs/options.md has every option, with the default that the code uses. Method: compares the page with the
 * types, and with the settings of a client.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientSettings } from '../../src/options.js';
import { readPage, root, tableUnder } from './support/markdown.js';
import { membersOf } from './support/public-types.js';

const PATH = 'docs/options.md';
const { members, tags } = publicOptions();
if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(join(root, PATH), withDefaults(readPage(PATH).text));
const page = readPage(PATH);

/** The page with each default replaced by the one in the option's documentation. */
function withDefaults(text: string): string {
  const cellOf = (tag: string): string => (/^'[\w-]+'$/.test(tag) ? `\`${tag}\`` : tag);
  return text.replaceAll(/^\| `([\w.]+)` \| ([^|]*) \|/gm, (row, name: string) => (tags.has(name) ? `| \`${name}\` | ${cellOf(tags.get(name) ?? '')} |` : row));
}

/** Every option under the name that the page gives it, with the default that its documentation states. */
function publicOptions(): { readonly members: ReadonlySet<string>; readonly tags: ReadonlyMap<string, string> } {
  const groups = { keep: membersOf('Keep'), limits: membersOf('Limits') };
  const single = [...membersOf('OnceOptions'), ...membersOf('OperationOptions')].filter(({ name }) => !(name in groups));
  const all = [...single, ...Object.entries(groups).flatMap(([group, own]) => own.map(({ name, tag }) => ({ name: `${group}.${name}`, tag })))];
  return { members: new Set(all.map(({ name }) => name)), tags: new Map(all.flatMap(({ name, tag }) => (tag === undefined ? [] : [[name, tag]]))) };
}

describe('the options', () => {
  const tables = ['### Of a client', '### Of a client or a call', '### Of a call'].map((heading) => tableUnder(page, heading));
  const rows = new Map(tables.flat().map(([name = '', value = '']) => [name.replaceAll('`', ''), value]));
  const plain = (words: string): string => words.replaceAll('`', '');

  test('are all there, and no others', () => expect([...rows.keys()].sort()).toEqual([...members].sort()));

  test.each([...tags])('%s: its default is the one in its documentation (UPDATE_DOCS=1 writes it)', (name, tag) => {
    expect(plain(rows.get(name) ?? '')).toBe(plain(tag));
  });

  test('the defaults in the documentation are the ones that the code uses', () => {
    const { limits, keep, retry, ...settings } = clientSettings({});
    const digits = (value: unknown): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, '_');
    for (const [name, value] of Object.entries(limits)) expect(rows.get(`limits.${name}`), name).toContain(digits(value));
    expect(rows.get('keep.forMs')).toContain(digits(keep.forMs));
    expect(rows.get('keep.request')).toBe(String(keep.request));
    expect(rows.get('keep.response')).toMatch(/'memory'; 'disk' for .run.*on a server/);
    expect(rows.get('retry')).toBe(`${retry.minDelayMs} ms to ${digits(retry.maxDelayMs)} ms, factor ${retry.factor}, budget ${retry.budget}`);
    for (const name of ['repeat', 'whenBusy'] as const) expect(rows.get(name)).toBe(`\`'${settings[name]}'\``);
  });
});

test('the features are those that can be imported', () => {
  const named = tableUnder(page, '## Features').map(([name = '']) => name.replaceAll(/`|\(.*/g, ''));
  const { text } = readPage('api/index.api.md');
  expect([...named].sort()).toEqual(
    [...text.matchAll(/^export (?:const|function) (\w+)(?:: )?\(.*\)(?: =>|:) Feature;/gm)].map(([, name = '']) => name).sort(),
  );
});
