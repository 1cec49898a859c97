/**
 * Goal: the probe names the dialect of every server that it knows, and accuses none. Method: for each dialect, a server
 * gives its documented answers (the fixtures of the dialects) in the situations that the probe creates; docs/probe.md
 * lists what the probe must find (UPDATE_DOCS=1 writes it).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { carryOf } from '../../src/core/carrier.js';
import type { Dialect } from '../../src/core/dialect.js';
import { generic } from '../../src/dialects/generic.js';
import { NAMED } from '../../src/probe/named.js';
import { samples } from '../dialects/support/all.js';
import { type Fixture, fixturesOf } from '../dialects/support/fixtures.js';
import { readPage, root, tableUnder } from '../docs/support/markdown.js';
import { type Answer, send, textOf } from '../servers/support/http.js';
import { cellsOf, probed, TIMES } from './support/probed.js';

const [STEPS, STEP_MS] = [12, 5];
/** The same patience as the command's. */
const PATIENCE_MS = 10_000;
/** Much longer than an answer takes on a busy machine. If none comes, the row says so before the time of the test is over. */
const ANSWER_MS = 20_000;
const TEST_MS = 120_000;
const PAGE = 'docs/probe.md';
const HEADING = '## What it says of servers that have a dialect';
const said = new Map<string, readonly string[]>();

const recorded = (all: readonly Fixture[], kind: Fixture['clean']): Answer | undefined =>
  // Some servers have one answer for every error: after a clean attempt it means a refusal, after an ambiguous one it
  // means this kind.
  all.find(({ clean }) => clean === kind) ?? all.find(({ clean, ambiguous }) => clean === 'refused' && ambiguous === kind);

