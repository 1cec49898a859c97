/**
 * Goal: the prose of a body chooses the next question (wait, ask again, read the end of another payload), and ends no operation. Only a 2xx, a status, a
 * header, or a code that the chosen dialect names can do that.
 */
import { describe, expect } from 'vitest';
import { generic, gocardless } from '../../src/entries/dialects.js';
import { derived, move, resumeOne } from '../../src/entries/index.js';
import { answers, charged, delayed, doneElsewhere, type Entry, lost, replays } from '../support/server.js';
import { CART, HOUR, NAME, newWorld, ONE, type Page, pay, SECOND, test, URL_ } from '../support/world.js';

const BUSY = [
  'Another request with this Idempotency-Key is running',
  'A request with the same Idempotency-Key is currently executing',
  'The same request is in flight for this Idempotency-Key',
  'The first request with this Idempotency-Key has not finished',
  'This Idempotency-Key is already being handled by another request',
  'Idempotency-Key already used by another request',
  'Idempotency key conflict: a different request holds it',
];

describe.each([409, 423])('a %i that means work in progress', (status) => {
  test.for(BUSY)('with Retry-After: "%s"', async (message, { world, tab, once }) => {
    world.server.plays(charged(answers(status, { message }, { 'retry-after': '1' })), replays());
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test.for(BUSY)('without Retry-After: "%s"', async (message, { world, tab, once }) => {
    world.server.plays(charged(answers(status, { code: 'idempotency_conflict', message })), replays());
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
  });

  test.for(BUSY)('after another payload: "%s"', async (message, { world }) => {
    const { tab, once } = world.open(ONE);
    await world.end(tab, pay(once), charged(lost()));
    expect(
      (await world.end(tab, pay(once, { body: { ...CART, amount: 12 } }), answers(status, { message }, { 'retry-after': '1' }), replays())).outcome,
    ).toMatchObject({ effect: 'done' });
  });
});

test.for([400, 409, 422])('a %i that speaks of another payload, on a new key that has no other payload, keeps the key', async (status, { world }) => {
  const { tab, once } = world.open({ limits: { attempts: 1, inProgressMs: 1 } }, { resends: true });
  const first = await world.end(tab, pay(once), charged(answers(status, { message: 'Idempotency-Key was reused with a different payload' })), replays());
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', key: first.outcome?.key });
});

const DUPLICATES = [
  [429, { message: 'Duplicate request detected' }],
  [429, { error: 'duplicate_request' }],
  [409, { code: 'duplicate_transaction' }],
  [422, { message: 'This order has already been paid' }],
  [400, { code: 'x', message: 'The payment was already submitted' }],
  // Under a new key, this means that a gateway has sent a copy of the request earlier.
  [422, { title: 'Idempotency-Key is already used' }],
  [400, { code: 'duplicate_idempotency_key' }],
  [400, { error: { message: 'This idempotency key has already been seen' } }],
] as const;

test.for(DUPLICATES)('a %i that speaks of a duplicate proves that there was a request: %j', async ([status, body], { world }) => {
  const { tab, once } = world.open({ limits: { attempts: 2, inProgressMs: 1000, totalMs: 10_000, attemptMs: 5000 } });
  world.server.otherwise = charged(answers(status, body));
  const first = await world.end(tab, pay(once));
  expect(first.outcome).toMatchObject({ effect: 'unknown' });
  world.server.otherwise = replays();
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', key: first.outcome?.key });
});

test('an ordinary conflict is still a refusal', async () => {
  for (const body of [{ code: 'email_taken' }, { code: 'duplicate_email', message: 'this e-mail is in use' }]) {
    const { world, tab, once } = newWorld().open();
    expect((await world.end(tab, pay(once), answers(409, body))).outcome).toMatchObject({ type: 'rejected' });
  }
});

test('a 409 that names a resource in words of its own does not prove that the work was done', async ({ world, tab, once }) => {
  expect((await world.end(tab, pay(once), answers(409, { message: 'idempotency conflict', resource_id: 'r_1' }))).outcome).toMatchObject({ effect: 'unknown' });
});

describe('a 202 for a repeated request', () => {
  test('settles nothing: the work that it speaks of may still fail', async ({ world }) => {
    const { tab, once } = world.open({ limits: { inProgressMs: 5000 } });
    world.server.plays(lost());
    world.server.otherwise = (arrival, server) => {
      const answer = answers(202, { status: 'already processing' })(arrival, server);
      server.charged.delete(arrival.key);
      return answer;
    };
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    world.server.otherwise = answers(201);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
  });

  test("settles with accepted: 'settle'", async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'settle' });
    expect((await world.end(tab, pay(once), charged(lost()), answers(202))).outcome).toMatchObject({ effect: 'done' });
  });
});

test('done elsewhere: what a dialect calls done is not sent again, even if the dialect replays', async ({ world }) => {
  const { tab, once } = world.open({ dialect: { ...gocardless(), replays: true } });
  world.server.plays(doneElsewhere());
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'elsewhere' } });
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(world.server.arrivals).toHaveLength(1);
});

