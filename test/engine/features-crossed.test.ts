/**
 * Goal: two features that meet on one name cause one charge and no untrue outcome. Method: each test crosses two of them (`run`,
 * `polling`, `repeat`, `move`, dialects, `retrying`) in the sequence in which one of them undid what the other promised.
 */
import { describe, expect, vi } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { increase, repeatableRequests, stripe } from '../../src/entries/dialects.js';
import { clear, forget, move, type Once, resumeInBackground, run as runOnce, settle } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { type Arrival, answers, charged, during, idle, lost, replays, textOf } from '../support/server.js';
import { CART, MINUTE, NAME, ONE, pay, resumed, SECOND, test, URL_, type World, watched } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };
const ACCEPTED = { location: '/jobs/1' };

test('run, with a dialect that replays, does not run a second time after a reload if its value could not be stored', async ({ world }) => {
  // Without a namespace nothing readable is stored in a browser.
  const { tab, once } = world.open({ dialect: stripe() });
  const effect = vi.fn(async ({ key }: { key: string }) => void world.server.charged.add(key));
  await world.run(runOnce(once, NAME, effect));
  const next = tab.reload();
  const again = watched(runOnce(next.once({ dialect: stripe() }), NAME, effect));
  await expect(world.run(again)).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(effect).toHaveBeenCalledTimes(1);
});

describe('run', () => {
  test("with accepted: 'settle' takes a 202 as the answer, even after a lost one", async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'settle' });
    const effect = vi.fn(async ({ key }: { key: string }) => {
      world.server.charged.add(key);
      if (effect.mock.calls.length === 1) throw new TypeError('socket hang up');
      return new Response('', { status: 202 });
    });
    expect(await world.end(tab, watched(runOnce(once, NAME, effect)))).toMatchObject({ status: 202, outcome: { effect: 'done', attempts: 2 } });
  });

  test('reports a verdict that is async and rejects, and does not end the process', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    const broken = new Error('a bug of the app');
    const verdict = (async () => Promise.reject(broken)) as never;
    const end = await world.end(tab, watched(runOnce(once, NAME, async () => 1, { verdict })) as Promise<never>);
    expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'not-a-verdict' });
    // That the verdict returned a promise is reported, too.
    expect(tab.reported).toEqual([expect.any(TypeError), broken]);
  });
});

test('a server that says it ignores the key is not asked for the stored answer, even if its dialect replays', async ({ world }) => {
  const { tab, once } = world.open({ dialect: stripe(), keep: { response: false } });
  await world.end(tab, pay(once), answers(201, '{}', { 'idempotency-status': 'ignored' }));
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(world.server.arrivals).toHaveLength(1);
});

describe("accepted: 'poll'", () => {
  const options = { accepted: 'poll', limits: { inProgressMs: 5 * SECOND } } as const;

  test('polls the link even if the dialect has a rule of its own for a 202', async ({ world }) => {
    world.keyHeader = 'Repeatability-Request-ID';
    const { tab, once } = world.open({ ...options, dialect: repeatableRequests() });
    world.server.plays(idle(answers(202, '', { ...ACCEPTED, 'repeatability-result': 'accepted' })), idle(answers(200, { status: 'Failed' })));
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { type: 'rejected', effect: 'none' } });
  });

  test('does not take a 202 of a function given to run for done, because nobody polls its link', async ({ world }) => {
    const { tab, once } = world.open(options);
    const effect = async () => new Response('', { status: 202, headers: ACCEPTED });
    const end = await world.end(tab, watched(runOnce(once, NAME, effect)));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'in-progress' } });
    expect(end.error).toMatchObject({ response: { status: 202 } });
  });

  test('does not take a status document that tells only of an error for done', async ({ world }) => {
    const { tab, once } = world.open(options);
    world.server.plays(
      charged(answers(202, '', ACCEPTED)),
      idle(answers(200, { error: 'no session' })),
      answers(200, { id: 'ch_1' }, { 'idempotent-replayed': 'true' }),
    );
    expect(await (await world.end(tab, pay(once))).response?.json()).toEqual({ id: 'ch_1' });
  });

  test("lets an edited form go on under a new key if the earlier payload's work fails", async ({ world }) => {
    const { tab, once } = world.open(options);
    world.server.plays(idle(answers(202, '', ACCEPTED)));
    world.server.otherwise = idle(answers(202, { state: 'running' }));
    const before = await world.end(tab, pay(once));
    world.server.plays(idle(answers(200, { state: 'failed', of: CART.amount })), answers(201, { of: EDITED.amount }));
    const end = await world.end(tab, pay(once, { body: EDITED }));
    expect(end).toMatchObject({ status: 201, outcome: { type: 'fresh', effect: 'done' } });
    expect(await end.response?.json()).toEqual({ of: EDITED.amount });
    expect(end.outcome?.key).not.toBe(before.outcome?.key);
  });
});

