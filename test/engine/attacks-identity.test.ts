/**
 * Goal: no operation is driven as another person's, none is dropped by a log-out or a careless `forget`, and an operation that
 * was told as not sent is not sent later (attacks 8, 9, 12, 13, 20, 30, 31, 35, 38). Method: the sequences that broke earlier
 * drafts, with people who log in and out between two awaits.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { clear, extend, forget, move as moveFrom, operation as operationOf, pending, resumeOne, settle } from '../../src/entries/index.js';
import { answers, charged, delayed, during, hangs, lost, replays } from '../support/server.js';
import { CART, HOUR, MINUTE, NAME, newWorld, ONE, pay, rest, SECOND, test, URL_, watched } from '../support/world.js';

describe('A8: a log-out', () => {
  test('A8: after an unknown outcome keeps the key, returns the operation, and the same person goes on with it', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann', keep: { request: true } });
    const end = await world.end(tab, pay(once, { limits: { attempts: 2 }, meta: { total: '€42.00' } }), charged(lost()), answers(401));
    expect((await world.run(clear(once))).kept).toMatchObject([{ name: NAME, key: end.outcome?.key, meta: undefined, resumable: false }]);
    expect(JSON.stringify(world.records)).not.toMatch(/€42|amount/);
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key: end.outcome?.key });
  });

  test('A8: stops the driver of another tab before its next attempt', async ({ world }) => {
    const [one, two] = [world.open({ namespace: 'ann' }), world.open({ namespace: 'ann' })];
    const [call] = await world.begin(pay(one.once), charged(answers(503, '', { 'retry-after': '30' })));
    await world.run(clear(two.once));
    expect(await world.end(one.tab, call)).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('A8: stops a driver that waits for its first attempt because the server asked an earlier page to wait', async ({ world }) => {
    const [one, two] = [world.open({ namespace: 'ann' }), world.open({ namespace: 'ann' })];
    await world.end(one.tab, pay(one.once, ONE), charged(answers(503, '', { 'retry-after': '60' })));
    const call = pay(one.once);
    await world.clock.advance(10 * SECOND);
    await world.run(clear(two.once));
    expect(await world.end(one.tab, call)).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('A8: stops a driver that waits for its first attempt because the device is offline', async ({ world }) => {
    const [one, two] = [world.open({ namespace: 'ann' }), world.open({ namespace: 'ann' })];
    one.tab.online = false;
    const call = pay(one.once);
    await world.clock.advance(SECOND);
    await world.run(clear(two.once));
    expect((await world.end(one.tab, call)).response).toBeUndefined();
    expect(world.server.arrivals).toEqual([]);
  });

  test.for([
    ['a 2xx that comes late is still given, and changes nothing', 201, 'done'],
    ['a refusal that comes late is unknown', 402, 'unknown'],
  ] as const)('A8: during an attempt: %s', async ([_, status, effect], { world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(during(() => clear(once), answers(status)));
    expect(await world.end(tab, pay(once))).toMatchObject({ status, outcome: { effect } });
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('A8: removes the answers that this page remembers', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    await world.end(tab, pay(once), answers(201));
    await world.run(clear(once));
    expect(world.record()).toMatchObject({ state: 'settled', forgetAt: world.clock.now() + 2 * MINUTE });
    expect(operationOf(once, NAME).state).toEqual({ phase: 'idle' });
    // By design, nothing is known of a settled operation two minutes after the log-out.
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    await world.clock.advance(2 * MINUTE);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'fresh' });
  });
});

describe('A9: on a server', () => {
  const coupon = (once: Parameters<typeof pay>[0], who: string) =>
    watched(once.fetch('https://api.example/coupons', { method: 'POST', body: '{"campaign":7}', headers: { authorization: who } }));

  test('A9: two customers with equal bodies get an effect and an answer each', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'billing' }, { server: true, locks: false });
    world.server.plays(delayed(SECOND, answers(201, { code: 'A' })), delayed(SECOND, answers(201, { code: 'B' })));
    const [ann, bob] = await world.all(tab, coupon(once, 'Ann'), coupon(once, 'Bob'));
    expect([await ann?.response?.json(), await bob?.response?.json()]).toEqual([{ code: 'A' }, { code: 'B' }]);
    expect([ann?.outcome, bob?.outcome]).toMatchObject([
      { type: 'fresh', joined: false },
      { type: 'fresh', joined: false },
    ]);
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test.each([
    ['one effect if the namespace is the service', false, 1, [false, true]],
    ['an effect each if it is the account', true, 2, [false, false]],
  ])('A9: two customers who chose the same key: %s', async (_, perAccount, arrivals, joined) => {
    const { world, tab, once } = newWorld().open({ namespace: 'billing' }, { server: true, locks: false });
    const request = { method: 'POST', body: '{"campaign":7}', headers: { 'idempotency-key': 'order-1' } };
    world.server.plays(...Array.from({ length: arrivals }, () => delayed(SECOND, answers(201))));
    const use = (who: string) => watched((perAccount ? extend(once, { namespace: who }) : once).fetch('https://api.example/coupons', request));
    const ends = await world.all(tab, use('Ann'), use('Bob'));
    expect(ends.map((end) => end?.outcome)).toMatchObject(joined.map((one) => ({ effect: 'done', joined: one })));
    expect(world.server.arrivals).toHaveLength(arrivals);
  });

  test('A9: the next customer does not adopt the operation that the process of the first one left behind', async ({ world }) => {
    const one = world.open({ namespace: 'billing' }, { server: true, locks: false });
    world.server.plays(
      during(() => one.tab.kill(), charged(hangs())),
      answers(201),
    );
    await world.begin(coupon(one.once, 'Ann'));
    // By now, any lease of the dead process has expired.
    await world.clock.advance(MINUTE);
    const two = world.open({ namespace: 'billing' }, { server: true, locks: false });
    expect((await world.end(two.tab, coupon(two.once, 'Bob'))).outcome).toMatchObject({ type: 'fresh', resumed: false });
    expect(new Set(world.server.keys).size).toBe(2);
    expect(await world.run(pending(two.once))).toHaveLength(1);
  });
});

describe('A12: the person changes while an operation is driven', () => {
  test('A12: in a backoff: the call stops with effect unknown, reason identity', async ({ world }) => {
    let user = 'ann';
    const { tab, once } = world.open({ namespace: () => user });
    world.server.plays(during(() => (user = 'bob'), charged(lost())));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'identity' } });
    expect(world.server.arrivals).toHaveLength(1);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test.for<[string, () => string, reported: readonly unknown[]]>([
    ['an empty string', () => '', []],
    ['undefined', () => undefined as unknown as string, []],
    ['an error, because there is no longer a session', () => (null as unknown as { id: string }).id, [expect.any(TypeError)]],
  ])('A12: the namespace function gives %s after a log-out: the call stops with effect unknown, reason identity', async ([_, gone, reported], { world }) => {
    let user = () => 'ann';
    const { tab, once } = world.open({ namespace: () => user() });
    world.server.plays(
      during(() => {
        user = gone;
      }, charged(lost())),
    );
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'identity' } });
    expect([...new Set(tab.reported.map(String))]).toHaveLength(reported.length);
  });

  test('A12: while the headers hook is awaited: the new token is not sent with the old key', async ({ world }) => {
    let user = 'ann';
    const { tab, once } = world.open({ namespace: () => user });
    const headers = async ({ attempt }: { attempt: number }) => {
      await rest();
      if (attempt === 2) user = 'bob';
      return { authorization: `Bearer ${user}` };
    };
    expect(await world.end(tab, pay(once, { headers }), charged(lost()))).toMatchObject({ outcome: { effect: 'unknown', reason: 'identity' } });
    expect(world.server.arrivals.map(({ headers: sent }) => sent.get('authorization'))).toEqual(['Bearer ann']);
  });

  test('A12: while the headers hook is awaited for a request that asks for a settled answer again: nothing is sent with the new token', async ({ world }) => {
    let user = 'ann';
    const options = { namespace: () => user, dialect: { ...GENERIC, replays: true } };
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once), answers(201));
    const next = tab.reload();
    const headers = async () => {
      await rest();
      user = 'bob';
      return { authorization: `Bearer ${user}` };
    };
    expect((await world.end(next, pay(next.once(options), { headers }))).response).toBeUndefined();
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('A12: between the call and its first attempt: nothing is sent', async ({ world }) => {
    let user = 'ann';
    const { tab, once } = world.open({ namespace: () => user });
    const call = pay(once);
    user = 'bob';
    expect((await world.end(tab, call)).response).toBeUndefined();
    expect(world.server.arrivals).toEqual([]);
  });

  test('A12: one person does not see the records of another', async ({ world }) => {
    let user = 'ann';
    const { tab, once } = world.open({ namespace: () => user });
    const ann = await world.end(tab, pay(once, ONE), charged(lost()));
    user = 'bob';
    expect(await world.run(pending(once))).toEqual([]);
    expect(operationOf(once, NAME).state).not.toMatchObject({ phase: 'unsettled' });
    expect((await world.end(tab, pay(once), answers(201))).outcome?.key).not.toBe(ann.outcome?.key);
  });

  test('A12: an attempt of one person that hangs does not hold up the next person', async ({ world }) => {
    let user = 'ann';
    const { tab, once } = world.open({ namespace: () => user });
    const [ann] = await world.begin(pay(once, ONE), hangs(), answers(201));
    user = 'bob';
    const begun = world.clock.now();
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201 });
    expect(world.clock.now() - begun).toBeLessThan(SECOND);
    await world.end(tab, ann);
  });

  test.for([undefined, '', 5])('A12: the namespace %j is refused before anything is read', async (namespace, { world, tab }) => {
    expect(() => tab.once({ namespace: namespace as string })).toThrow(/namespace/);
    const once = tab.once({ namespace: () => namespace as string });
    tab.faults.rate('look-fails', 1);
    const end = await world.end(tab, pay(once));
    expect(end.error).toBeInstanceOf(TypeError);
    expect((end.error as Error).message).toContain('namespace');
    expect(tab.faults.fired['look-fails']).toBe(0);
  });

  test('A12: without a namespace no request, answer or meta is written to disk in a browser', async ({ world }) => {
    const { tab, once } = world.open({ keep: { request: true, response: 'disk' } });
    await world.end(tab, pay(once, { ...ONE, meta: { secret: 'meta' }, body: { secret: 'request' } }), lost());
    await world.end(tab, pay(once, { operation: ['other'], meta: { secret: 'meta' }, body: { secret: 'request' } }), answers(201, { secret: 'answer' }));
    expect(world.records).toHaveLength(2);
    expect(JSON.stringify(world.records)).not.toContain('secret');
  });
});

describe('A13: an operation that was told as not sent', () => {
  test('A13: the device is offline up to the deadline: the call is unsent, and going online hours later sends nothing', async ({ world }) => {
    const { tab, once } = world.open({ limits: { totalMs: 2 * SECOND } });
    tab.online = false;
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { sent: 'no', effect: 'none' }, ms: 2 * SECOND });
    expect(world.record()).toBeUndefined();
    await world.clock.advance(3 * HOUR);
    tab.connect(true);
    await world.clock.runAll();
    expect(world.server.arrivals).toEqual([]);
  });

  test('A13: nothing resumes by itself: not on a new page, not when the device goes online', async ({ world }) => {
    await world.interrupted(lost());
    const { tab, once } = world.open();
    tab.online = false;
    operationOf(once, NAME).subscribe(() => {});
    void operationOf(once, NAME).state;
    tab.connect(true);
    await world.clock.advance(23 * HOUR);
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('A20: forget and settle', () => {
  test('A20: "order again", clicked twice, sends one more request', async ({ world, tab, once }) => {
    const operation = operationOf(once, NAME);
    await world.end(tab, pay(once), answers(201), delayed(SECOND, answers(201)));
    const click = watched(forget(once, operation.name).then(() => pay(once)));
    const again = watched(forget(once, operation.name).then(() => pay(once)));
    const ends = await world.all(tab, click, again);
    expect(world.server.arrivals).toHaveLength(2);
    expect(ends.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
  });

  test.for([true, false])('A20: both are refused while another tab drives the operation, with locks: %s', async (locks, { world }) => {
    const [one, two] = [world.open({}, { locks }), world.open({}, { locks })];
    const [call] = await world.begin(pay(one.once), delayed(SECOND, answers(201)));
    await expect(world.run(forget(two.once, NAME, { evenIfUnknown: true }))).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await world.refusesNone(two.once);
    expect(await world.end(one.tab, call)).toMatchObject({ status: 201 });
  });

  test.each([
    ['settle', 'on a store that others share', { shared: 'origin' }],
    ['forget', 'on a store that others share', { shared: 'origin' }],
    ['settle', 'on the memory of one process', { shared: 'context' }],
    ['forget', 'on the memory of one process', { shared: 'context' }],
  ] as const)('A20: a %s and a click in one tick, without locks, %s: never an effect after the word "none"', async (verb, _, claims) => {
    for (const clickFirst of [false, true]) {
      const world = newWorld();
      const key = await world.interrupted(lost());
      const { tab, once } = world.open({}, { locks: false, claims });
      const operation = operationOf(once, NAME);
      world.server.plays(delayed(SECOND, answers(201)));
      // The first call to the storage takes as long as on a phone, so the click overtakes the change by hand.
      if (!clickFirst) tab.faults.next({ name: 'slow', ms: 100 });
      const clicked = clickFirst ? pay(once) : undefined;
      const word = watched(verb === 'settle' ? settle(once, operation.name, 'none') : forget(once, operation.name, { evenIfUnknown: true }));
      const click = clicked ?? pay(once);
      const [said] = await world.run(Promise.allSettled([word]));
      await world.end(tab, click);
      // Either the change was refused because the click is under way, or the click began another operation.
      if (said.status === 'fulfilled') expect(world.server.keys[1]).not.toBe(key);
      else expect(said.reason).toMatchObject({ code: 'ERR_ONCE_BUSY' });
    }
  });

  test("A20: after settle('none') the next call gets a new key; after settle('done') it sends nothing", async ({ world }) => {
    const key = await world.interrupted(lost());
    const { tab, once } = world.open();
    const operation = operationOf(once, NAME);
    await world.run(settle(once, operation.name, 'none'));
    expect((await world.end(tab, pay(once, ONE), lost())).outcome?.key).not.toBe(key);
    await world.run(settle(once, operation.name, 'done'));
    expect(operation.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    await expect(world.run(settle(once, operation.name, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  });

  test.for(['maybe', undefined, null, 'DONE'])('A20: settle(%j) is a TypeError', async (word, { world, once }) => {
    await expect(world.run(settle(once, NAME, word as 'done'))).rejects.toThrow(TypeError);
  });
});

describe('A35: what is stored of a request', () => {
  test('A35: only four headers and the listed ones', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann', keep: { request: true, headers: ['X-Tenant', 'X-None'] } });
    world.server.plays(lost());
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'accept-language': 'de', 'if-match': '"1"', 'x-tenant': 't1' };
    const secrets = {
      authorization: 'Bearer s3cret',
      cookie: 's3cret',
      'x-api-key': 's3cret',
      'x-csrf-token': 's3cret',
      'x-session': 's3cret',
      'proxy-authorization': 's3cret',
    };
    await world.end(tab, pay(once, { ...ONE, init: { headers: { ...headers, ...secrets } }, headers: () => ({ 'x-hook': 's3cret' }) }));
    expect(JSON.stringify(world.records)).not.toContain('s3cret');
    const stored = (world.record()?.request?.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]);
    expect(Object.fromEntries(stored)).toEqual({ ...headers, 'x-tenant': 't1' });
  });

  test('A35: the headers hook supplies the other headers on a page that resumes', async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true }, headers: () => ({ authorization: 'Bearer fresh' }) };
    const { tab, once } = world.open(options);
    world.server.plays(charged(lost()), replays());
    await world.end(tab, pay(once, { ...ONE, init: { headers: { 'content-type': 'application/json', authorization: 'Bearer old' } } }));
    const next = world.open(options);
    tab.kill();
    expect(await world.end(next.tab, watched(resumeOne(next.once, NAME)))).toMatchObject({ status: 201, outcome: { resumed: true } });
    const [first, second] = world.server.arrivals;
    expect(second?.headers.get('authorization')).toBe('Bearer fresh');
    expect(second?.body).toBe(first?.body);
    expect(second).toMatchObject({ url: first?.url, method: 'POST', key: first?.key });
  });

  test('A35: a URL with a user name is refused', async ({ world, tab, once }) => {
    const end = await world.end(tab, pay(once, { url: 'https://ann:s3cret@shop.example/pay' }));
    expect(end.error).toBeInstanceOf(TypeError);
    expect((end.error as Error).message).not.toContain('s3cret');
    expect(world.records).toEqual([]);
  });

  test('A35: the id of a record is a digest, and no record contains the namespace', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann@example.com' });
    await world.end(tab, pay(once, ONE), lost());
    expect(world.record()?.id).toMatch(/^[0-9a-f]{32,64}$/);
    expect(JSON.stringify(world.records)).not.toContain('ann@');
  });
});

describe('A38: a guest logs in', () => {
  test('A38: a driver that is still at work for the guest stops before its next attempt', async ({ world }) => {
    const guest = world.open({ namespace: 'guest' });
    const [call] = await world.begin(pay(guest.once), charged(answers(503, '', { 'retry-after': '60' })));
    await world.run(moveFrom(guest.tab.once({ namespace: 'ann' }), 'guest'));
    expect(await world.end(guest.tab, call)).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('A38: a move that died halfway and is made again does not reopen an operation that has settled since then', async ({ world }) => {
    const guest = world.open({ namespace: 'guest' });
    await world.end(guest.tab, pay(guest.once, ONE), charged(lost()));
    const user = guest.tab.once({ namespace: 'ann' });
    // The tab crosses to the list, to the lock, to the guest's record and to the new record, each time there and back.
    guest.tab.at(8, () => guest.tab.kill());
    void moveFrom(user, 'guest');
    await rest();
    const { tab, once } = world.open({ namespace: 'ann' });
    expect(await world.run(pending(once))).toHaveLength(1);
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed' });
    await world.run(moveFrom(once, 'guest'));
    expect(await world.run(pending(once))).toEqual([]);
    expect(await world.run(pending(tab.once({ namespace: 'guest' })))).toEqual([]);
  });

  test('A38: an operation that ends for the guest while it is moved is not reopened for the user', async ({ world }) => {
    const guest = world.open({ namespace: 'guest' });
    const [call] = await world.begin(pay(guest.once), delayed(SECOND, answers(402)));
    const user = world.open({ namespace: 'ann' });
    // The list has been read, and the guest's record has not been touched yet.
    user.tab.at(2, () => user.tab.freeze());
    const move = moveFrom(user.once, 'guest');
    await rest();
    expect((await world.end(guest.tab, call)).outcome).toMatchObject({ type: 'rejected' });
    user.tab.thaw();
    await world.run(move);
    expect(await world.run(pending(user.once))).toEqual([]);
  });

  test('A38: if the new account has an unsettled operation of that name, neither is lost', async ({ world, tab }) => {
    const [guest, user] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    world.server.plays(charged(lost()), lost());
    const [first, second] = [await world.end(tab, pay(guest, ONE)), await world.end(tab, pay(user, ONE))];
    await world.run(moveFrom(user, 'guest'));
    expect(await world.run(pending(user))).toMatchObject([{ key: second.outcome?.key }]);
    expect(await world.run(pending(guest))).toMatchObject([{ key: first.outcome?.key }]);
  });
});

describe('A30, A31: keys that are not random', () => {
  const derived = ({ generation }: { generation: number }) => `order-c1-${generation}`;

  test('A30: after a sticky refusal the generation rises, so the corrected card gets another key', async ({ world, tab, once }) => {
    world.server.plays(answers(402), replays(402), answers(201));
    expect((await world.end(tab, pay(once, { key: derived }))).outcome).toMatchObject({ type: 'unknown', key: 'order-c1-0' });
    expect((await world.end(tab, pay(once, { key: derived }))).outcome).toMatchObject({ type: 'rejected', key: 'order-c1-0' });
    expect((await world.end(tab, pay(once, { key: derived, body: { ...CART, card: 'B' } }))).outcome).toMatchObject({ effect: 'done', key: 'order-c1-1' });
  });

  test('A30: after forget the generation rises, too', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, { ...ONE, key: derived }), lost());
    await world.run(forget(once, NAME, { evenIfUnknown: true }));
    expect((await world.end(tab, pay(once, { key: derived }), answers(201))).outcome).toMatchObject({ key: 'order-c1-1' });
  });

  test('A30: the pending key wins over the one that is computed now, even if the key is made of the time', async ({ world, tab, once }) => {
    const bucket = ({ now }: { now: number }) => `pay-${Math.floor(now / MINUTE)}`;
    const first = await world.end(tab, pay(once, { ...ONE, key: bucket }), charged(lost()));
    await world.clock.advance(2 * MINUTE);
    expect((await world.end(tab, pay(once, { key: bucket }), replays())).outcome).toMatchObject({ type: 'replayed', key: first.outcome?.key });
  });

  test('A31: after the storage is lost, a derived key comes out the same, and a refusal is no proof', async ({ world }) => {
    await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    tab.faults.next('evict');
    const refused = await world.end(tab, pay(once, { key: derived }), answers(401));
    expect(refused).toMatchObject({ status: 401, outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
    expect((await world.end(tab, pay(once, { key: derived }), replays())).outcome).toMatchObject({ type: 'replayed', key: refused.outcome?.key });
  });

  test('A31: a mismatch under a derived key is no proof either', async ({ world, tab, once }) => {
    world.server.plays(answers(422, { title: 'Idempotency-Key is already used' }));
    expect(await world.end(tab, pay(once, { key: derived }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown' } });
    expect(world.record()).toMatchObject({ state: 'pending', key: 'order-c1-0' });
  });

  test('a mismatch under a derived key, about which reconcile says "none", keeps the key: the server may still execute its payload', async () => {
    const { world, tab, once } = newWorld().open({ reconcile: async () => 'none' });
    const mismatch = answers(422, { title: 'Idempotency-Key is already used' });
    world.server.plays(mismatch, charged(answers(201)));
    expect(await world.end(tab, pay(once, { key: derived, body: { amount: 20 } }))).toMatchObject({ status: 422, outcome: { type: 'rejected' } });
    expect(await world.end(tab, pay(once, { key: derived }))).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    // If the storage were lost now, a call would derive the very key that took effect.
    expect(world.server.keys).toEqual(['order-c1-0', 'order-c1-0']);
  });

  test('A26: a key that the request already has is used, and sent once', async ({ world, tab, once }) => {
    world.server.plays(answers(201));
    const call = watched(once.fetch(URL_, { method: 'POST', body: '{}', headers: { 'idempotency-key': 'from-ky' }, once: NAME }));
    expect((await world.end(tab, call)).outcome).toMatchObject({ key: 'from-ky' });
    expect(world.server.keys).toEqual(['from-ky']);
  });
});
