/**
 * Goal: what `reconcile` returns is believed only if it proves something; anything else leaves the operation unknown and is reported to the developer. Method:
 * every kind of Response and of wrong value after a charge whose answer was lost, and then the next press.
 */
import { describe, expect } from 'vitest';
import { derived, type Once, type OnceEvent, run, subscribe } from '../../src/entries/index.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { MINUTE, NAME, newWorld, ONE, pay, resumed, SECOND, test, watched } from '../support/world.js';

const html = { 'content-type': 'text/html; charset=utf-8' };
const shaped = (response: Response, shape: object): Response => {
  for (const [name, value] of Object.entries(shape)) Object.defineProperty(response, name, { value });
  return response;
};
const spent = (): Response => {
  const response = new Response('{}');
  void response.text();
  return response;
};

const PROVES_NOTHING: Record<string, () => unknown> = {
  'a 404': () => new Response('{"error":"not found"}', { status: 404 }),
  'a 404 that names no error': () => Response.json({ message: 'There is no such payment' }, { status: 404 }),
  'a 402 with the payment in it': () => Response.json({ id: 'ch_1', amount: 10 }, { status: 402 }),
  'a 503 with a cached payment in it': () => Response.json({ id: 'ch_1', amount: 10 }, { status: 503 }),
  'a 401': () => new Response(null, { status: 401 }),
  'a 503': () => new Response(null, { status: 503 }),
  'a 302 that was not followed': () => new Response(null, { status: 302 }),
  'a 202: it is still at work': () => new Response('{}', { status: 202 }),
  'a 202 with a job in it': () => Response.json({ id: 'job_1' }, { status: 202 }),
  'an opaque answer': () => shaped(new Response(null), { status: 0, type: 'opaque' }),
  'an answer that was stopped at a redirect': () => shaped(new Response(null), { status: 0, type: 'opaqueredirect' }),
  'a login page behind a redirect': () => shaped(new Response('<form>', { headers: html }), { redirected: true }),
  'the page of a single-page app': () => new Response('<!doctype html>', { headers: html }),
  'a payment that failed': () => Response.json({ id: 'ch_1', status: 'failed' }),
  'an error inside a 200': () => Response.json({ error: 'not logged in' }),
  'errors inside a 200': () => Response.json({ data: null, errors: [{ message: 'no such order' }] }),
  'an empty list': () => Response.json([]),
  'an empty list in a Response of node-fetch': () => shaped(Response.json([]), { body: { pipe: () => {} } }),
  'null: no such payment': () => Response.json(null),
  'a 204, which frameworks make of null': () => new Response(null, { status: 204 }),
  'a 200 without a body, which others make of it': () => new Response(''),
  'a 200 without a body, of another charset': () => new Response('', { headers: { 'content-type': 'application/json; charset=ISO-8859-1' } }),
  'an empty line': () => new Response('\r\n'),
  'a no': () => Response.json(false),
  'nothing, as Python writes it': () => new Response('None'),
  'nothing, as JavaScript writes it': () => new Response('undefined'),
  'a count of 0': () => Response.json(0),
  'an empty text': () => Response.json(''),
  'a word for a payment that was not made': () => Response.json('cancelled'),
  'a word of text for one that is still to come': () => new Response('UNPAID\n'),
  'a search that found nothing': () => Response.json({ data: [], next_cursor: null }),
  'a page without items': () => Response.json({ items: [], total: 0 }),
  'no results': () => Response.json({ results: [] }),
  'an empty page whose size it names': () => Response.json({ data: [], limit: 20 }),
  'nothing embedded': () => Response.json({ _links: {}, _embedded: { transfers: [] }, total: 0 }),
  'no such node': () => Response.json({ data: { orders: [], order: null } }),
  'no such resource': () => Response.json({ data: null }),
  'a search of Square that found nothing': () => Response.json({}),
  'a search of Shopify that found nothing': () => Response.json({ orders: [] }),
  'a search of GoCardless that found nothing': () => Response.json({ payments: [], meta: { cursors: { before: null, after: null }, limit: 50 } }),
  'a count of none': () => Response.json({ count: 0, payments: [], has_more: false }),
  'a member `paid` that is false': () => Response.json({ paid: false }),
  'no success inside a 200': () => Response.json({ success: false, message: 'no such order' }),
  'a 200 that is not ok': () => Response.json({ ok: false }),
  'a failed question, as JSend says it': () => Response.json({ status: 'error', message: 'no session' }),
  'an answer whose body was read already': spent,
  'an answer whose body breaks off': () => new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError('cut')) })),
  'an answer whose JSON ends in its middle': () => new Response('{"payments":[', { headers: { 'content-type': 'application/json' } }),
  'an error answer': () => Response.error(),
  true: () => true,
  undefined: () => undefined,
  null: () => null,
  'parsed JSON': () => ({ status: 'succeeded' }),
  'a word that is not one of its words': () => 'yes',
  'a number': () => 7,
  'an array': () => [],
};