describe("accepted: 'poll', and an edited form that is pressed again while the earlier payload's work goes on", () => {
  const options = { namespace: 'ann', accepted: 'poll', limits: { inProgressMs: 5 * SECOND } } as const;
  const running = idle(answers(202, { state: 'running' }));

  /** The earlier payload's work goes on, and the edited payload was pressed, and could only wait for that. Gives the page of the next press. */
  async function pressed(world: World, after: string, repeat: 'never' | 'if-changed') {
    const { tab, once } = world.open({ ...options, repeat });
    world.server.plays(charged(answers(202, '', ACCEPTED)));
    world.server.otherwise = running;
    await world.end(tab, pay(once));
    const call = pay(once, { body: EDITED });
    if (after === 'its page dies') await world.clock.advance(SECOND);
    else expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress', attempts: 0 });
    const next = after === 'in the same page' ? tab : tab.reload();
    return { next, again: next === tab ? once : next.once({ ...options, repeat }) };
  }

  test.for(['in the same page', 'after a reload', 'its page dies'])(
    '%s, with if-changed: the edited form is sent, because the end of that work is not its own',
    async (after, { world }) => {
      const { next, again } = await pressed(world, after, 'if-changed');
      const sent = world.record()?.payloads;
      // The record keeps the earlier operation: if the page died here, a press of the earlier payload would find that it is done.
      const found = during(() => expect(world.record()?.previous).toMatchObject({ state: 'settled', payloads: sent }), answers(201, { of: EDITED.amount }));
      const end = await world.end(next, pay(again, { body: EDITED }), idle(answers(200, { state: 'completed', of: CART.amount })), found);
      expect(end).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
      expect(await textOf(world.server.arrivals.at(-1) as Arrival)).toBe(JSON.stringify(EDITED));
      expect(world.server.charged.size).toBe(2);
    },
  );

  test.for(['in the same page', 'after a reload', 'its page dies'])(
    '%s: the edited form is told that the earlier one is done, and gets no answer of it',
    async (after, { world }) => {
      const { next, again } = await pressed(world, after, 'never');
      world.server.otherwise = idle(answers(200, { state: 'completed', of: CART.amount }));
      for (const body of [EDITED, CART])
        expect(await world.end(next, pay(again, { body }))).toMatchObject({
          response: undefined,
          code: 'ERR_ONCE_ALREADY_SETTLED',
          outcome: { effect: 'done' },
        });
    },
  );

  test.for(['in the same page', 'after a reload', 'its page dies'])(
    '%s, and the work fails: the edited form goes on under a new key',
    async (after, { world }) => {
      const { next, again } = await pressed(world, after, 'never');
      world.server.charged.clear();
      world.server.plays(idle(answers(200, { state: 'failed' })), answers(201));
      expect(await world.end(next, pay(again, { body: EDITED }))).toMatchObject({ status: 201, outcome: { type: 'fresh', effect: 'done' } });
      expect(world.server.charged.size).toBe(1);
    },
  );

  test('reconcile says that the work is done: with if-changed, the edited form is sent', async ({ world }) => {
    const { next, again } = await pressed(world, 'in the same page', 'if-changed');
    world.server.otherwise = (arrival, server) => (arrival.method === 'GET' ? running : answers(201))(arrival, server);
    const end = await world.end(next, pay(again, { body: EDITED, reconcile: async () => 'done' }));
    expect(end).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
  });
});

