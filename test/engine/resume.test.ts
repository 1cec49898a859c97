/**
 * Goal: `resume()` drives pending operations as far as they go and reports how each ended; `move()` brings a guest's operations with their keys, whatever the
 * user has already. Method: records of every kind on both sides, and callers who leave.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { generic } from '../../src/dialects/generic.js';
import { defineDialect, gocardless, inHeader, stripe } from '../../src/entries/dialects.js';
import { move, type Once, type OnceOptions, type Outcome, pending, resume, resumeOne, subscribe } from '../../src/entries/index.js';
import { made } from '../support/made.js';
import { sealed } from '../support/record.js';
import { answers, charged, delayed, doneElsewhere, during, lost, replays } from '../support/server.js';
import { NAME, newWorld, ONE, pay, resumed, SECOND, test, URL_, type World, watched } from '../support/world.js';

const KEPT = { ...ONE, keep: { request: true } } as const;

const records = (world: World): OnceRecord[] => world.records as OnceRecord[];

describe('resume', () => {
  async function scene(names: readonly string[], options: object = {}, dialect = generic({ perAccount: false })) {
    const { world, tab, once } = newWorld().open({ namespace: 'ann', ...KEPT, dialect });
    for (const name of names) await world.end(tab, pay(once, { operation: [name] }), charged(lost()));
    const next = tab.reload();
    return { world, once: next.once({ namespace: 'ann', ...KEPT, dialect, ...options }) };
  }
  test('reports how each ended, with its answer, including those that stay unknown', async () => {
    const told: Outcome[] = [];
    const { world, once } = await scene(['a', 'b', 'c'], { onOutcome: (outcome: Outcome) => void told.push(outcome) });
    world.server.plays(replays(), answers(503), lost());
    expect(await world.run(resumed(once, { concurrency: 1 }))).toMatchObject([
      { name: ['a'], outcome: { type: 'replayed' }, response: { status: 201 } },
      { name: ['b'], outcome: { type: 'unknown' }, response: { status: 503 } },
      { name: ['c'], outcome: { type: 'unknown' }, response: undefined },
    ]);
    expect(told.map(({ type }) => type)).toEqual(['replayed', 'unknown', 'unknown']);
  });

  test.for([1, 8])('shows nothing to the next user who logs in meanwhile, and leaves alone what has not begun (%i at once)', async (concurrency) => {
    const who = { user: 'ann' };
    const told: unknown[] = [];
    const { world, once } = await scene(['a', 'b'], { namespace: () => who.user });
    subscribe(once, ({ operation }) => void told.push(operation));
    const before = records(world).map(({ revision }) => revision);
    const comesIn = () => void (who.user = 'bob');
    world.server.otherwise = during(comesIn, delayed(SECOND, replays()));
    expect(await world.run(resumed(once, { concurrency }))).toEqual([]);
    const touched = records(world).filter(({ revision }, index) => revision !== before[index]);
    expect(touched).toHaveLength(concurrency === 1 ? 1 : 2);
    if (concurrency === 1) expect(told).not.toContainEqual(['b']);
  });

  test('gives the answer that an OnceError carries', async () => {
    const { world, once } = await scene(['a'], {}, gocardless());
    world.server.plays(charged(doneElsewhere()));
    expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done' }, response: { status: 409 } }]);
  });

  test('without the lock: a `dialect` that throws leaves no lease behind, and the outcome is unknown', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'shop', ...KEPT }, { locks: false });
    await world.end(tab, pay(once, { operation: ['a'] }), charged(lost()));
    const thrown = new Error('a bug of the app');
    const broken = () => {
      throw thrown;
    };
    const told: Outcome[] = [];
    const next = tab.reload();
    const wrong = next.once({ namespace: 'shop', ...KEPT, dialect: broken, onOutcome: (outcome) => void told.push(outcome) });
    const unknown = { type: 'unknown', reason: 'no-answer', attempts: 0, sent: 'maybe', key: records(world)[0]?.key };
    await expect(world.run(resumeOne(wrong, ['a']))).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: unknown });
    expect(records(world)).toMatchObject([{ state: 'pending', lease: undefined }]);
    expect(await world.run(resumed(wrong))).toMatchObject([{ name: ['a'], outcome: unknown, response: undefined }]);
    expect(told).toMatchObject([unknown, unknown]);
    expect(next.reported).toEqual([thrown, thrown]);
    expect(world.server.arrivals).toHaveLength(1);
    // `reconcile`, if there is one, is still asked: what it says does not depend on the dialect.
    const asks = next.once({ namespace: 'shop', ...KEPT, dialect: broken, reconcile: async () => 'done' });
    expect(await world.run(resumed(asks))).toMatchObject([{ outcome: { effect: 'done' } }]);
  });

  test('stops when its signal aborts: begins no further operation, and rejects with the reason', async () => {
    const { world, once } = await scene(['a', 'b', 'c']);
    const controller = new AbortController();
    world.server.plays(delayed(SECOND, replays()));
    const resumed = resume(once, { concurrency: 1, signal: controller.signal })[Symbol.asyncIterator]();
    expect(await world.run(resumed.next())).toMatchObject({ value: { name: ['a'] } });
    controller.abort(new Error('enough'));
    await expect(world.run(resumed.next())).rejects.toThrow('enough');
    expect(world.server.arrivals).toHaveLength(4);
  });

  test.each([1, 4])('stops when its signal aborts while the last operation is under way, %d at a time, and rejects with the reason', async (concurrency) => {
    const { world, once } = await scene(['a', 'b']);
    const controller = new AbortController();
    world.server.plays(replays(), delayed(SECOND, replays()));
    const resumed = resume(once, { concurrency, signal: controller.signal })[Symbol.asyncIterator]();
    expect(await world.run(resumed.next())).toMatchObject({ value: { name: ['a'] } });
    const [last] = await world.begin(watched(resumed.next()));
    controller.abort(new Error('enough'));
    await expect(world.run(last)).rejects.toThrow('enough');
    expect(await pending(once)).toMatchObject([{ name: ['b'] }]);
  });

  test.each([0, -1, Number.NaN])('refuses a concurrency of %d at once, and accepts 1', async (concurrency) => {
    const { world, once } = await scene([]);
    const wrong = () => resume(once, { concurrency });
    if (Number.isNaN(concurrency)) expect(wrong).toThrow(new TypeError('once: resume.concurrency must be a number, got NaN'));
    else expect(wrong).toThrow(new RangeError(`once: resume.concurrency must be at least 1, got ${concurrency}`));
    expect(await world.run(resumed(once, { concurrency: 1 }))).toEqual([]);
  });
});

describe('move', () => {
  const guestOf = (world: World, options: object = {}) => {
    const tab = world.tab();
    return { tab, guest: tab.once({ namespace: 'guest', ...ONE, ...options }), ann: tab.once({ namespace: 'ann', ...ONE, ...options }) };
  };

  test('A38: brings an operation with its key, in strict writes, and raises its revision, so that its driver stops', async ({ world }) => {
    const { tab, guest, ann } = guestOf(world);
    const { outcome } = await world.end(tab, pay(guest), charged(lost()));
    const [before] = records(world);
    await world.run(move(ann, 'guest'));
    expect(records(world)).toMatchObject([{ key: outcome?.key, revision: (before?.revision ?? 0) + 2, windowEndsAt: before?.windowEndsAt, state: 'pending' }]);
    expect(world.writes.map(({ durability }) => durability)).toEqual(['strict', 'relaxed', 'strict', 'strict', 'strict']);
    expect(await world.run(pending(guest))).toEqual([]);
    expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  });

  test.for<[string, OnceOptions['dialect']]>([
    ['where keys count for one account, because the new account has never seen the key', generic({ perAccount: true })],
    ['by default, because the server may count keys for each account', undefined],
    ["if the app's own dialect does not say for whom keys count", defineDialect({ name: 'bank', place: inHeader('Idempotency-Key') })],
  ])('ends the key window %s', async ([_, dialect], { world }) => {
    const { tab, guest, ann } = guestOf(world, { dialect });
    await world.end(tab, pay(guest), charged(lost()));
    await world.run(move(ann, 'guest'));
    const [moved] = records(world);
    // So long ago that no clock that is set back opens it again.
    expect(moved?.windowEndsAt).toBe(1);
    expect(await world.end(tab, pay(ann))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
    expect(world.server.charged.size).toBe(1);
  });

  test('keeps the key window with the dialect of a vendor, whose keys belong to the account of the shop', async ({ world }) => {
    const { tab, guest, ann } = guestOf(world, { dialect: stripe() });
    await world.end(tab, pay(guest), charged(lost()));
    await world.run(move(ann, 'guest'));
    expect(await world.end(tab, pay(ann), replays())).toMatchObject({ outcome: { effect: 'done' } });
    expect(world.server.charged.size).toBe(1);
  });

  test('keeps an operation whose server knows no keys as it is', async ({ world }) => {
    const { tab, guest, ann } = guestOf(world, { dialect: 'none' });
    await world.end(tab, pay(guest), charged(lost()));
    await world.run(move(ann, 'guest'));
    expect(await world.end(tab, pay(ann))).toMatchObject({ outcome: { effect: 'unknown', reason: 'no-answer', attempts: 0 } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('replaces a record that has ended without effect or has the same key, and no other one', async () => {
    const states: [string, (theirs: OnceRecord, key: string) => unknown, boolean][] = [
      ['retired', (theirs) => sealed({ ...theirs, state: 'retired' }), true],
      ['settled', (theirs) => sealed({ ...theirs, state: 'settled' }), false],
      ['pending', (theirs) => theirs, false],
      ['pending under the same key', (theirs, key) => sealed({ ...theirs, key: made(key) }), true],
      ['damaged', (theirs) => ({ ...theirs, key: 'x' }), false],
    ];
    for (const [what, change, moves] of states) {
      const world = newWorld();
      const { tab, guest, ann } = guestOf(world);
      await world.end(tab, pay(guest), charged(lost()));
      const [own] = records(world);
      await world.end(tab, pay(ann), charged(lost()));
      const theirs = records(world).find(({ key }) => key !== own?.key) as OnceRecord;
      world.medium.set(theirs.id, change(theirs, own?.key ?? ''));
      await world.run(move(ann, 'guest'));
      expect([what, world.medium.get(own?.id ?? '') === undefined]).toEqual([what, moves]);
      if (moves) expect(world.medium.get(theirs.id)).toMatchObject({ key: own?.key, state: 'pending' });
    }
  });

  test('brings a key that stays in use after a refusal: a copy that the browser sent unseen may have charged under it', async ({ world }) => {
    const tab = world.tab({ resends: true });
    const [guest, ann] = ['guest', 'ann'].map((namespace) => tab.once({ namespace })) as [Once, Once];
    const { outcome } = await world.end(tab, pay(guest), charged(answers(400, { code: 'bad_card' })));
    expect(outcome).toMatchObject({ effect: 'none' });
    await world.run(move(ann, 'guest'));
    await world.run(move(ann, 'guest'));
    expect(records(world)).toMatchObject([{ key: outcome?.key, state: 'retired', keyInUse: true, lease: undefined }]);
    expect(await world.run(pending(ann))).toEqual([]);
    expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
    expect(world.server.charged.size).toBe(1);
  });

  test('by default a key that stays in use after a refusal still does: where keys count per account, any other key would be new, too', async ({ world }) => {
    const tab = world.tab({ resends: true });
    const [guest, ann] = ['guest', 'ann'].map((namespace) => tab.once({ namespace, dialect: undefined })) as [Once, Once];
    const { outcome } = await world.end(tab, pay(guest), charged(answers(400, { code: 'bad_card' })));
    expect(outcome).toMatchObject({ effect: 'none' });
    await world.run(move(ann, 'guest'));
    expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
    expect(world.server.charged.size).toBe(1);
  });

  test.for<[string, Partial<OnceRecord>, boolean, string[]]>([
    ['replaces what the application refused', { keyInUse: undefined }, true, []],
    // The next press sends the user's key, so only the diagnostic mentions the guest's.
    ["does not replace a key of the user's own that is in use", { keyInUse: true }, false, ['move-conflict']],
    ['does not replace what is done', { state: 'settled', keyInUse: undefined }, false, []],
  ])('a key that stays in use %s', async ([_, theirs, moves, says], { world }) => {
    const { tab, guest, ann } = guestOf(world);
    const told: string[] = [];
    subscribe(ann, (event) => event.type === 'diagnostic' && void told.push(event.code));
    const { outcome } = await world.end(tab, pay(guest), answers(400, { code: 'bad_card' }));
    const own = records(world)[0]?.id;
    await world.end(tab, pay(ann), answers(400, { code: 'bad_card' }));
    const there = records(world).find(({ id }) => id !== own) as OnceRecord;
    world.medium.set(there.id, sealed({ ...there, ...theirs }));
    await world.run(move(ann, 'guest'));
    expect((world.medium.get(there.id) as OnceRecord).key === outcome?.key).toBe(moves);
    expect(world.medium.get(own as string) === undefined).toBe(moves);
    expect(told).toEqual(says);
  });

  test('leaves a record that has become another operation meanwhile', async ({ world }) => {
    const { tab, guest, ann } = guestOf(world);
    await world.end(tab, pay(guest), charged(lost()));
    const [own] = records(world) as [OnceRecord];
    const { update } = tab.store;
    let updates = 0;
    Object.assign(tab.store, {
      update: (...call: Parameters<typeof update>) => {
        if (++updates === 2) world.medium.set(own.id, sealed({ ...own, key: made('another') }));
        return update(...call);
      },
    });
    await world.run(move(ann, 'guest'));
    expect(world.medium.get(own.id)).toMatchObject({ key: 'another' });
  });

  test('brings an unnamed operation under its old id, and only as long as it is unsettled', async ({ world }) => {
    const { tab, guest, ann } = guestOf(world);
    const post = { method: 'POST', body: '{"cart":1}' };
    const { outcome } = await world.end(tab, guest.fetch(URL_, post), charged(lost()));
    const [own] = records(world) as [OnceRecord];
    const { update } = tab.store;
    Object.assign(tab.store, {
      update: (...call: Parameters<typeof update>) => {
        world.medium.set(own.id, sealed({ ...own, state: 'retired' }));
        Object.assign(tab.store, { update });
        return update(...call);
      },
    });
    await world.run(move(ann, 'guest'));
    expect(records(world)).toMatchObject([{ id: own.id, ns: own.ns, state: 'retired' }]);
    world.medium.set(own.id, own);
    await world.run(move(ann, 'guest'));
    expect(records(world)).toMatchObject([{ id: own.id, key: own.key, revision: own.revision + 1, state: 'pending' }]);
    expect(records(world)[0]?.ns).not.toBe(own.ns);
    expect(world.writes.at(-1)?.durability).toBe('strict');
    expect((await world.end(tab, ann.fetch(URL_, post), replays())).outcome).toMatchObject({ key: outcome?.key, resumed: true });
  });

  test('brings an operation that could be kept only in memory', async ({ world }) => {
    const { tab, guest, ann } = guestOf(world);
    tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
    const { outcome } = await world.end(tab, pay(guest), charged(lost()));
    await world.run(move(ann, 'guest'));
    expect(await world.run(pending(ann))).toMatchObject([{ name: NAME, key: outcome?.key }]);
    expect(await world.run(pending(guest))).toEqual([]);
    expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key, storedIn: 'memory' });
  });

  test('from the present namespace moves nothing', async ({ world }) => {
    const { tab, guest } = guestOf(world);
    await world.end(tab, pay(guest), charged(lost()));
    const writes = world.writes.length;
    await world.run(move(guest, 'guest'));
    expect(world.writes).toHaveLength(writes);
  });

  test.each([
    ['', /got an empty string/],
    [undefined, /got undefined/],
    [5, /got number/],
  ])('rejects with a TypeError if it is not given the name of a namespace: %j', async (from, says) => {
    const { once } = newWorld().open({ namespace: 'ann' });
    await expect(move(once, from as string)).rejects.toThrow(TypeError);
    await expect(move(once, from as string)).rejects.toThrow(says);
  });
});
