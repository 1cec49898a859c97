/**
 * Goal: traces and metrics of an operation show what happened, and have no attribute that the app did not list. Method: the real SDK
 * exports into memory, over the scripted world. After each test, every span that began must have ended.
 */
import { context, metrics, trace } from '@opentelemetry/api';
import { StackContextManager } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import {
  around,
  clear,
  close,
  extend,
  hooks,
  type OnceOptions,
  polling,
  reconciling,
  requests,
  resume,
  resumeOne,
  retrying,
  run,
  subscribe,
  unnamed,
} from '../../src/entries/index.js';
import { type OpenTelemetryOptions, openTelemetry } from '../../src/entries/opentelemetry.js';
import { readPage, tableUnder } from '../docs/support/markdown.js';
import { answers, charged, deaf, hangs, lost, replays } from '../support/server.js';
import { breachesOfClient, brief, disableGlobals, strangers, Telemetry } from '../support/telemetry.js';
import { HOUR, test as inWorld, newWorld, ONE, pay, rest, URL_, watched } from '../support/world.js';

const USE = [hooks(), polling(), reconciling(), requests(), retrying(), unnamed()];

let telemetry: Telemetry;
beforeEach(() => void (telemetry = new Telemetry()));
afterEach(async () => {
  await rest();
  expect(telemetry.open).toBe(0);
  for (const span of telemetry.spans) expect(strangers(span.attributes)).toEqual([]);
  for (const span of telemetry.spans.filter(({ attributes }) => 'url.full' in attributes)) expect(breachesOfClient(span)).toEqual([]);
  await telemetry.shutdown();
  disableGlobals();
});

const traced = (options: OpenTelemetryOptions = {}) => openTelemetry({ ...telemetry.providers, ...options });
const scene = (options: OnceOptions = {}, world = newWorld()) => ({ ...world.open({ use: [...USE, traced()], ...options }) });
const test = inWorld.extend('once', ({ tab }) => tab.once({ use: [...USE, traced()] }));
const [briefly, below] = [
  () => telemetry.operations.map(brief),
  () =>
    telemetry.operations.map((span) =>
      telemetry.below(span).map(({ attributes, name }) => [name, attributes['http.request.resend_count'], attributes['error.type']]),
    ),
];

describe('an operation', () => {
  test('is one span; the attempt with the lost answer and the replay are its children', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), charged(lost()), replays());
    expect(briefly()).toEqual([
      {
        name: 'oncefetch operation',
        kind: 'INTERNAL',
        attributes: {
          'oncefetch.effect': 'done',
          'oncefetch.type': 'replayed',
          'oncefetch.replayed_from': 'server',
          'oncefetch.attempt.count': 2,
          'oncefetch.resumed': false,
          'oncefetch.stored_in': 'disk',
        },
        error: false,
        events: ['oncefetch.waiting backoff'],
      },
    ]);
    const [first, second] = telemetry.below(telemetry.operations[0]).map(brief);
    const request = { 'http.request.method': 'POST', 'server.address': 'shop.example', 'server.port': 443, 'url.full': 'https://shop.example/api/payments' };
    expect(first).toEqual({ name: 'POST', kind: 'CLIENT', attributes: { ...request, 'error.type': 'TypeError' }, error: true, events: [] });
    expect(second).toEqual({
      name: 'POST',
      kind: 'CLIENT',
      attributes: { ...request, 'http.request.resend_count': 1, 'http.response.status_code': 201 },
      error: false,
      events: [],
    });
  });

  test('is a child of the span active at the call, and the transport runs in the span of its attempt, even if contexts do not survive an await', async () => {
    context.setGlobalContextManager(new StackContextManager().enable());
    const world = newWorld();
    const tab = world.tab();
    const once = tab.once({ use: [...USE, traced()], fetch: telemetry.instrumented(tab.fetch) });
    world.server.plays(charged(lost()), replays());
    const click = telemetry.tracer.startSpan('click');
    const call = context.with(trace.setSpan(context.active(), click), () => pay(once));
    await world.end(tab, call);
    click.end();
    const [operation] = telemetry.below(telemetry.spans.find(({ name }) => name === 'click'));
    const attempts = telemetry.below(operation);
    expect(attempts.map(({ name }) => name)).toEqual(['POST', 'POST']);
    const transports = attempts.flatMap((attempt) => telemetry.below(attempt));
    expect(transports.map(({ name }) => name)).toEqual(['transport', 'transport']);
    const parents = world.server.arrivals.map(({ headers }) => headers.get('traceparent'));
    expect(parents).toEqual(transports.map((span) => `00-${click.spanContext().traceId}-${span.spanContext().spanId}-01`));
  });

  test('with an unknown outcome is an error, with the code that the caller gets', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(briefly()).toMatchObject([
      { error: true, attributes: { 'oncefetch.effect': 'unknown', 'oncefetch.reason': 'no-answer', 'error.type': 'ERR_ONCE_UNKNOWN' } },
    ]);
    expect(await telemetry.metric('certainty')).toEqual({});
  });

  test('that was refused is no error, but its attempt is', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(402));
    expect(briefly()).toMatchObject([{ error: false, attributes: { 'oncefetch.effect': 'none', 'oncefetch.type': 'rejected' } }]);
    expect(below()).toEqual([[['POST', undefined, '402']]]);
  });

  test('ends its span when it ends itself, not when its caller leaves', async ({ world, tab, once }) => {
    world.server.plays(hangs());
    const gone = new AbortController();
    const [call] = await world.begin(pay(once, { signal: gone.signal }));
    gone.abort();
    await world.end(tab, call);
    await world.clock.runAll();
    expect(briefly()).toMatchObject([{ error: true, attributes: { 'oncefetch.reason': 'aborted', 'oncefetch.attempt.count': 1 } }]);
    expect(below()).toEqual([[['POST', undefined, 'AbortError']]]);
  });

  test('whose transport ignores the abort: the span of an attempt ends when the next attempt begins', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), deaf(), replays());
    expect(below()).toEqual([
      [
        ['POST', undefined, 'timeout'],
        ['POST', 1, undefined],
      ],
    ]);
  });

  test('that never began, because an option is wrong, is an error without an outcome', async () => {
    const { world, tab, once } = scene({ fingerprint: () => Promise.reject(new RangeError('no')) });
    await world.end(tab, pay(once));
    expect(briefly()).toMatchObject([{ error: true, attributes: { 'error.type': 'RangeError' } }]);
    expect(await telemetry.metric('operations')).toEqual({});
  });
});

