/**
 * Goal: the tables of the guides list everything that the code has. Method: compares each table with a union, a list or
 * a stored record.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { generic } from '../../src/dialects/generic.js';
import { answers, clear, hooks, requests } from '../../src/entries/index.js';
import { faultNames } from '../../src/testing/faults.js';
import { storeFaultNames } from '../../src/testing/faulty-store.js';
import { DIAGNOSTICS } from '../../src/texts/full.js';
import { readTexts, Sources, walk } from '../architecture/sources.js';
import { anchorsOf, readPage, root, tableUnder } from './support/markdown.js';
import { unionOf } from './support/public-types.js';
import { createOnce, enter, leave, shop, stored } from './support/stage.js';

const plain = (cell = ''): string => cell.replaceAll('`', '');
const words = (path: string, heading: string): readonly string[] => tableUnder(readPage(path), heading).map(([cell]) => plain(cell));

test('docs/outcomes.md has every type and every reason', () => {
  expect(words('docs/outcomes.md', '## What the words rest on')).toEqual(unionOf('Ending', 'type'));
  expect([...words('docs/outcomes.md', '### Why nobody knows')].sort()).toEqual([...unionOf('UnknownReason')].sort());
  expect([...words('docs/outcomes.md', '### Why nothing was sent')].sort()).toEqual([...unionOf('UnsentReason')].sort());
});

test('docs/testing.md has every fault', () => {
  expect(words('docs/testing.md', '## Faults')).toEqual(faultNames);
  const { text } = readPage('docs/testing.md');
  expect([...(/Its faults: (.*)\./.exec(text)?.[1]?.matchAll(/`([\w-]+)`/g) ?? [])].map(([, name]) => name)).toEqual(storeFaultNames);
});

test('docs/server.md names the replay headers that the client understands', () => {
  const said = readPage('docs/server.md').text.split('## Replay headers that are understood')[1]?.split('\n## ')[0] ?? '';
  const names = [...said.matchAll(/`([A-Z][\w-]+\w)`/g)].map(([, name = '']) => name.toLowerCase());
  const all = new Set(names.flatMap((name) => (/^idempoten(t|cy)-replay/.test(name) ? [name, `x-${name}`] : [name])));
  const answer = { status: 200, type: 'basic', redirected: false, text: '', json: undefined };
  const marks = (name: string): boolean =>
    ['true', 'replayed'].some((value) => generic().replayed({ ...answer, header: (of) => (of === name ? value : null) }));
  const known = readFileSync(join(root, 'src/dialects/generic.ts'), 'utf8').match(/(?<=')[a-z-]*idempoten[a-z-]+(?=')/g) ?? [];
  expect([...all].sort()).toEqual([...new Set(known)].sort());
  expect([...all].filter((name) => !marks(name))).toEqual([]);
});

test('docs/diagnostics.md explains every code', () => {
  const codes: string[] = Object.keys(DIAGNOSTICS);
  for (const file of ['src/engine', 'src/features'].flatMap((folder) => [...new Sources(readTexts(root, folder)).files.values()]))
    walk(file, (node) => {
      // Calls such as emit(call, key, { type: 'diagnostic', code }), including those whose text varies.
      const members = new Map(
        ts.isObjectLiteralExpression(node) ? node.properties.filter(ts.isPropertyAssignment).map((one) => [one.name.getText(), one.initializer]) : [],
      );
      const [type, code] = [members.get('type'), members.get('code')];
      if (type && code && ts.isStringLiteral(type) && type.text === 'diagnostic' && ts.isStringLiteral(code)) codes.push(code.text);
    });
  expect(codes.length).toBeGreaterThan(4);
  const { text } = readPage('docs/diagnostics.md');
  expect([...text.matchAll(/^## ([a-z-]+)$/gm)].map(([, code]) => code).sort()).toEqual([...new Set(codes)].sort());
  expect(anchorsOf({ path: '', text })).toContain('retry-after-hidden');
});

describe('docs/log-out.md', () => {
  vi.setConfig({ testTimeout: 20_000 });
  beforeEach(() => enter('page'));
  afterEach(leave);

  const documented = tableUnder(readPage('docs/log-out.md'), '## What a record holds').flatMap(([cell = '']) =>
    cell.split(',').map((name) => plain(name).trim()),
  );

  /** Makes an operation whose record has every field that a record can have. */
  async function operate(): Promise<void> {
    const once = createOnce({
      use: [answers(), hooks(), requests()],
      namespace: 'anna@example.com',
      keep: { request: true, response: 'disk' },
      headers: () => ({ 'x-trace': 'trace-7' }),
    });
    shop().server.faults.next(...Array<'lose-response'>(5).fill('lose-response'));
    const init = { method: 'POST', headers: { authorization: 'Bearer secret-token', cookie: 'sid=secret-cookie', accept: 'application/json' } };
    await once.fetch('/api/payments', { ...init, body: '{"cart":"the body"}', once: { operation: ['pay', 'c-1'], meta: { total: 1 } } }).catch(() => {});
    await once.fetch('/api/payments', { ...init, body: '{"cart":"c-2"}', once: ['pay', 'c-2'] });
  }

  test('lists every field of a record that is stored', async () => {
    await operate();
    const fields = new Set(stored().flatMap((record) => Object.entries(record as object).flatMap(([name, value]) => (value === undefined ? [] : [name]))));
    expect(fields.size).toBeGreaterThan(20);
    expect([...fields].filter((name) => !documented.includes(name))).toEqual([]);
    const own = /interface RecordCore [\s\S]*export type OnceRecord/.exec(readFileSync(join(root, 'src/core/record.ts'), 'utf8'))?.[0] ?? '';
    const declared = new Set([...own.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name));
    expect([...documented].sort()).toEqual([...declared].sort());
  });

  test('rightly says that no credential and no namespace is stored', async () => {
    await operate();
    const text = JSON.stringify(stored());
    expect(text).toContain('the body');
    for (const secret of ['secret-token', 'secret-cookie', 'trace-7', 'anna@example.com']) expect(text).not.toContain(secret);
  });

  test('rightly says what a log-out leaves', async () => {
    await operate();
    await clear(createOnce({ namespace: 'anna@example.com' }));
    const records = stored() as Record<string, unknown>[];
    const [left, ...others] = records.sort((a, b) => String(a['state']).localeCompare(String(b['state'])));
    expect(left).toMatchObject({ state: 'pending', label: '["pay","c-1"]' });
    for (const other of others) expect(Number(other['forgetAt']) - Number(other['settledAt'])).toBe(120_000);
    for (const record of records) expect(['meta', 'request', 'answer', 'earlier'].filter((name) => record[name] !== undefined)).toEqual([]);
  });
});