test('done elsewhere, without a name, and the store does not take that: an equal press goes on with the call, and is no other effect', async ({ world }) => {
  const { tab, once } = world.open({ dialect: { ...gocardless(), replays: true } });
  const send = () => once.fetch(URL_, { method: 'POST', body: '{}' });
  const [first] = await world.begin(send(), delayed(SECOND, doneElsewhere()), answers(201));
  tab.faults.next('fail-before-commit');
  expect((await world.end(tab, first)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
  await world.end(tab, send());
  expect(new Set(world.server.keys).size).toBe(1);
});

test('done elsewhere, under a name, and the store does not take that, and loses the record: the next press sends nothing', async ({ world }) => {
  const { tab, once } = world.open({ dialect: { ...gocardless(), replays: true } });
  const [first] = await world.begin(pay(once), delayed(SECOND, doneElsewhere()));
  tab.faults.next('fail-before-commit');
  expect((await world.end(tab, first)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
  world.empty();
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
});

test('done elsewhere, and the store does not take that; then the guest logs in, and `move` takes the call: the press goes on with it', async ({ world }) => {
  let user = 'guest';
  const { tab, once } = world.open({ dialect: { ...gocardless(), replays: true }, namespace: () => user });
  const send = () => once.fetch(URL_, { method: 'POST', body: '{}' });
  const [first] = await world.begin(send(), delayed(SECOND, charged(doneElsewhere())));
  tab.faults.next('fail-before-commit');
  const { outcome } = await world.end(tab, first);
  expect(outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
  user = 'ann';
  await world.run(move(once, 'guest'));
  expect((await world.end(tab, send(), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
});

/** A server that compares payloads holds another one under this key. */
const OTHER = answers(422, { type: 'about:blank', title: 'Idempotency key reused with a different payload' });

describe("repeat: 'if-changed', another payload after a lost answer", () => {
  const changed = { repeat: 'if-changed', body: { ...CART, amount: 12 } } as const;

  test('the first one took effect: the second one goes on under a new key', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    const unsure = await world.end(tab, pay(once, { repeat: 'if-changed' }), charged(lost()));
    const saved = await world.end(tab, pay(once, changed), replays(), answers(201, { v: 2 }));
    expect(saved.outcome).toMatchObject({ type: 'fresh', effect: 'done' });
    expect(saved.outcome?.key).not.toBe(unsure.outcome?.key);
    // Both payloads are done, and the record is that of the second one.
    expect((await world.end(tab, pay(once, changed))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.arrivals).toHaveLength(3);
  });

  test('nothing tells which payload took effect: neither is sent again', async ({ world }) => {
    const { tab, once } = world.open(ONE);
    await world.end(tab, pay(once, { repeat: 'if-changed' }), charged(lost()));
    expect((await world.end(tab, pay(once, changed), answers(200))).outcome).toMatchObject({ effect: 'done', certain: false });
    for (const body of [CART, changed.body])
      expect((await world.end(tab, pay(once, { repeat: 'if-changed', body }))).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test.for([
    ['marked', replays()],
    ['not marked', answers(200)],
  ] as const)(
    'the server holds the first one, and refuses the second after a reload: the second one is sent once the first one is done (%s)',
    async ([, first], { world }) => {
      const page = () => world.open({ repeat: 'if-changed', ...ONE });
      const [one, two, three] = [page(), page(), page()];
      await world.end(one.tab, pay(one.once), charged(lost()));
      expect((await world.end(two.tab, pay(two.once, changed), OTHER)).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
      expect((await world.end(three.tab, pay(three.once), first)).outcome).toMatchObject({ effect: 'done' });
      expect((await world.end(three.tab, pay(three.once, changed), answers(200))).outcome).toMatchObject({ type: 'fresh', effect: 'done' });
      expect(new Set(world.server.keys).size).toBe(2);
    },
  );

  test.for<[string, Entry, boolean]>([
    ['too many requests', answers(429), false],
    ['too many requests, where the platform may resend', answers(429), true],
    ['a refusal by the application', answers(400, { code: 'bad' }), false],
    ['a log-in', answers(401), true],
  ])('the second one met only %s: it is sent once the first one is done, by a press of either', async ([, met, resends], { world }) => {
    for (const pressesFirst of [true, false]) {
      const page = () => world.open({ repeat: 'if-changed', namespace: `ann, ${pressesFirst}`, ...ONE }, { resends });
      const [one, two, three] = [page(), page(), page()];
      const { outcome } = await world.end(one.tab, pay(one.once), charged(lost()));
      expect((await world.end(two.tab, pay(two.once, changed), met)).outcome).toMatchObject({ effect: 'unknown' });
      world.server.plays(replays());
      if (pressesFirst) expect((await world.end(three.tab, pay(three.once))).outcome).toMatchObject({ effect: 'done' });
      const sent = await world.end(three.tab, pay(three.once, changed), answers(200));
      expect(sent.outcome).toMatchObject({ type: 'fresh', certain: true });
      expect(sent.outcome?.key).not.toBe(outcome?.key);
    }
  });

  test('where requests are stored, a resume learns that the first one took effect, and that the second one did not: a press sends it', async ({ world }) => {
    const page = () => world.open({ repeat: 'if-changed', ...ONE, namespace: 'ann', keep: { request: true } });
    const [one, two, three] = [page(), page(), page()];
    await world.end(one.tab, pay(one.once), charged(lost()));
    await world.end(two.tab, pay(two.once, changed), OTHER, lost());
    expect((await world.end(three.tab, resumeOne(three.once, NAME), OTHER, replays())).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
    expect((await world.end(three.tab, pay(three.once, changed), answers(200))).outcome).toMatchObject({ type: 'fresh', effect: 'done' });
  });

  test('the second one may have had the effect, if an answer to it was lost before it was refused: it is not sent again', async ({ world }) => {
    const page = () => world.open({ repeat: 'if-changed', limits: { attempts: 2 } });
    const [one, two, three] = [page(), page(), page()];
    await world.end(one.tab, pay(one.once, ONE), charged(lost()));
    expect((await world.end(two.tab, pay(two.once, changed), lost(), OTHER)).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
    await world.end(three.tab, pay(three.once), answers(200));
    expect((await world.end(three.tab, pay(three.once, changed))).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
  });

  test('the second one is refused in the session of another user: it is sent once the first user is back, and the first one done', async ({ world }) => {
    let user = 'ann';
    const page = () => world.open({ repeat: 'if-changed', ...ONE, namespace: () => user });
    const [one, two] = [page(), page()];
    await world.end(one.tab, pay(one.once), charged(lost()));
    const [press] = await world.begin(pay(two.once, changed), delayed(SECOND, OTHER));
    user = 'bob';
    expect((await world.end(two.tab, press)).outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
    user = 'ann';
    expect((await world.end(two.tab, pay(two.once), replays())).outcome).toMatchObject({ effect: 'done' });
    expect((await world.end(two.tab, pay(two.once, changed), answers(200))).outcome).toMatchObject({ type: 'fresh', effect: 'done' });
  });

  test('a key of the app that was stored offline, and then refused for another payload, is not sent past its window', async ({ world }) => {
    const page = () => world.open({ repeat: 'if-changed', ...ONE });
    const offline = ({ tab, once }: Page, ...plays: (typeof OTHER)[]) => {
      tab.online = false;
      return world.begin(pay(once, { key: 'order-42' }), ...plays);
    };
    const [one, two] = [page(), page()];
    await offline(one);
    one.tab.kill();
    const [press] = await offline(two, OTHER);
    two.tab.connect(true);
    expect((await world.end(two.tab, press)).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
    expect(world.record()).toMatchObject({ ambiguous: true });
    await world.clock.advance(25 * HOUR);
    expect((await world.end(two.tab, pay(two.once, { key: 'order-42' }))).outcome).toMatchObject({ effect: 'unknown', reason: 'key-expired' });
  });

  test("with 'never', the second payload is told for good that the first one is done, and the first one is remembered", async ({ world }) => {
    const { tab, once } = world.open(ONE);
    await world.end(tab, pay(once), charged(lost()));
    expect(await world.end(tab, pay(once, { body: changed.body }), replays())).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    expect(await world.end(tab, pay(once, { body: changed.body }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals).toHaveLength(2);
  });
});

describe('a derived key whose storage was lost', () => {
  /** A server that keeps its answer to each key, and marks it when it gives it again. It declines the first key. */
  const bank = () => {
    const stored = new Map<string | null, ReturnType<typeof answers>>();
    return (arrival: Parameters<ReturnType<typeof answers>>[0], server: Parameters<ReturnType<typeof answers>>[1]) => {
      const known = stored.get(arrival.key);
      if (known) return known(arrival, server);
      const declined = stored.size === 0;
      stored.set(arrival.key, declined ? replays(402) : replays(201));
      return answers(declined ? 402 : 201)(arrival, server);
    };
  };
  const options = { key: derived, limits: { attempts: 1 } };

  test('declined, charged, storage lost: the same card again finds the charge', async ({ world, tab, once }) => {
    world.server.otherwise = bank();
    await world.end(tab, pay(once, options));
    expect((await world.end(tab, pay(once, options))).outcome).toMatchObject({ type: 'rejected' });
    const charge = await world.end(tab, pay(once, options));
    expect(charge.outcome).toMatchObject({ effect: 'done' });
    for (const record of world.records as { id: string }[]) world.medium.set(record.id, null);
    const again = world.open();
    expect((await world.end(again.tab, pay(again.once, options))).outcome).toMatchObject({ type: 'replayed', key: charge.outcome?.key });
    expect(world.server.charged.size).toBe(1);
  });

  test('a refusal that is marked as a replay leads to the next key, even with a dialect that replays', async ({ world }) => {
    const { tab, once } = world.open({ dialect: { ...generic(), replays: true } });
    expect((await world.end(tab, pay(once, options), replays(402), answers(201))).outcome).toMatchObject({ type: 'fresh', effect: 'done' });
  });
});
