/**
 * Goal: two clicks, two tabs, two payloads and two drivers end in one effect, and each caller is told what is true of its own
 * call (attacks 11, 14, 15, 32, 33). Method: the sequences that broke earlier drafts; tabs that freeze, die and reload.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { clear, extend, forget, type Once, type OnceError, resumeOne, settle } from '../../src/entries/index.js';
import { answers, charged, delayed, during, type Entry, hangs, lost, replays, textOf } from '../support/server.js';
import { CART, HOUR, MINUTE, NAME, newWorld, ONE, pay, SECOND, saying, test, watched } from '../support/world.js';

const PATIENT = { limits: { attemptMs: 110 * SECOND } } as const;
const OTHER = { ...CART, amount: 20 };
const THIRD = { ...CART, amount: 30 };
const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' }, { 'content-type': 'application/problem+json' });

describe('A11: an abort or a late writer, and a key that is in use', () => {
  test('A11: a component that mounts, aborts and mounts again goes on with the key of the previous page', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    world.server.plays(replays());
    const controller = new AbortController();
    const first = pay(once, { signal: controller.signal });
    controller.abort();
    const second = pay(once);
    const [, end] = await world.all(tab, first, second);
    expect(end).toMatchObject({ status: 201, outcome: { type: 'replayed', key } });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('A11: a component that mounts, aborts and mounts again on a fresh page makes one request', async ({ world, tab, once }) => {
    world.server.plays(answers(201));
    const controller = new AbortController();
    const first = pay(once, { signal: controller.signal });
    controller.abort();
    const [, end] = await world.all(tab, first, pay(once));
    expect(end).toMatchObject({ status: 201 });
  });

  /** A driver freezes in its first attempt, in a process of its own, until its lease has run out. Then another process forgets the operation. */
  async function forgotten(...script: readonly Entry[]) {
    const world = newWorld();
    const [slow, quick] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
    const [late] = await world.begin(pay(slow.once, PATIENT), ...script);
    slow.tab.freeze();
    await world.clock.advance(30 * SECOND);
    await world.run(forget(quick.once, NAME, { evenIfUnknown: true }));
    return { world, slow, quick, late };
  }

  test('A11: a late refusal of a driver that lost its record does not change the next record', async () => {
    const { world, slow, quick, late } = await forgotten(delayed(20 * SECOND, answers(402)), charged(lost()));
    const second = await world.end(quick.tab, pay(quick.once, ONE));
    expect(second.outcome?.key).not.toBe(world.server.keys[0]);
    slow.tab.thaw();
    expect(await world.end(slow.tab, late)).toMatchObject({ status: 402, outcome: { effect: 'unknown' } });
    expect(world.record()).toMatchObject({ state: 'pending', key: second.outcome?.key });
  });

  test('A11: a late 2xx of such a driver is given to its caller, and does not change the next record', async () => {
    const { world, slow, quick, late } = await forgotten(delayed(20 * SECOND, answers(201)), lost());
    const second = await world.end(quick.tab, pay(quick.once, ONE));
    slow.tab.thaw();
    expect(await world.end(slow.tab, late)).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(world.record()).toMatchObject({ state: 'pending', key: second.outcome?.key });
  });

  test('A11: a driver whose record is gone stops before its next attempt', async () => {
    const { world, slow, late } = await forgotten(charged(answers(503, '', { 'retry-after': '40' })));
    slow.tab.thaw();
    expect(await world.end(slow.tab, late)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('A14: another payload does not join', () => {
  test('A14: the caller for 20 does not get the answer to 10', async ({ world, tab, once }) => {
    world.server.plays(delayed(SECOND, answers(201, { amount: 10 })));
    const [ten, twenty] = await world.all(tab, pay(once), pay(once, { body: OTHER }));
    expect(ten).toMatchObject({ status: 201, outcome: { type: 'fresh', joined: false } });
    expect(twenty).toMatchObject({ status: undefined, code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', joined: false } });
  });

  test('A14: the second payload waits for the refusal of the first, then goes out under a key of its own', async ({ world, tab, once }) => {
    world.server.plays(delayed(SECOND, answers(402)), answers(201));
    const [ten, twenty] = await world.all(tab, pay(once), pay(once, { body: OTHER }));
    expect(ten?.outcome).toMatchObject({ type: 'rejected' });
    expect(twenty?.outcome).toMatchObject({ type: 'fresh', changed: false });
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('A14: a call that waited, and then joins a younger call, still ends within its own limits', async ({ world }) => {
    const { tab, once } = world.open({ limits: { attempts: 1, attemptMs: 4 * SECOND } });
    world.server.plays(hangs(), hangs());
    let young: Promise<Response> | undefined;
    // This runs when the first call ends, before the calls that wait for it go on.
    const first = extend(once, {
      onOutcome: () => {
        young = watched(pay(once, { body: OTHER }));
      },
    });
    const old = extend(once, { limits: { totalMs: 6 * SECOND } });
    const start = world.clock.now();
    const [ten, twenty] = await world.all(
      tab,
      pay(first),
      pay(old, { body: OTHER }).finally(() => expect(world.clock.now() - start).toBe(6 * SECOND)),
    );
    expect(ten).toMatchObject({ outcome: { effect: 'unknown', reason: 'no-answer' } });
    expect(twenty).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { effect: 'unknown', reason: 'busy' } });
    expect(await world.end(tab, young as Promise<Response>)).toMatchObject({ outcome: { effect: 'unknown', reason: 'no-answer' } });
  });

  test('A14: after an unknown outcome the second payload goes out under the same key', async ({ world, tab, once }) => {
    world.server.plays(charged(lost()), replays());
    const [ten, twenty] = await world.all(tab, pay(once, ONE), pay(once, { body: OTHER }));
    expect(ten).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    expect(twenty).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test("A14: 'reject' refuses a second call, whatever its payload", async ({ world }) => {
    const { tab, once } = world.open({ whenBusy: 'reject' });
    world.server.plays(delayed(SECOND, answers(201)));
    const [first, same, other] = await world.all(tab, pay(once), pay(once), pay(once, { body: OTHER }));
    expect([first?.status, same?.code, other?.code]).toEqual([201, 'ERR_ONCE_BUSY', 'ERR_ONCE_BUSY']);
    expect(same?.outcome).toMatchObject({ operation: NAME, effect: 'unknown', storedIn: 'disk' });
    expect(same?.outcome).toMatchObject({ effect: 'unknown', reason: 'busy', sent: 'maybe' });
  });

  test('A14: resume joins a call that is under way', async ({ world, tab, once }) => {
    world.server.plays(delayed(SECOND, answers(201)));
    const [, resumed] = await world.all(tab, pay(once), resumeOne(once, NAME));
    expect(resumed).toMatchObject({ status: 201, outcome: { joined: true } });
  });

  test("A14: clients of one realm know of each other's calls", async ({ world, tab }) => {
    world.server.plays(delayed(SECOND, answers(201)));
    const [, second] = await world.all(tab, pay(tab.once()), pay(tab.once({ limits: { attempts: 2 } })));
    expect(second?.outcome).toMatchObject({ joined: true });
  });
});

describe('A15: an edited form after an unknown outcome', () => {
  /** Sends 10, with an unknown outcome. The requests that follow get the answers in `then`. */
  async function edited(...then: readonly Entry[]) {
    const { world, tab, once } = newWorld().open();
    const first = await world.end(tab, pay(once, ONE), lost(), ...then);
    return { world, tab, once, key: first.outcome?.key };
  }

  test('A15: goes out under the same key, and the record lists both payloads', async () => {
    const { world, tab, once, key } = await edited(lost());
    expect((await world.end(tab, pay(once, { ...ONE, body: OTHER }))).outcome).toMatchObject({ effect: 'unknown', key, resumed: true });
    expect(world.record()?.payloads).toHaveLength(2);
    expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual([JSON.stringify(CART), JSON.stringify(OTHER)]);
  });

  test('A15: an unmarked 2xx is done, but not certain, and changed', async () => {
    const { world, tab, once, key } = await edited(answers(201));
    expect(await world.end(tab, pay(once, { body: OTHER }))).toMatchObject({
      status: 201,
      outcome: { type: 'fresh', effect: 'done', certain: false, changed: true, key },
    });
  });

  test('A15: a marked replay to the first attempt of the later payload is about the earlier one, and its answer is given', async () => {
    const { world, tab, once, key } = await edited(charged(replays(201, { amount: 10 })));
    const end = await world.end(tab, pay(once, { body: OTHER }));
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', effect: 'done', key } });
    expect(await (end.error as { response: Response }).response.json()).toEqual({ amount: 10 });
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('A15: a marked replay after an ambiguous attempt of the later payload is done, but not certain', async () => {
    const { world, tab, once } = await edited(charged(lost()), replays());
    expect(await world.end(tab, pay(once, { body: OTHER }))).toMatchObject({ status: 201, outcome: { effect: 'done', certain: false, changed: true } });
  });

  test('A15: a marked replay to a third payload is about an earlier one', async () => {
    const { world, tab, once } = await edited(charged(lost()), replays());
    await world.end(tab, pay(once, { ...ONE, body: OTHER }));
    expect(await world.end(tab, pay(once, { body: THIRD }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });

  test('A15: after a return to the first payload, a replay may be about either', async () => {
    const { world, tab, once } = await edited(charged(lost()), replays());
    await world.end(tab, pay(once, { ...ONE, body: OTHER }));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { effect: 'done', certain: false, changed: true } });
  });

  test.for([
    ['marked', replays()],
    ['unmarked', answers(201)],
  ] as const)('A15: where the dialect answers mismatches, a %s 2xx belongs to the payload just sent', async ([_, answer], { world }) => {
    const { tab, once } = world.open({ dialect: { ...GENERIC, answersMismatch: true } });
    await world.end(tab, pay(once, ONE), lost());
    expect(await world.end(tab, pay(once, { body: OTHER }), charged(answer))).toMatchObject({ status: 201, outcome: { effect: 'done', changed: true } });
  });

  test('A15: after a mismatch, the earlier bytes are sent again once; if they are done, that is the outcome', async () => {
    const { world, tab, once, key } = await edited(MISMATCH, charged(replays(201, { amount: 10 })));
    const end = await world.end(tab, pay(once, { body: OTHER }));
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', effect: 'done', from: 'server', key } });
    expect(world.record()).toMatchObject({ state: 'settled', ending: { from: 'server' } });
    expect(await textOf(world.server.arrivals[2]!)).toBe(JSON.stringify(CART));
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('A15: after a mismatch, if the earlier payload is rejected for good, the changed request goes on under a new key', async () => {
    const { world, tab, once, key } = await edited(MISMATCH, replays(402), answers(201));
    const end = await world.end(tab, pay(once, { body: OTHER }));
    expect(end).toMatchObject({ status: 201, outcome: { type: 'fresh', changed: false, certain: true } });
    expect(end.outcome?.key).not.toBe(key);
    expect(await textOf(world.server.arrivals[3]!)).toBe(JSON.stringify(OTHER));
  });

  test('A15: after a mismatch to a resume, if the earlier payload is rejected for good, the resume says so, and nothing new is sent', async () => {
    const { world, tab, once, key } = await edited(MISMATCH, answers(409, '', { 'retry-after': '3600' }));
    await world.end(tab, pay(once, { body: OTHER }));
    const end = await world.end(tab, watched(resumeOne(once, NAME)), MISMATCH, replays(402));
    expect(end).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none', key } });
    expect(new Set(world.server.keys).size).toBe(1);
    expect(world.record()).toMatchObject({ state: 'retired' });
  });

  test('A15: after a mismatch, if the earlier payload is refused without proof, the effect is unknown, and the key stays', async () => {
    const { world, tab, once, key } = await edited(MISMATCH, answers(402));
    expect(await world.end(tab, pay(once, { body: OTHER }))).toMatchObject({
      code: 'ERR_ONCE_MISMATCH',
      outcome: { effect: 'unknown', reason: 'mismatch', key },
    });
    expect(world.record()).toMatchObject({ state: 'pending', key });
  });

  test('A15: a mismatch on a page that does not have the earlier bytes asks reconcile, or is unknown without it', async () => {
    const { world, tab, key } = await edited(MISMATCH, MISMATCH);
    tab.kill();
    const next = world.open();
    expect(await world.end(next.tab, pay(next.once, { body: OTHER }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown', key } });
    const asked: unknown[] = [];
    const reconcile = saying(asked, 'done' as const);
    expect(await world.end(next.tab, pay(next.once, { body: OTHER, reconcile }))).toMatchObject({
      code: 'ERR_ONCE_ALREADY_DONE',
      outcome: { effect: 'done', key },
    });
    expect(asked).toMatchObject([{ reason: 'mismatch', key }]);
  });

  test('A15: a mismatch on a page that finds the earlier bytes in the store sends those again', async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, ONE), charged(lost()));
    tab.kill();
    const next = world.open(options);
    expect(await world.end(next.tab, pay(next.once, { body: OTHER }), MISMATCH, replays(201, { amount: 10 }))).toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { effect: 'done' },
    });
  });

  test("A15: the earlier bytes from the store go out with this call's headers, which may say in which account they take effect", async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    const init = (more: Record<string, string>) => ({ headers: { 'content-type': 'application/json', 'stripe-account': 'acct_1', ...more } });
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, { ...ONE, init: init({ accept: 'application/json', authorization: 'first' }) }), charged(lost()));
    tab.kill();
    const next = world.open(options);
    await world.end(next.tab, pay(next.once, { body: OTHER, init: init({ accept: '*/*', authorization: 'second' }) }), MISMATCH, replays());
    const { headers } = world.server.arrivals[2]!;
    // Without it, another account would get the request, which has never seen the key.
    expect(headers.get('stripe-account')).toBe('acct_1');
    expect(headers.get('authorization')).toBe('second');
    // A header that was stored counts.
    expect(headers.get('accept')).toBe('application/json');
  });

  test("A15: the earlier bytes from the store go out without what this call's headers say of its own bytes, and without its condition", async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    const { tab, once } = world.open(options);
    const plain = { headers: { 'content-type': 'application/json', 'content-digest': 'sha-256=:first:', 'content-profile': 'shop_1' } };
    await world.end(tab, pay(once, { ...ONE, init: plain }), charged(lost()));
    tab.kill();
    const next = world.open(options);
    const packed = {
      headers: { ...plain.headers, 'content-encoding': 'gzip', 'content-digest': 'sha-256=:second:', 'repr-digest': 'x', 'if-match': '"2"', 'x-tenant': 't' },
    };
    await world.end(next.tab, pay(next.once, { body: OTHER, init: packed }), MISMATCH, replays());
    const sent = Object.fromEntries(world.server.arrivals[2]!.headers);
    // What the stored request was sent with comes from the store: its digest, and where PostgREST puts the row.
    expect(sent).toMatchObject({ ...plain.headers, 'x-tenant': 't' });
    for (const name of ['content-encoding', 'repr-digest', 'if-match']) expect(sent).not.toHaveProperty(name);
  });

  test('A15: an edited form that is packed does not charge again, although the earlier one in the store is not', async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, ONE), charged(lost()));
    tab.kill();
    const next = world.open(options);
    const press = () => pay(next.once, { body: OTHER, init: { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } } });
    // The server repeats the key in its refusal, so that this counts as the application's own.
    world.server.otherwise = (arrival, server) => {
      if (!server.charged.has(arrival.key)) return answers(201)(arrival, server);
      if (arrival.body !== JSON.stringify(CART)) return MISMATCH(arrival, server);
      if (!arrival.headers.has('content-encoding')) return replays()(arrival, server);
      return answers(400, { title: 'incorrect header check' }, { 'idempotency-key': `${arrival.key}` })(arrival, server);
    };
    await world.end(next.tab, press());
    await world.clock.advance(10 * MINUTE);
    await world.end(next.tab, press());
    expect(world.server.charged.size).toBe(1);
  });

  test('A15: a mismatch to the very same bytes is false, and the effect is unknown', async () => {
    const { world, tab, once } = await edited(MISMATCH);
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 422, outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('A15: a refusal under the same key is no proof about the earlier payload', async () => {
    const { world, tab, once, key } = await edited(answers(402));
    expect(await world.end(tab, pay(once, { body: OTHER }))).toMatchObject({ status: 402, outcome: { effect: 'unknown', key } });
  });
});

describe('a driver whose clock was set back in a wait', () => {
  test('does not ask reconcile about a record that it has lost meanwhile', async ({ world }) => {
    const heard: unknown[] = [];
    const { tab, once } = world.open({ reconcile: saying(heard, 'done') });
    const [call] = await world.begin(pay(once), answers(503, '', { 'retry-after': '60' }));
    await world.run(clear(world.open().once));
    tab.skewMs = -20 * MINUTE;
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown' } });
    expect(heard).toEqual([]);
  });

  test('asks reconcile about its own record, because it cannot know whether the server still remembers the key', async ({ world }) => {
    const heard: unknown[] = [];
    const { tab, once } = world.open({ reconcile: saying(heard, 'unknown') });
    const [call] = await world.begin(pay(once), answers(503, '', { 'retry-after': '60' }));
    tab.skewMs = -20 * MINUTE;
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
    expect(heard).toMatchObject([{ reason: 'key-expired' }]);
  });
});

describe.each([
  ['a tab, behind a lock', {}],
  ['a process, behind a lease', { server: true, locks: false }],
] as const)('A33: %s,', (_, of) => {
  test('A33: that waited for a refusal gets the refusal, and sends nothing', async ({ world }) => {
    const [one, two] = [world.open({}, of), world.open({}, of)];
    const [first] = await world.begin(pay(one.once), delayed(SECOND, answers(402)));
    const second = pay(two.once);
    expect(await world.end(one.tab, first)).toMatchObject({ status: 402, outcome: { type: 'rejected' } });
    expect(await world.end(two.tab, second)).toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { type: 'rejected', effect: 'none', key: world.server.keys[0] },
    });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('A33: that waited for an unknown outcome goes on at once, with the same key', async ({ world }) => {
    const [one, two] = [world.open({}, of), world.open({}, of)];
    const [first] = await world.begin(pay(one.once, ONE), delayed(SECOND, charged(lost())), replays());
    const second = pay(two.once);
    await world.end(one.tab, first);
    const at = world.clock.now();
    expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'replayed', resumed: true });
    expect(world.clock.now() - at).toBeLessThanOrEqual(2 * SECOND);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('that aborts while it waits leaves the first driver its claim', async ({ world }) => {
    const [one, two] = [world.open({}, of), world.open({}, of)];
    const [first] = await world.begin(pay(one.once), delayed(5 * SECOND, answers(503)), answers(201));
    const controller = new AbortController();
    const second = pay(two.once, { signal: controller.signal });
    world.clock.timer(SECOND, () => controller.abort());
    expect((await world.end(two.tab, second)).error).toBe(controller.signal.reason);
    expect(await world.end(one.tab, first)).toMatchObject({ status: 201, outcome: { effect: 'done', attempts: 2 } });
  });
});

describe('A32: a tab that dies or hangs', () => {
  test('A32: a dead tab frees its lock at once, and the next tab goes on', async ({ world, one, two }) => {
    await world.begin(pay(one.once), charged(hangs()), replays());
    const [second] = await world.begin(pay(two.once));
    one.tab.kill();
    expect(await world.end(two.tab, second)).toMatchObject({ outcome: { type: 'replayed', resumed: true }, ms: 0 });
  });

  test('A32: the wait behind a frozen tab is bounded; once it thaws, its 2xx is still given', async ({ world, one, two }) => {
    world.server.plays(delayed(SECOND, answers(201)), replays());
    // `PATIENT`, so that the thawed tab handles its answer before its own time limit.
    const [first] = await world.begin(pay(one.once, PATIENT));
    one.tab.freeze();
    const begun = world.clock.now();
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(120 * SECOND);
    one.tab.thaw();
    expect(await world.end(one.tab, first)).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('A32: a frozen tab thaws with a refusal after another one has succeeded: its effect is unknown, and the success stays', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once, PATIENT), delayed(SECOND, answers(402)), answers(201));
    one.tab.freeze();
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ effect: 'done' });
    one.tab.thaw();
    expect(await world.end(one.tab, first)).toMatchObject({ status: 402, outcome: { effect: 'unknown' } });
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('A32: forget and settle are refused while a tab drives without the lock, behind a tab that hangs', async () => {
    for (const byHand of [(once: Once) => forget(once, NAME, { evenIfUnknown: true }), (once: Once) => settle(once, NAME, 'none')]) {
      const world = newWorld();
      const [one, two] = [world.open(), world.open()];
      const tried: unknown[] = [];
      const attempt = () => byHand(one.once).catch((error: OnceError) => tried.push(error.code));
      world.server.plays(hangs(), answers(409, {}, { 'retry-after': '1' }), during(attempt, delayed(SECOND, replays())));
      // The first call ends, and frees the lock, between the attempts of the second one.
      await world.begin(pay(one.once, { limits: { attempts: 1, attemptMs: 30.5 * SECOND } }).catch(() => {}));
      expect(await world.end(two.tab, pay(two.once))).toMatchObject({ outcome: { type: 'replayed' } });
      expect(tried).toEqual(['ERR_ONCE_BUSY']);
    }
  });

  test('A32: a tab drives without the lock, and the lock is free again: the next press waits for that tab, and sends nothing', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once, { limits: { attempts: 1, attemptMs: 40 * SECOND } }), hangs(), delayed(20 * SECOND, answers(201)));
    const second = pay(two.once);
    await world.end(one.tab, first);
    expect(await world.end(one.tab, pay(one.once))).toMatchObject({ outcome: { effect: 'done' } });
    expect(await world.end(two.tab, second)).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('A32: a driver that finds that another one has settled the operation gets that outcome', async () => {
    for (const [answer, effect] of [
      [answers(201), 'done'],
      [replays(402), 'none'],
    ] as const) {
      const world = newWorld();
      const [one, two] = [world.open(), world.open()];
      world.server.plays(
        during(() => one.tab.freeze(), answers(503)),
        answer,
      );
      const [first] = await world.begin(pay(one.once));
      await world.end(two.tab, pay(two.once));
      one.tab.thaw();
      expect(await world.end(one.tab, first)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect } });
      expect(world.server.arrivals).toHaveLength(2);
    }
  });

  test('A32: a frozen tab thaws a day later and sends nothing more', async ({ world, tab, once }) => {
    const [call] = await world.begin(pay(once), charged(during(() => tab.freeze(), lost())));
    await world.clock.advance(26 * HOUR);
    tab.thaw();
    expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});
