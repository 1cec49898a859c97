/**
 * Goal: docs/schemes (common-mistakes, duplicate-filter) says truly how calls end at servers with the mistakes that tutorials make.
 * Method: as in `lying.test.ts`. UPDATE_DOCS=1 writes the last three cells of each row. The probe must also find each mistake.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { defineDialect, generic, inHeader } from '../../src/entries/dialects.js';
import { openProbe } from '../../src/probe/probe.js';
import type { ProbeTarget } from '../../src/probe/request.js';
import type { ProbeRowName } from '../../src/probe/rows.js';
import { readPage, root, tableUnder } from '../docs/support/markdown.js';
import { TIMES } from '../probe/support/probed.js';
import { type Lie, startLiar } from './support/liar.js';
import { WORK_MS } from './support/lies.js';
import { acceptsMeanwhile, filtersByHash, insertsFirst, storesFaults, tooMany, withoutOwner } from './support/mistakes.js';
import { type Case, told } from './support/told.js';

/** Gives up an attempt while the server still works. */
const impatient = { attemptMs: WORK_MS / 3, inProgressMs: 3 * WORK_MS };
/**
 * Enough attempts for the work to run twice, because it fails the first time. On a busy machine many attempts time out,
 * and each of them counts.
 */
const waits = { attemptMs: impatient.attemptMs, attempts: 100, totalMs: 60_000, inProgressMs: 60_000 };
/** The dialect that the page shows. */
const rules = defineDialect({
  name: 'theirs',
  place: inHeader('Idempotency-Key'),
  answers: [
    { status: 429, at: { error: 'Duplicate request' }, means: 'open' },
    { status: 200, text: /"duplicate":\s*true/, means: 'open' },
  ],
});

const CASES: Readonly<Record<string, Case>> = {
  'inserts the key, then works; a duplicate returns success': { lie: insertsFirst() },
  'inserts the key, then works; with a rule and `reconcile`': { lie: insertsFirst(), options: { dialect: rules, reconcile: async () => 'none' } },
  'inserts the key, then works; mended': { lie: insertsFirst({ mended: true }) },
  'answers a duplicate with 429': { lie: tooMany(), lose: 1 },
  'answers a duplicate with 429; with a rule and `reconcile`': { lie: tooMany(), lose: 1, options: { dialect: rules, reconcile: async () => 'done' } },
  'answers a duplicate with 429; mended': { lie: tooMany({ mended: true }), lose: 1 },
  'answers 202 while the first may still fail': { lie: acceptsMeanwhile(), options: { limits: waits }, settles: true },
  "answers 202 while the first may still fail; with `accepted: 'settle'`": {
    lie: acceptsMeanwhile(),
    options: { limits: impatient, accepted: 'settle' },
    settles: true,
  },
  'answers 202 while the first may still fail; mended': { lie: acceptsMeanwhile({ mended: true }), options: { limits: waits }, settles: true },
  'keeps a row `processing` without an owner': { lie: withoutOwner(), lose: 1 },
  'keeps a row `processing` without an owner; with `reconcile`': { lie: withoutOwner(), lose: 1, options: { reconcile: async () => 'none' } },
  'keeps a row `processing` without an owner; mended': { lie: withoutOwner({ mended: true }), lose: 1 },
  'stores a 500': { lie: storesFaults() },
  'stores a 500; with `reconcile`': { lie: storesFaults(), options: { reconcile: async () => 'none' } },
  'stores a 500; mended': { lie: storesFaults({ mended: true }) },
};

const LOOKS = { dialect: rules, reconcile: async () => 'done' as const };
const SEES_NOTHING = { dialect: rules, reconcile: async () => 'none' as const };
const WINDOW_MS = 500;