describe('calls with one name', () => {
  test('in one tick are one span, which counts the joined calls and links to where they came from', async ({ world, tab, once }) => {
    context.setGlobalContextManager(new StackContextManager().enable());
    world.server.plays(charged(answers(201)));
    const second = telemetry.tracer.startSpan('second click');
    const calls = [pay(once), context.with(trace.setSpan(context.active(), second), () => pay(once)), pay(once)];
    await world.all(tab, ...calls);
    second.end();
    expect(briefly()).toMatchObject([{ attributes: { 'oncefetch.joined_calls': 2 }, events: ['oncefetch.call_joined', 'oncefetch.call_joined'] }]);
    expect(telemetry.operations[0]?.links.map(({ context }) => context.spanId)).toEqual([second.spanContext().spanId]);
    expect(await telemetry.metric('duplicates')).toEqual({ joined: 2 });
    expect(await telemetry.metric('operations')).toEqual({ 'done fresh': 1 });
  });

  test('through two clients, each with its own telemetry: the span goes to the client that drives the operation', async ({ world, tab, once }) => {
    const other = new Telemetry();
    const second = tab.once({ use: [openTelemetry(other.providers)] });
    world.server.plays(charged(answers(201)));
    await world.all(tab, pay(once), pay(second));
    expect(briefly()).toMatchObject([{ attributes: { 'oncefetch.joined_calls': 1 } }]);
    expect(other.spans).toEqual([]);
    expect(await other.metric('duplicates')).toEqual({ joined: 1 });
    expect(await telemetry.metric('duplicates')).toEqual({});
    await other.shutdown();
  });

  test('with another payload: the second call waits, then has a span of its own with its attempts', async () => {
    const { world, tab, once } = scene({ repeat: 'if-changed' });
    world.server.plays(charged(answers(201)), charged(answers(201)));
    await world.all(tab, pay(once), pay(once, { body: 'other' }));
    expect(briefly()).toMatchObject([{ attributes: { 'oncefetch.type': 'fresh' } }, { attributes: { 'oncefetch.type': 'fresh' } }]);
    expect(below()).toEqual([[['POST', undefined, undefined]], [['POST', undefined, undefined]]]);
    await world.end(tab, pay(once, { body: 'other' }));
    expect(await telemetry.metric('duplicates')).toEqual({ 'replayed memory': 1 });
  });

  test('busy, mismatch and in progress count as conflicts', async ({ world, tab, once }) => {
    world.server.plays(answers(409, undefined, { 'retry-after': '1' }), charged(lost()));
    const [call, busy] = [pay(once, ONE), pay(once, { whenBusy: 'reject' })];
    await world.end(tab, busy);
    await world.end(tab, call);
    await world.end(tab, pay(once, { body: 'other', whenChanged: 'refuse' }));
    expect(await telemetry.metric('conflicts')).toEqual({ busy: 1, 'in-progress': 1, mismatch: 1 });
    expect(briefly().map(({ attributes }) => attributes['error.type'])).toEqual(['ERR_ONCE_BUSY', 'ERR_ONCE_UNKNOWN', 'ERR_ONCE_MISMATCH']);
  });

  test('a call that loses its claim: its span has an event, and it counts as a conflict', async ({ world, tab, once }) => {
    const [call] = await world.begin(pay(once), answers(503, '', { 'retry-after': '60' }));
    await world.run(clear(world.open().once));
    tab.skewMs = -HOUR / 3;
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
    expect(briefly()).toMatchObject([
      { attributes: { 'error.type': 'ERR_ONCE_CLAIM_LOST' }, events: ['oncefetch.waiting retry-after', 'oncefetch.claim_lost'] },
    ]);
    expect(await telemetry.metric('conflicts')).toEqual({ 'claim-lost': 1 });
  });

  test('in two tabs: the second tab takes over; its span has the wait as an event, and its attempt counts as a resend', async () => {
    const first = scene();
    first.world.server.plays(charged(hangs()), replays());
    await first.world.begin(watched(pay(first.once)));
    const other = new Telemetry();
    const second = first.world.open({ use: [...USE, openTelemetry(other.providers)] });
    const [call] = await first.world.begin(pay(second.once));
    first.tab.kill();
    await first.world.end(second.tab, call);
    expect(other.operations.map(brief)).toMatchObject([
      { attributes: { 'oncefetch.type': 'replayed', 'oncefetch.resumed': true }, events: ['oncefetch.waiting another-context'] },
    ]);
    expect(other.below(other.operations[0]).map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([1]);
    await other.shutdown();
    // The first tab is dead, so its span never ends. A new SDK keeps the check after each test from seeing it.
    telemetry = new Telemetry();
  });
});

describe('every way to begin an operation', () => {
  test('a call after the end is a span without attempts, and counts as a duplicate', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), charged(answers(201)));
    await world.end(tab, pay(once));
    expect(below()).toEqual([[['POST', undefined, undefined]], []]);
    expect(briefly()[1]?.attributes).toMatchObject({ 'oncefetch.type': 'replayed', 'oncefetch.replayed_from': 'memory', 'oncefetch.attempt.count': 0 });
    expect(await telemetry.metric('duplicates')).toEqual({ 'replayed memory': 1 });
    expect(await telemetry.metric('attempts')).toEqual({ '': 1 });
    expect(await telemetry.metric('certainty')).toEqual({ 'done fresh': 1 });
  });

  test('resume after a reload: each operation is a span, and its time to certainty starts before the reload', async ({ world }) => {
    world.server.plays(charged(lost()), replays());
    const before = world.open({ namespace: 'ann' });
    await world.end(before.tab, pay(before.once, { ...ONE, keep: { request: true } }));
    const tab = before.tab.reload();
    await world.clock.advance(HOUR);
    const once = tab.once({ namespace: 'ann', use: [...USE, traced()] });
    const all = async () => {
      for await (const _ of resume(once));
    };
    await world.run(all());
    expect(briefly()).toMatchObject([{ attributes: { 'oncefetch.resumed': true, 'oncefetch.type': 'replayed' } }]);
    expect(below()).toEqual([[['POST', 1, undefined]]]);
    const seconds = (await telemetry.metrics()).find(({ descriptor }) => descriptor.name.endsWith('certainty'))?.dataPoints[0]?.value;
    expect(seconds).toMatchObject({ count: 1, min: expect.closeTo(3600, -1) });
  });

  test('resumeOne, with an outcome that only `reconcile` knows', async ({ world }) => {
    world.server.plays(charged(lost()));
    const before = world.open();
    await world.end(before.tab, pay(before.once, ONE));
    const tab = before.tab.reload();
    const once = tab.once({ use: [...USE, traced()], reconcile: async () => 'done' });
    await world.end(tab, resumeOne(once, ['pay', 'c1']));
    expect(briefly()).toMatchObject([{ error: false, attributes: { 'oncefetch.effect': 'done', 'oncefetch.replayed_from': 'reconcile' } }]);
    expect(await telemetry.metric('certainty')).toEqual({ 'done replayed': 1 });
  });

  test('a call without a name is a span with its attempt', async () => {
    const { world, tab, once } = scene({ use: [...USE, traced({ attributes: ['oncefetch.operation.name'] })] });
    await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: '{}' })), charged(answers(201)));
    expect(below()).toEqual([[['POST', undefined, undefined]]]);
    expect(briefly()[0]?.attributes).not.toHaveProperty('oncefetch.operation.name');
  });

  test('a GET is a plain fetch and has no span', async ({ world, tab }) => {
    await world.end(tab, watched(tab.once({ use: [...USE, traced()], fetch: tab.fetch }).fetch(URL_)), answers(200));
    expect(telemetry.spans).toEqual([]);
  });

  test('run: each call of the function is a span, and the function runs inside it', async () => {
    context.setGlobalContextManager(new StackContextManager().enable());
    const { world, once } = scene();
    let calls = 0;
    const done = run(once, ['charge', 1], () => {
      telemetry.tracer.startSpan('charge').end();
      if (calls++ === 0) throw new RangeError('declined');
      return 'ok';
    });
    expect(await world.run(done)).toBe('ok');
    expect(below()).toEqual([
      [
        ['oncefetch attempt', undefined, 'RangeError'],
        ['oncefetch attempt', undefined, undefined],
      ],
    ]);
    const attempts = telemetry.below(telemetry.operations[0]);
    expect(attempts.map(brief).map(({ kind, attributes }) => [kind, attributes['oncefetch.attempt.number']])).toEqual([
      ['INTERNAL', 1],
      ['INTERNAL', 2],
    ]);
    expect(attempts.flatMap((attempt) => telemetry.below(attempt)).map(({ name }) => name)).toEqual(['charge', 'charge']);
  });

  test('a call of a client made by extend is a span', async ({ world, tab, once }) => {
    await world.end(tab, pay(extend(once, { limits: { attempts: 2 } })), charged(answers(201)));
    expect(below()).toEqual([[['POST', undefined, undefined]]]);
    expect(await telemetry.metric('operations')).toEqual({ 'done fresh': 1 });
  });
});