const diagnostics = (once: Once): OnceEvent[] => {
  const told: OnceEvent[] = [];
  subscribe(once, (event) => void (event.type === 'diagnostic' && told.push(event)));
  return told;
};

describe('reconcile that returns', () => {
  test.for(Object.entries(PROVES_NOTHING))('%s settles nothing, and a diagnostic says so', async ([_, said], { world }) => {
    const { tab, once } = world.open({ reconcile: (async () => said()) as never });
    const told = diagnostics(once);
    const end = await world.end(tab, pay(once), charged(lost()), answers(401));
    expect(end).toMatchObject({ status: 401, outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
    expect(told).toMatchObject([
      { code: 'reconcile-unproven', key: end.outcome?.key, message: expect.stringContaining('docs/diagnostics.md#reconcile-unproven') },
    ]);
    expect(world.record()).toMatchObject({ state: 'pending' });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key: end.outcome?.key });
  });

  test.for<[string, () => Response]>([
    ['a 200', () => Response.json({ id: 'ch_1', status: 'pending' })],
    ['a 201', () => new Response('{}', { status: 201 })],
    ['a list of one under a name of its own', () => Response.json({ orders: [{ id: 1 }], refunds: [] })],
    ['an order without an id and without notes', () => Response.json({ number: 'o_1', notes: [], discount: null })],
    ['a list of one', () => Response.json({ data: [{ id: 'ch_1' }], next_cursor: null })],
    ['an order without items', () => Response.json({ id: 'o_1', items: [] })],
    ['a node with an empty list in it', () => Response.json({ data: { order: { id: 'o_1' }, discounts: [] } })],
    ['a 201 without a body', () => new Response(null, { status: 201 })],
    ['true', () => Response.json(true)],
    ['an id', () => Response.json(17)],
    ['a word for a payment that was made', () => new Response('paid')],
    ['a document that is not text', () => new Response(new Uint8Array([255, 1]), { headers: { 'content-type': 'application/pdf' } })],
    ['a document that is too long to be read', () => new Response('x'.repeat(1_100_000), { headers: { 'content-type': 'application/pdf' } })],
    ['a 200 behind a redirect', () => shaped(Response.json({ id: 'ch_1' }), { redirected: true })],
  ])('%s settles as done, and is the answer', async ([_, said], { world }) => {
    const { tab, once } = world.open({ reconcile: async () => said() });
    const told = diagnostics(once);
    const end = await world.end(tab, pay(once), charged(lost()), answers(401));
    expect(end).toMatchObject({ status: said().status, outcome: { type: 'replayed', from: 'reconcile' } });
    expect(await end.response?.text()).toBe(await said().text());
    expect(told).toEqual([]);
  });

  test('a Response: the next press gets it from memory', async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => Response.json({ id: 'ch_1' }) });
    await world.end(tab, pay(once), charged(lost()), answers(401));
    const again = await world.end(tab, pay(once));
    expect(again).toMatchObject({ status: 200, outcome: { type: 'replayed', from: 'memory' } });
    expect(await again.response?.json()).toEqual({ id: 'ch_1' });
  });

  test("'done' or 'unknown' causes no diagnostic", async () => {
    for (const said of ['done', 'unknown'] as const) {
      const { world, tab, once } = newWorld().open({ reconcile: async () => said });
      const told = diagnostics(once);
      await world.end(tab, pay(once), charged(lost()), answers(401));
      expect(told).toEqual([]);
      expect(tab.reported).toEqual([]);
    }
  });

  test('a 404: a 2xx whose payload is uncertain stays the answer', async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => new Response(null, { status: 404 }) });
    await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
    expect(await world.end(tab, pay(once, { body: { cart: 'c1', amount: 20 } }), answers(201))).toMatchObject({
      status: 201,
      outcome: { type: 'fresh', certain: false },
    });
  });
});