/** A server that takes a key before it works, and answers as the documentation of the dialect shows. */
async function startRecorded(dialect: Dialect, fixtures: readonly Fixture[]) {
  const effects: string[] = [];
  const known = new Map<string, { readonly body: string; done: boolean }>();
  const again = recorded(fixtures, 'replayed') ?? recorded(fixtures, 'fresh') ?? { status: 200, body: { id: 'a' } };
  const marked = recorded(fixtures, 'replayed') !== undefined;
  // If the replay has a mark, in a header or in the body, the first answer has none.
  const first: Answer = marked ? (recorded(fixtures, 'fresh') ?? { ...again, headers: {} }) : again;
  const busy = recorded(fixtures, 'in-progress') ?? { status: 409, headers: { 'retry-after': '1' } };
  const mismatch = recorded(fixtures, 'mismatch') ?? { status: 422, body: { title: 'Idempotency-Key is already used' } };
  const elsewhere = recorded(fixtures, 'done-elsewhere');
  let working = 0;
  const answerTo = async (key: string, body: string): Promise<Answer> => {
    const taken = known.get(key);
    if (taken && taken.body !== body) return mismatch;
    if (taken) return taken.done ? (elsewhere ?? again) : busy;
    const record = { body, done: false };
    known.set(key, record);
    working++;
    // Works in steps, so that copies which were sent at once find it working, however busy the machine is.
    for (let step = 0; step < STEPS; step++) await sleep(STEP_MS);
    working--;
    effects.push(key);
    record.done = true;
    return first;
  };
  const http = createServer(async (from, to) => {
    const body = await textOf(from);
    const wire = { url: `http://x${from.url}`, headers: new Headers(from.headers as Record<string, string>), body };
    const key = carryOf(dialect.carrier, dialect.carry)?.find(wire) ?? '';
    send(to, from.method === 'POST' ? await answerTo(key, body) : { status: 405 });
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return {
    /** Counts effects once all work has ended. The probe would wait a fixed time for that, which is too short on a busy machine. */
    count: async (): Promise<number> => {
      while (working > 0) await sleep(STEP_MS);
      return effects.length;
    },
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/payments`,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => void http.close(() => closed()).closeAllConnections()),
  };
}

/** What the probe writes for each dialect. Where several dialects read every answer alike, it is the first of them. */
const WRITTEN: Readonly<Record<string, string>> = {
  ietf: 'ietf()',
  stripe: 'stripe()',
  paypal: 'paypal()',
  adyen: 'adyen()',
  gocardless: 'gocardless()',
  increase: 'increase()',
  checkout: 'checkout()',
  razorpay: `razorpay({ makes: 'payout' })`,
  resend: 'resend()',
  square: 'square()',
  klarna: 'klarna()',
  worldline: 'worldline()',
  repeatableRequests: 'repeatableRequests()',
  aws: 'aws()',
  'aws, in the query': "aws({ goes: 'query' })",
  googleRequestId: 'googleRequestId()',
  // Nothing tells these servers from others with the same header, so the default fits.
  mollie: '',
  dwolla: '',
  telnyx: '',
  mangopay: '',
  truelayer: 'truelayer()',
  stripeV2: 'stripeV2()',
  shopify: 'shopify()',
  // The place of the key does not point to Shopify.
  'shopify, in an argument': `defineDialect({
  name: 'mine',
  place: inBody('variables.input.idempotencyKey'),
  replays: true,
  answers: [
    { status: 200, at: { 'data.refundCreate.userErrors.*.code': 'IDEMPOTENCY_CONCURRENT_REQUEST' }, means: 'in-progress' },
    { status: 200, at: { 'data.refundCreate.userErrors.*.code': 'IDEMPOTENCY_KEY_PARAMETER_MISMATCH' }, means: 'mismatch' },
  ],
})`,
  braintree: 'braintree()',
};

test.concurrent.each(Object.entries(WRITTEN))('%s', { timeout: TEST_MS }, async (name, code) => {
  const sample = samples[name];
  if (!sample) throw new Error(`there is no dialect ${name}`);
  const { dialect, body, other } = sample;
  await using server = await startRecorded(dialect, fixturesOf(sample.fixtures));
  const carry = carryOf(dialect.carrier, dialect.carry);
  const result = await probed(
    {
      url: () => server.url,
      send: ({ url, key, payload, login }) => {
        if (login !== 'own' || (payload !== 'usual' && payload !== 'changed')) return undefined;
        const wire = { url, headers: new Headers({ 'content-type': 'application/json' }), body: payload === 'usual' ? body : other };
        const put = carry?.put(wire, key, 1_700_000_000_000);
        return fetch(put?.url ?? url, { method: 'POST', headers: wire.headers, body: (put?.body ?? wire.body) as string });
      },
      count: server.count,
    },
    // Gives the probe what the command knows, which is only where the key goes. All servers work at once, so the probe gets
    // more time for each.
    {
      times: { ...TIMES, patienceMs: PATIENCE_MS, answerMs: ANSWER_MS, settleMs: 5 * TIMES.settleMs },
      dialect: { ...generic(), carrier: dialect.carrier, carry: dialect.carry },
    },
  );
  expect(result.rows.filter(({ severity }) => severity === 'double' || severity === 'wrong')).toEqual([]);
  expect(result.dialect?.code, 'the line for it, by NAMED of src/probe/named.ts, is not the one in WRITTEN of this file').toBe(code);
  said.set(name, cellsOf(result));
  if (process.env['UPDATE_DOCS']) return;
  const row = tableUnder(readPage(PAGE), HEADING).find(([server]) => server === name);
  expect(row?.slice(1), `the row of ${name} in ${PAGE} (UPDATE_DOCS=1 writes it)`).toEqual(cellsOf(result));
});

test('every dialect is played', () => {
  // The default dialect has no line: it is what the probe says if no other fits.
  const factories = Object.keys(samples).map((name) => name.replace(/,.*/, ''));
  expect([...new Set(Object.keys(WRITTEN).map((name) => name.replace(/,.*/, '')))].sort(), 'WRITTEN, above, has a line for each dialect').toEqual(
    [...new Set(factories)].filter((name) => name !== 'generic').sort(),
  );
});

test('the probe knows every dialect by name', () => {
  const known = NAMED.map(({ dialect }) => dialect.name);
  const all = Object.values(samples).map(({ dialect }) => dialect.name);
  expect(
    all.filter((name) => name !== 'generic' && !known.includes(name)),
    'not in NAMED of src/probe/named.ts',
  ).toEqual([]);
});

afterAll(() => {
  if (!process.env['UPDATE_DOCS']) return;
  const path = join(root, PAGE);
  const failed = Object.keys(WRITTEN).filter((name) => !said.has(name));
  if (failed.length > 0) throw new Error(`${PAGE} is left as it was: there is nothing to write of ${failed.join(', ')}`);
  const lines = Object.keys(WRITTEN).map((name) => `| ${[name, ...(said.get(name) ?? [])].join(' | ')} |`);
  const table = ['| server | what it finds beside one effect | exit status |', '| --- | --- | ---: |', ...lines].join('\n');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(## What it says of servers that have a dialect\n[\s\S]*?\n\n)\|[\s\S]*?\n(?!\|)/, `$1${table}\n`));
});