describe('with other features', () => {
  test('telemetry that comes last in `use` traces the request as other hooks have signed it', async () => {
    const signed = around((_, send) => send({ 'x-signature': 's' }));
    const { world, tab, once } = scene({ use: [...USE, signed, traced()] });
    await world.end(tab, pay(once), charged(answers(201)));
    expect(world.server.arrivals[0]?.headers.get('x-signature')).toBe('s');
    expect(below()).toEqual([[['POST', undefined, undefined]]]);
  });

  test('a hook that fails before it sends: no span for an attempt, and the operation has the error', async () => {
    const broken = around(() => Promise.reject(new Error('no signature')));
    const { world, tab, once } = scene({ use: [...USE, broken, traced()] });
    await world.end(tab, pay(once));
    expect(briefly()).toMatchObject([{ error: true, attributes: { 'oncefetch.type': 'unsent', 'error.type': 'ERR_ONCE_UNSENT' } }]);
    expect(below()).toEqual([[]]);
  });

  test('`onOutcome` is still called once, and its error is reported', async () => {
    const told: unknown[] = [];
    const onOutcome = (outcome: unknown) => {
      told.push(outcome);
      throw new Error('log');
    };
    const { world, tab, once } = scene({ onOutcome });
    await world.end(tab, pay(once), charged(answers(201)));
    expect(told).toMatchObject([{ effect: 'done' }]);
    expect(tab.reported).toMatchObject([{ message: 'log' }]);
    tab.reported.length = 0;
  });

  test('a listener of the app gets only the event, without the data by which telemetry finds its spans', async ({ world, tab, once }) => {
    const heard: unknown[][] = [];
    subscribe(once, (...all) => void heard.push(all));
    await world.end(tab, pay(once), charged(answers(201)));
    expect(heard.map((all) => all.length)).toEqual([1, 1]);
  });

  test('two telemetry features on one client: only the last one reports', async () => {
    const other = new Telemetry();
    const { world, tab, once } = scene({ use: [...USE, openTelemetry(other.providers), traced()] });
    await world.end(tab, pay(once), charged(answers(201)));
    expect(below()).toEqual([[['POST', undefined, undefined]]]);
    expect(other.spans).toEqual([]);
    await other.shutdown();
  });

  test('no SDK: nothing is reported, and the outcome is the same', async () => {
    expect(metrics.getMeterProvider().getMeter('x')).toBeDefined();
    const { world, tab, once } = scene({ use: [...USE, openTelemetry()] });
    expect(await world.end(tab, pay(once), charged(lost()), replays())).toMatchObject({ outcome: { type: 'replayed' } });
  });
});

