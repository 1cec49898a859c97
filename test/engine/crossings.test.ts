/** Goal: where two rules meet, there is no second effect, no untrue outcome and no customer who is stuck. Each sequence was found by an attack. */
import { describe, expect } from 'vitest';
import { fresh, replayed } from '../../src/core/outcome.js';
import type { OnceRecord } from '../../src/core/record.js';
import { defineDialect, inBody, inHeader, stripe, stripeV2 } from '../../src/entries/dialects.js';
import { clear, close, move, type Once, resumeOne } from '../../src/entries/index.js';
import { sealed } from '../support/record.js';
import { answers, charged, delayed, during, hangs, idle, lost, replays, textOf } from '../support/server.js';
import { CART, MINUTE, NAME, ONE, pay, rest, resumed, SECOND, test, URL_ } from '../support/world.js';

const CARD_B = { ...CART, card: 'B' };

describe('the two minutes after which a repeated refusal is proof', () => {
  test('count from the last attempt that may have had an effect, not from the first refusal', async ({ world }) => {
    const { tab, once } = world.open({ limits: { attemptMs: 5000 } });
    const decline = answers(402, { error: 'declined' });
    await world.end(tab, pay(once), lost(), decline);
    await world.clock.advance(3 * MINUTE);
    // The customer has topped up the account. This copy is held up on its way, and charges when it arrives.
    const second = await world.end(tab, pay(once), hangs(), decline);
    expect(world.server.arrivals).toHaveLength(4);
    expect(second.outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
  });

  test('count from such an attempt even if it got no answer at all', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    const decline = answers(402, { error: 'declined' });
    world.server.plays(lost(), decline, hangs(), decline, answers(201));
    for (const wait of [0, 3 * MINUTE, 0]) {
      await world.end(tab, pay(once));
      await world.clock.advance(wait);
    }
    // The third press may have charged a second ago.
    const keys = new Set(world.server.keys);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown' });
    await world.end(tab, pay(once));
    expect(new Set(world.server.keys)).toEqual(keys);
  });
});