const FILTER: Readonly<Record<string, Case>> = {
  'its answer is lost': { lie: filtersByHash(), lose: 1 },
  'its answer is lost; with a rule and `reconcile`': { lie: filtersByHash(), lose: 1, options: LOOKS },
  'its answer is lost, and the window ends meanwhile': { lie: filtersByHash({ windowMs: WINDOW_MS }), lose: 1 },
  'its answer is lost, and the window ends meanwhile; with a rule and `reconcile`': { lie: filtersByHash({ windowMs: WINDOW_MS }), lose: 1, options: LOOKS },
  'its work fails': { lie: filtersByHash({ fails: true }) },
  'its work fails; with a rule and `reconcile`': { lie: filtersByHash({ fails: true }), options: SEES_NOTHING },
  'an equal one came before, which is somebody else’s': { lie: filtersByHash(), after: 'an equal one' },
  'an equal one came before, which is somebody else’s; with a rule and `reconcile`': { lie: filtersByHash(), after: 'an equal one', options: SEES_NOTHING },
  'its answer is lost; mended': { lie: filtersByHash({ mended: true }), lose: 1 },
  'its work fails; mended': { lie: filtersByHash({ mended: true, fails: true }) },
  'an equal one came before, which is somebody else’s; mended': { lie: filtersByHash({ mended: true }), after: 'an equal one' },
};

const PAGES: Readonly<Record<string, { readonly heading: string; readonly cases: Readonly<Record<string, Case>> }>> = {
  'docs/schemes/common-mistakes.md': { heading: '## What happens', cases: CASES },
  'docs/schemes/duplicate-filter.md': { heading: '## As it is commonly written', cases: FILTER },
};
const found = new Map<string, string>();

describe.each(Object.entries(PAGES))('%s', (page, { heading, cases }) => {
  const rows = tableUnder(readPage(page), heading);

  test.each(Object.entries(cases))('%s', async (name, one) => {
    await using server = await startLiar(one.lie, one.lose ?? 0);
    const { ends, requests, effects } = await told(one, server);
    const cells = [`\`${ends}\``, requests, String(effects)];
    found.set(name, cells.join(' | '));
    if (process.env['UPDATE_DOCS']) return;
    expect(rows.find(([said]) => said === name)?.slice(2)).toEqual(cells);
  });

  test('has a row for each of these cases, and no others', () => expect(rows.map(([server]) => server)).toEqual(Object.keys(cases)));
});

/** What the probe's row `row` finds at a server with this mistake. */
async function findingOf(lie: Lie, row: ProbeRowName): Promise<string> {
  await using server = await startLiar(lie, 0);
  const url = `${server.origin}/payments`;
  const ask = (to: string, key: string, body: object) => fetch(to, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify(body) });
  // The server fails its first request, so this one is sent before the probe starts.
  await ask(url, 'the first', {});
  const target: ProbeTarget = {
    url: () => url,
    send: ({ url: through, key, operation, payload }) => ask(through, key, { operation, payload }),
    count: () => server.ledger.effects.length,
  };
  const probe = await openProbe(target, { ...TIMES, patienceMs: 4 * TIMES.patienceMs }, generic());
  try {
    await probe.play('first');
    return (await probe.play(row)).finding;
  } finally {
    await probe.close();
  }
}

const hashes = ({ mended = false } = {}) => filtersByHash({ fails: true, mended });

test.concurrent.each([
  ['success for a duplicate', insertsFirst, 'passing-fault', 'false-success', 'fault-released'],
  ['429 for a duplicate', tooMany, 'again', 'no-replay', 'replays-marked'],
  ['202 for "processing"', acceptsMeanwhile, 'at-once', 'accepts-while-busy', 'replays-marked'],
  ['no owner', withoutOwner, 'passing-fault', 'stuck', 'fault-released'],
  ['no owner, another payload', withoutOwner, 'changed-after-fault', 'stuck', 'fault-forgets-payload'],
  ['a stored 500', storesFaults, 'passing-fault', 'stored-fault', 'fault-released'],
  ['a filter by hash', hashes, 'passing-fault', 'never-done', 'fault-released'],
] as const)('the probe finds the mistake, and no longer finds it at the corrected server: %s', async (_, server, row, finding, mended) => {
  expect(await findingOf(server(), row)).toBe(finding);
  expect(await findingOf(server({ mended: true }), row)).toBe(mended);
});

afterAll(() => {
  if (!process.env['UPDATE_DOCS']) return;
  for (const page of Object.keys(PAGES)) {
    const path = join(root, page);
    const text = readFileSync(path, 'utf8').replaceAll(/^\| (.+?) \| (.+?) \|.*$/gm, (line: string, name: string, says: string) =>
      found.has(name) ? `| ${name} | ${says} | ${found.get(name)} |` : line,
    );
    writeFileSync(path, text);
  }
});