describe("accepted: 'poll', with if-changed, and an edited form whose request is stored while the earlier payload's work goes on", () => {
  const options = { namespace: 'ann', accepted: 'poll', repeat: 'if-changed', limits: { inProgressMs: 5 * SECOND } } as const;

  /** Presses the edited form while the work of the first one goes on, then reloads the page. `told`: the outcomes that the next page hears. */
  const reloadedMeanwhile = async (world: World, first: Parameters<typeof pay>[1], edited: Parameters<typeof pay>[1]) => {
    const { tab, once } = world.open(options);
    world.server.plays(charged(answers(202, '', ACCEPTED)));
    world.server.otherwise = idle(answers(202, { state: 'running' }));
    await world.end(tab, pay(once, first));
    pay(once, edited);
    await world.clock.advance(SECOND);
    const next = tab.reload();
    const told: unknown[] = [];
    const again = next.once({ ...options, onOutcome: (outcome) => void told.push(outcome) });
    const completed = idle(answers(200, { state: 'completed' }));
    world.server.otherwise = (arrival, server) => (arrival.method === 'GET' ? completed : answers(201))(arrival, server);
    return { next, again, told };
  };

  test.for(['resume', 'resumeInBackground'])('%s does not tell the edited form as done, and the next press sends it', async (by, { world }) => {
    const keeps = { keep: { request: true }, ...(by === 'resume' ? {} : { background: { untilMs: world.clock.now() + 60 * MINUTE } }) };
    const { next, again, told } = await reloadedMeanwhile(world, keeps, { ...keeps, body: EDITED });
    await world.run<unknown>(by === 'resume' ? resumed(again) : resumeInBackground(again));
    expect(told).toMatchObject([{ effect: 'unknown', reason: 'mismatch' }]);
    expect(await world.end(next, pay(again, { body: EDITED }))).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
    expect(world.server.charged.size).toBe(2);
  });

  test.for([
    ['both forms are stored with a consent', true, true],
    ['only the edited form is stored', false, true],
    ['the edited form differs in its file', true, true, new Uint8Array([1, 2])],
  ] as const)('resumeInBackground does not tell the edited form as done if %s', async ([_, first, edited, bytes], { world }) => {
    const consent = { background: { untilMs: world.clock.now() + 60 * MINUTE } };
    const body = bytes ? { init: { body: bytes } } : { body: EDITED };
    const { next, again, told } = await reloadedMeanwhile(world, first ? consent : {}, { ...(edited && consent), ...body });
    expect(await world.run(resumeInBackground(again))).toEqual({ open: 1 });
    expect(told).toMatchObject([{ effect: 'unknown', reason: 'mismatch' }]);
    expect(await world.end(next, pay(again, body))).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
  });

  test.for<[string, (once: Once) => Promise<unknown>, string | undefined]>([
    ['a log-out', clear, undefined],
    ['settle', (once) => settle(once, NAME, 'done'), 'ERR_ONCE_BUSY'],
    ['forget', (once) => forget(once, NAME, { evenIfUnknown: true }), 'ERR_ONCE_BUSY'],
  ])('resumeInBackground does not tell the edited form as done in the middle of %s in another tab', async ([_, act, code], { world }) => {
    const consent = { background: { untilMs: world.clock.now() + 60 * MINUTE } };
    const { tab, once } = world.open(options);
    world.server.plays(charged(answers(202, '', ACCEPTED)));
    world.server.otherwise = idle(answers(202, { state: 'running' }));
    await world.end(tab, pay(once, consent));
    await world.end(tab, pay(once, { ...consent, body: EDITED }));
    const told: unknown[] = [];
    const next = tab.reload();
    const again = next.once({ ...options, onOutcome: (outcome) => void told.push(outcome) });
    const acts: Promise<unknown>[] = [];
    const other = world.tab().once(options);
    world.server.otherwise = undefined;
    world.server.plays(during(() => void acts.push(act(other).catch((error: unknown) => error)), idle(answers(200, { state: 'completed' }))));
    await world.run(resumeInBackground(again));
    expect(told).toMatchObject([{ effect: 'unknown', reason: 'mismatch' }]);
    expect(((await world.run(acts[0] as Promise<unknown>)) as { code?: string }).code).toBe(code);
  });

  test.for(['text', 'bytes', 'a form'])('resumeInBackground tells the end of the work of %s that went out', async (kind, { world }) => {
    const form = new FormData();
    form.set('amount', '10');
    const body = { text: 'amount=10', bytes: new Uint8Array([1, 2]), 'a form': form }[kind] as BodyInit;
    const { tab, once } = world.open(options);
    world.server.plays(charged(answers(202, '', ACCEPTED)));
    world.server.otherwise = idle(answers(202, { state: 'running' }));
    await world.end(tab, pay(once, { init: { body, headers: {} }, background: { untilMs: world.clock.now() + 60 * MINUTE } }));
    const told: unknown[] = [];
    const again = tab.reload().once({ ...options, onOutcome: (outcome) => void told.push(outcome) });
    world.server.otherwise = idle(answers(200, { state: 'completed' }));
    expect(await world.run(resumeInBackground(again))).toEqual({ open: 0 });
    expect(told).toMatchObject([{ type: 'fresh', effect: 'done', certain: true }]);
  });

  test('a press of the first form gets the end of its own work', async ({ world }) => {
    const keeps = { keep: { request: true } };
    const { next, again } = await reloadedMeanwhile(world, keeps, { ...keeps, body: EDITED });
    expect(await world.end(next, pay(again, keeps))).toMatchObject({ status: 200, code: undefined, outcome: { effect: 'done' } });
    expect(world.server.charged.size).toBe(1);
  });
});