describe('two processes on one store', () => {
  const PROCESS = { server: true, locks: false, claims: { shared: 'cluster', ownClock: true } } as const;

  test("a clock that is three minutes ahead does not shorten the two minutes of a refusal: the store's clock counts", async ({ world }) => {
    const [one, other] = [world.open({}, PROCESS), world.open({}, PROCESS)];
    other.tab.skewMs = 3 * MINUTE;
    const decline = answers(402, { error: 'declined' });
    await world.end(one.tab, pay(one.once), lost(), decline);
    expect((await world.end(other.tab, pay(other.once), decline)).outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
    await world.clock.advance(2 * MINUTE);
    expect((await world.end(one.tab, pay(one.once), decline)).outcome).toMatchObject({ effect: 'none' });
  });

  test('two calls that are the first of their process have leases with one owner, so that their process may drive on', async ({ world }) => {
    const { tab, once } = world.open({}, PROCESS);
    world.server.plays(delayed(20_000, answers(201)), delayed(20_000, answers(201)));
    const calls = [pay(once), pay(once, { operation: ['pay', 'c2'] })];
    await rest();
    expect(new Set((world.records as OnceRecord[]).map(({ lease }) => lease?.owner)).size).toBe(1);
    await world.all(tab, ...calls);
  });

  test('a call that may only ask reconcile settles nothing once the driver has woken up and renewed its lease', async ({ world }) => {
    const [driver, asker] = [world.open({}, PROCESS), world.open({}, PROCESS)];
    world.server.plays(delayed(10 * MINUTE, charged(answers(201))));
    const [call] = await world.begin(pay(driver.once, { limits: { attempts: 1, attemptMs: 20 * MINUTE, totalMs: 30 * MINUTE } }));
    driver.tab.freeze();
    await world.clock.advance(MINUTE);
    const reconcile = async () => {
      driver.tab.thaw();
      await rest();
      return 'none' as const;
    };
    const elsewhere = { url: 'https://eu.shop.example/api/payments' };
    const { lease } = world.record() ?? {};
    expect((await world.end(asker.tab, pay(asker.once, elsewhere))).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.record()?.lease).toEqual(lease);
    expect((await world.end(asker.tab, pay(asker.once, { ...elsewhere, reconcile }))).outcome).toMatchObject({ effect: 'unknown' });
    expect((await world.end(driver.tab, call)).outcome).toMatchObject({ effect: 'done' });
  });
});

describe('done, and nobody knows with which payload', () => {
  const EDITED = { ...CART, amount: 20 };
  const status = () => new Response('{"state":"paid"}', { headers: { 'content-type': 'application/json' } });

  test.for([
    ['an answer that may be to either payload', [answers(201)], {}],
    ["reconcile's Response", [answers(401)], { reconcile: async () => status() }],
  ] as const)('by %s: later calls are told that it is done, and get no answer that may be to another payload', async ([_, last, options], { world }) => {
    const { tab, once } = world.open({ limits: { attempts: 1 }, ...options });
    await world.end(tab, pay(once, { reconcile: async () => 'unknown' }), idle(charged(lost())));
    expect((await world.end(tab, pay(once, { body: EDITED }), ...last)).outcome).toMatchObject({ effect: 'done' });
    for (const body of [CART, EDITED])
      expect(await world.end(tab, pay(once, { body }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', attempts: 0 } });
  });
});

describe('another context settles the operation with an earlier payload while this call waits for its next attempt', () => {
  test.for(['never', 'if-changed', 'always'] as const)('with repeat %s, this call does not get the answer to that payload', async (repeat, { world }) => {
    const { tab, once } = world.open({ repeat });
    // The operation is done and remembered here, but its end could not be stored.
    world.server.plays(during(() => tab.faults.next('fail-before-commit'), charged(answers(201))));
    expect((await world.end(tab, pay(once))).status).toBe(201);
    const [first = ''] = world.record()?.payloads ?? [];
    const ends = (record: OnceRecord): OnceRecord =>
      sealed({ ...record, state: 'settled', ending: replayed('server'), payloads: [first], revision: record.revision + 1 });
    world.server.plays(during(() => world.damage(ends), lost()));
    if (repeat !== 'never') world.server.plays(charged(answers(201)));
    const end = await world.end(tab, pay(once, { body: CARD_B }));
    if (repeat === 'never') expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', response: undefined });
    else expect(end).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
  });

  test('with repeat if-changed, the present payload is sent if the settled record lists no payload, because nobody knows which one took effect', async ({
    world,
  }) => {
    const { tab, once } = world.open({ repeat: 'if-changed' });
    const ends = (record: OnceRecord): OnceRecord =>
      sealed({ ...record, state: 'settled', ending: replayed('server'), payloads: [], revision: record.revision + 1 });
    world.server.plays(
      during(() => world.damage(ends), lost()),
      answers(201),
    );
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.record()?.payloads).toHaveLength(1);
  });

  test.for(['if-changed', 'always'] as const)(
    'with repeat %s, an end that may be of either payload also ends this call: its payload is not sent again',
    async (repeat, { world }) => {
      const { tab, once } = world.open({ repeat });
      await world.end(tab, pay(once, ONE), lost());
      const ends = (record: OnceRecord): OnceRecord => sealed({ ...record, state: 'settled', ending: fresh(false, true), revision: record.revision + 1 });
      world.server.plays(during(() => world.damage(ends), charged(lost())));
      expect(await world.end(tab, pay(once, { body: CARD_B }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    },
  );
});

test('another context settles the operation with an earlier payload while this call polls: the call is told so, and not as its own end', async ({ world }) => {
  const { tab, once } = world.open({ accepted: 'poll' });
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  const [first = ''] = world.record()?.payloads ?? [];
  const ends = (record: OnceRecord): OnceRecord =>
    sealed({ ...record, state: 'settled', ending: fresh(true, false), payloads: [first], revision: record.revision + 1 });
  world.server.plays(
    answers(202, {}, { location: '/jobs/1' }),
    during(() => world.damage(ends), answers(200, { state: 'running' })),
  );
  expect(await world.end(tab, pay(once, { body: CARD_B }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', effect: 'done' } });
});

describe('a corrected request after a refusal, with a fingerprint that picks fields', () => {
  test.for([401, 403, 422])('after a %i that was told as none, the new bytes are sent, and not the ones that were refused', async (status, { world }) => {
    const { tab, once } = world.open({ fingerprint: ({ body }) => (body as { cart: string }).cart, limits: { attempts: 1 } });
    world.server.plays(answers(status, { code: 'captcha' }), answers(201));
    expect((await world.end(tab, pay(once, { body: { ...CART, captcha: 'old' } }))).outcome).toMatchObject({ effect: 'none' });
    await world.end(tab, pay(once, { body: { ...CART, captcha: 'new' } }));
    expect(await textOf(world.server.arrivals[1] as never)).toContain('new');
  });
});

test.for([true, false])('a captcha that was wrong once can be corrected (browser: %s)', async (resends, { world }) => {
  const { tab, once } = world.open({ fingerprint: ({ body }) => (body as { cart: string }).cart, limits: { attempts: 1 } }, { resends });
  world.server.otherwise = async (a, s) => ((await textOf(a)).includes('good') ? answers(201) : answers(403, { code: 'captcha' }))(a, s);
  const told: unknown[] = [];
  for (const captcha of ['bad', 'good', 'good', 'good']) told.push((await world.end(tab, pay(once, { body: { ...CART, captcha } }))).outcome?.effect);
  expect(told).toContain('done');
});

describe('a payload whose caller was told none', () => {
  test.for(['never', 'if-changed'] as const)('is not executed by the press of a corrected payload (repeat: %s)', async (repeat, { world }) => {
    const { tab, once } = world.open({ repeat, dialect: stripeV2() });
    const executed: string[] = [];
    const refused = await world.end(tab, pay(once, { body: { ...CART, amount: 100 } }), answers(400, { error: { code: 'insufficient_stock' } }));
    expect(refused.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    // Stripe v2: another payload under the key is a mismatch, and the same payload goes on with what failed.
    world.server.otherwise = async (arrival, server) => {
      const body = await textOf(arrival);
      const first = arrival.key === refused.outcome?.key;
      if (first && !body.includes('"amount":100')) return answers(400, { error: { type: 'idempotency_error' } })(arrival, server);
      executed.push(body);
      return answers(200)(arrival, server);
    };
    await world.end(tab, pay(once, { body: { ...CART, amount: 10 } }));
    expect(executed).toEqual([JSON.stringify({ ...CART, amount: 10 })]);
  });
});

describe('resume with a dialect that depends on the request', () => {
  const bank = defineDialect({
    name: 'bank',
    place: inHeader('Idempotency-Key'),
    answers: [{ status: 200, at: { status: 'DECLINED' }, means: 'refused', sticky: true }],
  });
  test.for(['the client', 'the operation'])('a refusal inside a 200 is not done: resumed by %s', async (by, { world }) => {
    const options = { namespace: () => 'u', keep: { request: true }, dialect: () => bank } as const;
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, { limits: { attempts: 1 } }), lost());
    const next = tab.reload();
    const again = next.once(options);
    world.server.otherwise = idle(answers(200, { status: 'DECLINED' }));
    if (by === 'the operation') {
      expect((await world.end(next, resumeOne(again, NAME))).outcome?.effect).not.toBe('done');
      return;
    }
    expect((await world.run(resumed(again))).map(({ outcome }) => outcome.effect)).not.toContain('done');
  });
  test('a key in the body is sent again', async ({ world }) => {
    world.keyOf = ({ body }) => (JSON.parse(String(body)) as { k: string }).k;
    const options = { namespace: () => 'u', keep: { request: true }, dialect: () => defineDialect({ name: 'in-body', place: inBody('k') }) } as const;
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, { limits: { attempts: 1 } }), lost());
    const next = tab.reload();
    world.server.otherwise = answers(201);
    expect((await world.end(next, resumeOne(next.once(options), NAME))).outcome).toMatchObject({ effect: 'done' });
  });
});

test('repeat if-changed: an earlier payload is done, but its end could not be stored: the present payload is not told as done', async ({ world }) => {
  const { tab, once } = world.open({ repeat: 'if-changed', limits: { attempts: 1 } });
  world.server.plays(
    charged(lost()),
    during(() => tab.faults.next('fail-before-commit'), replays()),
  );
  await world.end(tab, pay(once));
  expect((await world.end(tab, pay(once, { body: CARD_B }))).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
});

describe('repeat if-changed in a browser', () => {
  test('a replay that may be of another payload lets the present one go on under a new key', async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed' }, { resends: true });
    await world.end(tab, pay(once, { body: { v: 1 }, limits: { attempts: 1 } }), charged(lost()));
    const saved = await world.end(tab, pay(once, { body: { v: 2 } }), replays(), answers(201, { v: 2 }));
    expect(saved.outcome).toMatchObject({ type: 'fresh', effect: 'done' });
    expect(await saved.response?.json()).toEqual({ v: 2 });
    expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual(['{"v":1}', '{"v":2}', '{"v":2}']);
  });

  test('if that call breaks off before it goes on, the earlier payload does not count as saved, because a copy may have saved the present one', async ({
    world,
  }) => {
    const { tab, once } = world.open({ repeat: 'if-changed', limits: { attempts: 1 } }, { resends: true });
    await world.end(tab, pay(once, { body: { v: 1 } }), lost());
    world.server.plays(during(() => tab.faults.next('fail-after-commit'), charged(replays())));
    expect((await world.end(tab, pay(once, { body: { v: 2 } }))).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
    const { response } = await world.end(tab, pay(once, { body: { v: 1 } }), answers(201, { v: 1 }));
    expect(await response?.json()).toEqual({ v: 1 });
  });
});

test.for([false, true])('an unnamed call with a full store is adopted by the same press (full: %s)', async (full, { world, tab, once }) => {
  if (full) tab.faults.rate('full', 1);
  const post = () => {
    const p = once.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(CART) });
    p.catch(() => {});
    return p;
  };
  await world.end(tab, post(), charged(lost()), charged(lost()), charged(lost()), charged(lost()), charged(lost()));
  world.server.otherwise = replays();
  await world.end(tab, post());
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a clean record of a key that is not random notes where the key was sent, not where it was to be sent', async ({ world }) => {
  const { tab, once } = world.open({}, { claims: { atomic: false } });
  tab.connect(false);
  void pay(once);
  await world.clock.advance(1000);
  const next = tab.reload();
  next.connect(true);
  const again = next.once({ limits: { attempts: 1 } });
  const other = 'https://shop.example/api/paypal';
  const seen: string[] = [];
  // The first address never saw this key, so it would execute the request.
  world.server.otherwise = (arrival, server) => {
    seen.push(arrival.url);
    return charged(lost())(arrival, server);
  };
  await world.end(next, pay(again, { url: other }));
  await world.end(next, pay(again));
  expect(seen).toEqual([other]);
});

test('Stripe: a decline of a corrected request is not tried a second time by the same press', async ({ world }) => {
  const { tab, once } = world.open({ dialect: stripe() });
  world.server.plays(answers(400, { error: { type: 'invalid_request_error' } }), answers(402, { error: { type: 'card_error', code: 'card_declined' } }));
  await world.end(tab, pay(once));
  world.server.otherwise = answers(402, { error: { type: 'card_error', code: 'card_declined' } });
  expect((await world.end(tab, pay(once, { body: CARD_B }))).outcome).toMatchObject({ effect: 'none' });
  expect(world.server.arrivals).toHaveLength(2);
});

describe('an ordinary refusal with "already" in its words', () => {
  test.for(['This order has already been shipped', 'Payment method already attached to customer', 'Your order already contains this item'])(
    '%s',
    async (message, { world, tab, once }) => {
      world.server.otherwise = answers(422, { code: 'order_shipped', message });
      expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'none' });
    },
  );
});

test('an unnamed call that adopts an earlier one gets the refusal that the server kept, as from fetch', async ({ world }) => {
  const { tab, once } = world.open({}, { resends: true });
  const post = () => {
    const p = once.fetch(URL_, { method: 'POST', body: 'x' });
    p.catch(() => {});
    return p;
  };
  expect((await world.end(tab, post(), answers(401))).status).toBe(401);
  world.server.otherwise = replays(401);
  expect((await world.end(tab, post())).status).toBe(401);
});

describe('repeat if-changed: a payload that was only ever refused', () => {
  test('is not told as done because another one was (401 in a browser: the session was over)', async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed' }, { resends: true });
    await world.end(tab, pay(once, { body: { name: 'A' } }), answers(401));
    world.server.otherwise = answers(200);
    await world.end(tab, pay(once, { body: { name: 'B' } }));
    await world.end(tab, pay(once, { body: { name: 'A' } }));
    expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual([{ name: 'A' }, { name: 'B' }, { name: 'A' }].map((one) => JSON.stringify(one)));
  });

  test('is not told as done if its caller was told none (422), and the other one took two attempts', async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed' });
    const refused = await world.end(tab, pay(once, { body: { name: 'A' } }), answers(422, { code: 'name_taken' }));
    expect(refused.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    await world.end(tab, pay(once, { body: { name: 'B' } }), charged(lost()), answers(200));
    world.server.otherwise = answers(200);
    await world.end(tab, pay(once, { body: { name: 'A' } }));
    expect(world.server.arrivals).toHaveLength(4);
  });
});

describe('a press waits for another tab; meanwhile its record disappears, and its client is closed', () => {
  const ways: Readonly<Record<string, (of: { readonly ann: Once; readonly guest: Once }) => Promise<unknown>>> = {
    'moved by a log-in': ({ ann }) => move(ann, 'guest'),
    'cleared by a log-out': ({ guest }) => clear(guest),
  };
  test.for(Object.entries(ways))('%s: the press is not told none', async ([_, goes], { world }) => {
    const opened = (namespace: string) => world.open({ namespace }, { locks: false });
    const [one, two, ann] = [opened('guest'), opened('guest'), opened('ann')];
    const [first] = await world.begin(pay(one.once), delayed(20 * SECOND, charged(answers(201))));
    const [waits] = await world.begin(pay(two.once));
    await world.run(goes({ ann: ann.once, guest: one.once }));
    await world.run(close(two.once));
    expect(await world.end(two.tab, waits)).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.end(one.tab, first);
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test('a press that is given up after a log-in, before it began, is unknown: another tab may be sending the moved operation', async ({ world }) => {
  let user = 'guest';
  const { tab, once } = world.open({ namespace: () => user });
  const pressed = pay(once);
  user = 'ann';
  await world.run(close(once));
  expect(await world.end(tab, pressed)).toMatchObject({ outcome: { effect: 'unknown', reason: 'aborted' } });
  expect(world.server.arrivals).toHaveLength(0);
});

describe('an earlier payload was refused in front of the application, and the server replays the answer to a copy that was sent unseen', () => {
  const REPLAYED = { 'idempotent-replayed': 'true' };

  test.for([
    ['at once', {}, [replays()]],
    ['behind the link of a 202', { accepted: 'poll' }, [answers(202, '', { ...REPLAYED, location: '/jobs/1' }), idle(answers(200, { state: 'done' }))]],
  ] as const)('%s: a later call with the corrected payload does not get that answer as its own', async ([_, options, entries], { world }) => {
    const { tab, once } = world.open(options, { resends: true });
    await world.end(tab, pay(once), charged(answers(401)));
    expect((await world.end(tab, pay(once, { body: CARD_B }), ...entries)).outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
    for (const body of [CART, CARD_B])
      expect(await world.end(tab, pay(once, { body }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', response: undefined, outcome: { effect: 'done' } });
  });
});

describe('polling under a key that stays in use after a refusal: a replayed 202 to the first attempt is about the refused payload', () => {
  test.for([true, false])('the work is not told as that of the corrected payload (browser: %s)', async (resends, { world }) => {
    const { tab, once } = world.open({ accepted: 'poll' }, { resends });
    await world.end(tab, pay(once), charged(answers(400, { code: 'bad_card' })));
    world.server.plays(answers(202, '', { 'idempotent-replayed': 'true', location: '/jobs/1' }), idle(answers(200, { state: 'done' })));
    const end = await world.end(tab, pay(once, { body: CARD_B }));
    if (resends) expect(end.outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
    else expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });

  test('if an earlier call has sent the corrected payload, too, the work may be its own, as with any answer', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll', limits: { attempts: 1 } });
    await world.end(tab, pay(once), answers(400, { code: 'bad_card' }));
    await world.end(tab, pay(once, { body: CARD_B }), charged(lost()));
    world.server.plays(answers(202, '', { 'idempotent-replayed': 'true', location: '/jobs/1' }), idle(answers(200, { state: 'done' })));
    expect((await world.end(tab, pay(once, { body: CARD_B }))).outcome).toMatchObject({ type: 'replayed', from: 'server' });
  });
});

test('another context ends the very payload of a call that waits for its next attempt: the call gets the stored answer', async ({ world, tab, once }) => {
  const answer = { status: 201, statusText: '', headers: [], body: '{"id":"ch_1"}' };
  const ends = (record: OnceRecord): OnceRecord => sealed({ ...record, state: 'settled', ending: fresh(true, false), answer, revision: record.revision + 1 });
  world.server.plays(during(() => world.damage(ends), charged(lost())));
  const end = await world.end(tab, pay(once));
  expect(end).toMatchObject({ status: 201, outcome: { type: 'replayed', from: 'store', effect: 'done' } });
  expect(await end.response?.json()).toEqual({ id: 'ch_1' });
});

test.for(['if-changed', 'always'] as const)(
  "a call with repeat: '%s' does not join an equal one of a client that repeats nothing, and only looks what is done: its payload is sent",
  async (repeat, { world }) => {
    const { tab, once } = world.open();
    await world.end(tab, pay(once, { body: CARD_B, repeat }), charged(answers(201)));
    const [never, again] = [pay(once), pay(once, { repeat })];
    expect((await world.end(tab, never, charged(answers(201)))).outcome).toMatchObject({ type: 'replayed', attempts: 0 });
    expect((await world.end(tab, again)).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
    expect(world.server.arrivals).toHaveLength(2);
  },
);