test.for([
  ['another payload', undefined],
  ['other bytes', () => 'equal'],
] as const)(
  "reconcile says 'none' while the server holds %s under a derived key: the key stays, because a call that sends those again may still be charged",
  async ([_, fingerprint], { world }) => {
    const options = { fingerprint, reconcile: async () => 'none' as const };
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, { ...ONE, key: derived }), lost());
    const next = tab.reload();
    const edited = { key: derived, body: { cart: 'c1', amount: 20 } };
    const told = await world.end(next, pay(next.once(options), edited), answers(422, { title: 'Idempotency-Key is already used' }));
    expect(told.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    await world.end(next, pay(next.once(options), edited), answers(201));
    expect(new Set(world.server.keys).size).toBe(1);
  },
);

describe("reconcile says 'done' after the form was edited", () => {
  const EDITED = { cart: 'c1', amount: 20 };
  const done = async () => 'done' as const;

  test.for(['if-changed', 'always'] as const)(
    'after a lost attempt at a server that knows no keys, repeat %s: the edited form, which has never left, is sent',
    async (repeat, { world }) => {
      const { tab, once } = world.open({ dialect: 'none', repeat, reconcile: done });
      await world.end(tab, pay(once, { ...ONE, reconcile: async () => 'unknown' }), charged(lost()));
      expect(await world.end(tab, pay(once, { body: EDITED }), answers(201))).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
      expect(world.server.arrivals).toHaveLength(2);
    },
  );

  test.for(['if-changed', 'always'] as const)(
    'the edited form has left and the server is at work on it: it is not sent again, repeat %s',
    async (repeat, { world }) => {
      const { tab, once } = world.open({ repeat, reconcile: done, limits: { inProgressMs: 1 } });
      await world.end(tab, pay(once, ONE), lost());
      const edited = await world.end(tab, pay(once, { body: EDITED }), charged(answers(409)));
      expect(edited).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'reconcile' } });
      expect(world.server.arrivals).toHaveLength(2);
    },
  );

  test('the key window ends while the edited form waits for its turn: it is sent under another key', async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed', limits: { keyWindowMs: MINUTE, attemptMs: 5 * SECOND }, reconcile: done });
    await world.end(tab, pay(once, ONE), charged(answers(503, '', { 'retry-after': '58' })));
    expect(await world.end(tab, pay(once, { body: EDITED }), answers(201))).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
    expect(new Set(world.server.keys).size).toBe(2);
  });
});

describe('run', () => {
  const half = async () => 'half of it';

  test('does not resolve with the Response of reconcile: the operation is done, and has no value', async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => Response.json({ id: 'ch_1' }), limits: { inProgressMs: 0 } });
    const call = watched(run(once, NAME, half, { verdict: () => 'in-progress' })) as Promise<never>;
    const end = await world.end(tab, call);
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'reconcile' } });
    expect(await (end.error as { response: Response }).response.json()).toEqual({ id: 'ch_1' });
    expect(world.record()?.state).toBe('settled');
    expect(world.record()?.answer).toBeUndefined();
    const next = watched(run(once, NAME, half)) as Promise<never>;
    expect(await world.end(tab, next)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });

  test('does not resolve with it after a resume has asked reconcile either: a caller of run expects a value', async ({ world }) => {
    const { once } = world.open({ reconcile: async () => Response.json({ id: 'ch_1' }), limits: { attempts: 1 } }, { server: true });
    const lost = async () => Promise.reject(new Error('socket hang up'));
    const first = world.open({ limits: { attempts: 1 } }, { server: true });
    await world.run(run(first.once, NAME, lost).catch(() => {}));
    expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done', from: 'reconcile' } }]);
    expect(world.record()?.answer).toBeUndefined();
    await expect(world.run(run(once, NAME, half))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });
});