describe("repeat: 'if-changed', and a server that names the resource in place of its answer", () => {
  const TAKEN = answers(409, { type: 'idempotency_key_already_used_error', resource_id: 'account_1' });
  const options = { dialect: increase(), repeat: 'if-changed', ...ONE } as const;

  test('if an answer to the change was lost, too, the resource may be the changed one: the change is told as done, and not made twice', async ({ world }) => {
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once), lost());
    await world.end(tab, pay(once, { body: EDITED }), charged(lost()));
    expect(await world.end(tab, pay(once, { body: EDITED }), TAKEN)).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done' } });
  });
});

describe('a replay marker on an answer that says "still at work"', () => {
  test.for<[string, object, Record<string, string>]>([
    ['in words', { title: 'A request is outstanding for this Idempotency-Key' }, {}],
    ['by a code', { code: 'idempotency_key_in_use' }, {}],
    ['in words about the first request', { error: 'conflict', message: 'The first request is still being processed' }, {}],
    ['by a code about a request', { code: 'REQUEST_IN_PROGRESS' }, {}],
    ['in words about the original request', { code: 'CONFLICT', message: 'The original request is still running' }, {}],
    ['by Retry-After', { code: 'order_locked' }, { 'retry-after': '1' }],
  ])('%s does not make it a refusal', async ([_, body, headers], { world, tab, once }) => {
    world.server.plays(charged(lost()), idle(answers(409, body, { 'idempotent-replayed': 'true', ...headers })), replays());
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'replayed', effect: 'done' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test.for(['A request with this idempotency key is in progress', 'The previous request is still being processed'])(
    '%s, as plain text, does not make it a refusal either',
    async (text, { world, tab, once }) => {
      const busy = () => new Response(text, { status: 409, headers: { 'idempotent-replayed': 'true' } });
      expect((await world.end(tab, pay(once), charged(lost()), idle(busy), replays())).outcome).toMatchObject({ type: 'replayed', effect: 'done' });
    },
  );

  test.for<[string, (key: string) => object]>([
    ['in a member', (key) => ({ code: 'out_of_stock', message: 'Sold out', idempotencyKey: key })],
    ['beside other details', (key) => ({ error: { code: 'out_of_stock' }, request: { idempotency_key: key } })],
  ])('a stored refusal that repeats the key %s is a refusal, and is told at once', async ([_, body], { world, tab, once }) => {
    const refuses = idle(({ key }) => Response.json(body(key ?? ''), { status: 409, headers: { 'idempotent-replayed': 'true' } }));
    expect((await world.end(tab, pay(once), lost(), refuses)).outcome).toMatchObject({ type: 'rejected', effect: 'none', attempts: 2 });
  });

  test('a stored refusal is a refusal, whatever it says of its order', async ({ world, tab, once }) => {
    world.server.plays(lost(), replays(409, { code: 'order_closed', message: 'The order is being processed' }));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
  });
});

test("a later client with dialect 'none' does not send again what an earlier client sent under a key", async ({ world }) => {
  const { tab, once } = world.open({ ...ONE });
  await world.end(tab, pay(once), charged(lost()));
  const next = tab.reload();
  expect((await world.end(next, pay(next.once({ dialect: 'none' })))).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
  expect(world.server.arrivals).toHaveLength(1);
});

test("a later client that sends keys does not send again what a client with dialect 'none' sent: the server has no key for it", async ({ world }) => {
  const { tab, once } = world.open({ ...ONE, dialect: 'none' });
  await world.end(tab, pay(once), charged(lost()));
  const next = tab.reload();
  expect((await world.end(next, pay(next.once()))).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
  expect(world.server.arrivals).toHaveLength(1);
});

describe('move, if the app gave the guest and the user one key', () => {
  const options = { key: 'order-42', ...ONE };

  test("the user's press that never left does not hide the guest's press that may have charged", async ({ world, tab }) => {
    await world.end(tab, pay(tab.once({ namespace: 'guest' }), options), charged(lost()));
    const next = await pressOffline(tab, (page) => pay(page.once({ namespace: 'ann' }), { ...options, body: EDITED }));
    const ann = next.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    world.server.plays(replays());
    // The server repeats the answer to the guest's request.
    expect(await world.end(next, pay(ann, { ...options, body: EDITED }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });

  test("the answer under the key is not told as the answer to the user's payload if it may be to the guest's", async ({ world, tab }) => {
    const [guest, ann] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    await world.end(tab, pay(guest, options), charged(lost()));
    await world.end(tab, pay(ann, { ...options, body: EDITED }), lost());
    await world.run(move(ann, 'guest'));
    expect((world.records as OnceRecord[]).map(({ payloads }) => payloads.length)).toEqual([2]);
    expect((await world.end(tab, pay(ann, { ...options, body: EDITED }), replays())).outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
  });
});

describe('retrying, and a plain call to the same URL', () => {
  const put = { method: 'PUT', body: 'old' };

  test.for(['PUT', 'POST', 'DELETE'])('a %s with once: false is not undone by a PUT that waits for its retry', async (method, { world, tab }) => {
    const once = tab.once({ fetch: tab.fetch });
    const [early] = await world.begin(watched(once.fetch(URL_, put)), answers(503), answers(200));
    await once.fetch(URL_, { method, body: method === 'DELETE' ? null : 'new', once: false });
    expect((await world.end(tab, early)).status).toBe(503);
    expect(world.server.arrivals.map((one) => one.method)).toEqual(['PUT', method]);
  });

  test('a GET with once: false does not stop the PUT', async ({ world, tab }) => {
    const once = tab.once({ fetch: tab.fetch });
    const [early] = await world.begin(watched(once.fetch(URL_, put)), answers(503), answers(200), answers(200));
    await once.fetch(URL_, { once: false });
    expect((await world.end(tab, early)).status).toBe(200);
  });
});