describe('the count of unsettled operations', () => {
  test('comes with the age of the oldest, until the client is closed', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, ONE), charged(lost()));
    await world.clock.advance(HOUR);
    expect(await telemetry.metric('unsettled')).toEqual({ '': 1 });
    expect((await telemetry.metric('age'))['']).toBeCloseTo(3600, -1);
    await world.run(close(once));
    // After the close, the SDK repeats the last value that it was given.
    await world.clock.advance(HOUR);
    expect((await telemetry.metric('age'))['']).toBeCloseTo(3600, -1);
  });

  test('counts once for clients over one store, or over two stores at one place, and is 0 for a client without a user', async ({ world, tab, once }) => {
    extend(once, {});
    tab.once({ use: [traced()] });
    tab.once({ use: [traced()], store: { ...tab.store } });
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(await telemetry.metric('unsettled')).toEqual({ '': 1 });
    const nobody = new Telemetry();
    world.open({ use: [openTelemetry(nobody.providers)], namespace: () => '' });
    expect(await nobody.metric('unsettled')).toEqual({ '': 0 });
    await nobody.shutdown();
  });
});

test('unsettled operations are counted in each namespace, also for extended clients and clients with telemetry of their own', async ({ world, tab, once }) => {
  const clients = [extend(once, { namespace: 'payments' }), extend(once, { namespace: 'payments' }), tab.once({ namespace: 'mails', use: [traced()] })];
  for (const client of [once, ...clients]) await world.end(tab, pay(client, { ...ONE, operation: ['pay', clients.indexOf(client)] }), charged(lost()));
  expect(await telemetry.metric('unsettled')).toEqual({ '': 4 });
});

