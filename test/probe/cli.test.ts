/**
 * Goal: the command sends what it was told to send, reports what it found, and sends nothing if its arguments are
 * unusable. Method: `main` in this process, against a real HTTP server that counts requests.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { main } from '../../src/probe/cli/main.js';
import { answer } from '../servers/support/http.js';
import { type Lie, startLiar } from '../servers/support/liar.js';

const honest: Lie = (asked, ledger) => ledger.honest(asked);
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-probe-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function oncefetch(...args: string[]) {
  const said = { out: '', err: '' };
  const status = await main(args, { out: (text) => void (said.out += `${text}\n`), err: (text) => void (said.err += `${text}\n`) });
  return { status, ...said };
}

const FAST = ['--sandbox', '--patience', '500ms', '--settle', '10ms'];
const counted = (origin: string) => ['--count', origin, '--count-path', 'payments'];

test('an honest server: a table, the verdict, the dialect, status 0', async () => {
  await using shop = await startLiar(honest, 0);
  const { status, out, err } = await oncefetch(
    'probe',
    `${shop.origin}/payments`,
    '--body',
    '{"order":"{{operation}}","amount":10}',
    ...FAST,
    ...counted(shop.origin),
  );
  expect(status).toBe(0);
  expect(err).toContain('Up to 22 effects');
  expect(out).toContain('One effect under every fault that was played; but another payload under the same key');
  expect(out).toContain(`It made ${shop.ledger.effects.length} effects.`);
  expect(out).toContain('answersMismatch: false');
  expect(out).toContain('What to do about ignores-payload, cors-refuses: docs/probe.md#what-to-do-about-each-finding\n');
  expect(new Set(shop.requests.map(({ body }) => body)).size).toBeGreaterThan(5);
});

test('a server that executes copies: status 1, and the rows that show it', async () => {
  await using shop = await startLiar((asked, ledger) => ledger.execute(asked), 0);
  const { status, out } = await oncefetch('probe', `${shop.origin}/payments`, '--body', '{"amount":10}', '--json', ...FAST, ...counted(shop.origin));
  const told = JSON.parse(out) as {
    verdict: string;
    oneEffectPerKey: string;
    dialect: { code: string };
    effects: number;
    rows: { row: string; finding: string }[];
  };
  expect([status, told.oneEffectPerKey, told.dialect.code]).toEqual([1, 'broken', `'none'`]);
  expect(told.verdict).toMatch(/^Doubles: the same key twice/);
  expect(told.effects).toBe(shop.ledger.effects.length);
  expect(told.rows.find(({ row }) => row === 'answer-cut')?.finding).toBe('doubles');
});

test('without a count the probe clears no server: status 3, and it says what it cannot see without one', async () => {
  await using shop = await startLiar(honest, 0);
  const { status, out } = await oncefetch('probe', `${shop.origin}/payments`, '--body', '{"amount":10}', ...FAST);
  expect(status).toBe(3);
  expect(out).toContain('nobody counted');
  expect(out).toContain('a second effect that is answered like a replay is not seen');
});

test('without a count, answers that differ are taken for two effects', async () => {
  await using shop = await startLiar((asked, ledger) => ledger.execute(asked), 0);
  expect((await oncefetch('probe', `${shop.origin}/payments`, '--body', '{"amount":10}', ...FAST)).status).toBe(1);
});

test.each([
  ['is refused', () => answer(401), 0, 'is the request right (look at what came back)'],
  ['gets no answer', honest, 1, 'does the server run'],
] as const)('a first request that %s: no dialect is named, and the output says what to look at', async (_, lie, lose, says) => {
  await using shop = await startLiar(lie, lose);
  const { status, out } = await oncefetch('probe', `${shop.origin}/payments`, '--body', '{"amount":10}', ...FAST);
  expect([status, shop.requests.length]).toEqual([1, 1]);
  expect(out).not.toContain('Dialect');
  expect(out).toContain(says);
});

test('a row that was not played names the option that plays it', async () => {
  await using shop = await startLiar(honest, 0);
  const { out } = await oncefetch('probe', `${shop.origin}/payments`, '--body', '{"order":"{{operation}}"}', ...FAST);
  for (const option of ['--changed-body', '--refused-body', '--header', '--as']) expect(out).toMatch(new RegExp(`Not tried: .*${option}`));
});

test('a refused payload that is answered with a 2xx leads to the rule for it', async () => {
  await using shop = await startLiar(honest, 0);
  const { out } = await oncefetch('probe', `${shop.origin}/payments`, '--body', '{"order":"{{operation}}"}', '--refused-body', '{"order":"no"}', ...FAST);
  expect(out).toMatch(/Not tried: the server should have refused the payload, but answered 201: .*docs\/dialects\.md#declined-inside-a-2xx/);
});

// The command starts a process each time it counts.
test('counts by a command, and finds the key in the body', { timeout: 300_000 }, async () => {
  await using shop = await startLiar((asked, ledger) => ledger.honest({ ...asked, key: (JSON.parse(asked.body) as { id: string }).id }), 0);
  const command = `"${process.execPath}" -e "fetch('${shop.origin}').then((r) => r.json()).then((j) => console.log(j.payments))"`;
  const { status, out } = await oncefetch('probe', `${shop.origin}/payments`, '--body', '{"id":"{{key}}","amount":10}', '--count-command', command, ...FAST);
  expect(status).toBe(0);
  expect(out).toContain(`place: inBody('id')`);
});

test('a wait of hours is begun by one run and ended by another', async () => {
  await using shop = await startLiar(honest, 0);
  const state = join(folder, 'state.json');
  const args = ['probe', `${shop.origin}/payments`, '--body', '{"amount":10}', '--header', 'authorization: Bearer secret', ...FAST, ...counted(shop.origin)];
  expect((await oncefetch(...args, '--after', '25h', '--state', state)).out).toContain('To be resumed after');
  const kept = readFileSync(state, 'utf8');
  expect(kept).not.toContain('secret');
  const early = await oncefetch(...args, '--resume', state);
  expect([early.status, early.err]).toEqual([2, expect.stringContaining('it is too early')]);
  // Pretends that 25 hours have passed.
  writeFileSync(state, JSON.stringify({ ...JSON.parse(kept), dueAt: new Date(0).toISOString() }));
  const remembered = await oncefetch(...args, '--resume', state);
  expect(remembered.out).toContain('The key is still known.');
  for (const { key, body, number } of [...shop.requests]) shop.ledger.forget({ key, body, number });
  const forgotten = await oncefetch(...args, '--resume', state);
  expect([forgotten.status, forgotten.out]).toEqual([1, expect.stringContaining('The key is forgotten by then')]);
});

test('repeats a request from a HAR, and from a curl command', async () => {
  await using shop = await startLiar(honest, 0);
  const har = join(folder, 'entry.har');
  const request = { method: 'POST', url: `${shop.origin}/payments`, headers: [{ name: ':path', value: '/' }], postData: { text: '{"amount":7}' } };
  writeFileSync(har, JSON.stringify({ log: { entries: [{ request }] } }));
  const curl = join(folder, 'request.sh');
  writeFileSync(curl, `curl '${shop.origin}/payments' \\\n  -H 'Idempotency-Key: old' \\\n  --data-raw $'{"amount":8,"note":"it\\'s"}' --compressed`);
  for (const [file, body] of [
    [har, '{"amount":7}'],
    [curl, `{"amount":8,"note":"it's"}`],
  ] as const) {
    expect((await oncefetch('probe', '--request', file, ...FAST, ...counted(shop.origin))).status, file).toBe(0);
    expect(shop.requests.some((asked) => asked.body === body && asked.key !== 'old')).toBe(true);
  }
});

const URL_ = 'http://127.0.0.1:9/payments';
test.each([
  ['--sandbox is required', [URL_]],
  ['<url>', ['--sandbox']],
  ['<url>: "ftp://x"', ['ftp://x', '--sandbox']],
  ['--method: GET', [URL_, '--sandbox', '--method', 'GET']],
  ['--header: "a b"', [URL_, '--sandbox', '--header', 'a b']],
  ['--after: "25"', [URL_, '--sandbox', '--after', '25']],
  ['--count-path', [URL_, '--sandbox', '--count-path', 'a']],
  ['--count-command', [URL_, '--sandbox', '--count', URL_, '--count-command', 'echo 1']],
  ['--count-command: found', [URL_, '--sandbox', '--count-command', 'echo many']],
  ['--count:', [URL_, '--sandbox', '--count', URL_]],
  ['--key-header: the request has {{key}} in another place', [URL_, '--sandbox', '--key-header', 'X-Key', '--body', '{"id":"{{key}}"}']],
  ['--elsewhere', [URL_, '--sandbox', '--elsewhere', 'http://other.example/']],
  ['--request', [URL_, '--sandbox', '--request', join(folder, 'nothing')]],
  ['--resume', [URL_, '--sandbox', '--resume', join(folder, 'nothing')]],
  ['--nothing', [URL_, '--sandbox', '--nothing']],
  ['one URL at a time', [URL_, URL_, '--sandbox']],
])('bad arguments are named: %s', async (says, args) => {
  const { status, out, err } = await oncefetch('probe', ...args);
  expect([status, out]).toEqual([2, '']);
  expect(err).toContain(says);
});

test('a count that nobody answers: the message has the address and the cause', async () => {
  const shop = await startLiar(honest, 0);
  const { origin } = shop;
  await shop[Symbol.asyncDispose]();
  const { status, err } = await oncefetch('probe', `${origin}/payments`, ...FAST, '--count', `${origin}/count`);
  expect(status).toBe(2);
  expect(err).toContain(`--count: ${origin}/count: fetch failed (ECONNREFUSED)`);
});

test('a count that changes by itself is rejected, and nothing is sent', async () => {
  await using shop = await startLiar(honest, 0);
  const others = setInterval(() => shop.ledger.effects.push('somebody else'), 20);
  const { status, err } = await oncefetch('probe', `${shop.origin}/payments`, '--body', '{}', ...FAST, ...counted(shop.origin));
  clearInterval(others);
  await sleep(0);
  expect([status, shop.requests.length]).toEqual([2, 0]);
  expect(err).toContain('by itself');
});

test('--help lists the options', async () => {
  const { status, out } = await oncefetch('--help');
  expect(status).toBe(0);
  expect(out).toContain('--sandbox');
});