test('unsettled operations are counted although another client over the store has no user', async ({ world }) => {
  const { tab } = world.open({ use: [traced()], namespace: () => undefined as unknown as string });
  const shop = tab.once({ use: [traced()] });
  await world.end(tab, pay(shop, ONE), charged(lost()));
  expect(await telemetry.metric('unsettled')).toEqual({ '': 1 });
});

test('unsettled operations are counted as long as one client over the store is open', async ({ world }) => {
  const { tab, once } = world.open({});
  const watching = { use: [traced()] };
  const [first, second, third] = [extend(once, watching), extend(once, watching), extend(once, watching)];
  await world.end(tab, pay(third, ONE), charged(lost()));
  await world.run(close(first));
  await world.run(close(second));
  await world.clock.advance(HOUR);
  expect((await telemetry.metric('age'))['']).toBeCloseTo(3600, -1);
});

test('two copies of the package in one process: the count has what both left unsettled, and a joined call is in the span of the other copy', async ({
  world,
  tab,
  once,
}) => {
  vi.resetModules();
  const [{ createOn }, copy] = await Promise.all([import('../../src/once.js'), import('../../src/entries/opentelemetry.js')]);
  const other = tab.in(() => createOn(tab.platform, { store: { ...tab.store }, namespace: 'other', use: [copy.openTelemetry(telemetry.providers)] }));
  await world.end(tab, pay(once, ONE), charged(lost()), charged(lost()));
  await world.end(tab, pay(other, ONE));
  expect(await telemetry.metric('unsettled')).toEqual({ '': 2 });
  const same = tab.in(() => createOn(tab.platform, { store: tab.store, use: [copy.openTelemetry(telemetry.providers)] }));
  world.server.plays(replays());
  const joins = [pay(once), pay(same)];
  await Promise.all(joins.map((call) => world.end(tab, call)));
  expect(briefly().at(-1)).toMatchObject({ attributes: { 'oncefetch.joined_calls': 1 }, events: ['oncefetch.call_joined'] });
});

test('conflicts, duplicates and unknown outcomes are reported from 0 on, so that their first occurrence has a rate', async () => {
  traced();
  expect(await telemetry.all('conflicts')).toEqual({ 'in-progress': 0, mismatch: 0, busy: 0, 'claim-lost': 0 });
  expect(await telemetry.all('duplicates')).toEqual({
    joined: 0,
    'replayed server': 0,
    'replayed store': 0,
    'replayed memory': 0,
    'replayed reconcile': 0,
    'replayed elsewhere': 0,
  });
  const reasons = tableUnder(readPage('docs/outcomes.md'), '### Why nobody knows').map(([word = '']) => `unknown unknown ${word.replaceAll('`', '')}`);
  expect(await telemetry.all('operations')).toEqual(Object.fromEntries(reasons.map((reason) => [reason, 0])));
});
