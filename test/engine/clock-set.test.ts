/**
 * Goal: a clock that somebody sets proves nothing. Only time that has passed shows that a copy of a lost attempt is gone for
 * good; what the device's clock says does not.
 */
import { describe, expect, vi } from 'vitest';
import { steadyForMs } from '../../src/engine/even-clock.js';
import { around, clear, createOnce, type OnceOptions, type Outcome, run, settle } from '../../src/entries/index.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { answers, charged, delayed, during, type Entry, hangs, idle, lost } from '../support/server.js';
import { CART, HOUR, MINUTE, NAME, newWorld, ONE, pay, SECOND, test, URL_, type World, watched } from '../support/world.js';

const DECLINE = answers(402, { error: 'declined' });
const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' });
const CARD_B = { ...CART, card: 'B' };
const UNSURE = { effect: 'unknown', reason: 'refused-after-ambiguity' };
const NONE = { type: 'rejected', effect: 'none' };
const retryAtOf = (outcome: Outcome | undefined) => (outcome as { retryAt?: number } | undefined)?.retryAt;

/** A payment whose answer was lost, and then its first decline. */
async function declined() {
  const { world, tab, once } = newWorld().open();
  expect((await world.end(tab, pay(once), lost(), DECLINE)).outcome).toMatchObject(UNSURE);
  return { world, tab, once };
}

describe('the same decline again', () => {
  test('after the clock was set forward by an hour is no proof; two minutes later it is', async () => {
    const { world, tab, once } = await declined();
    world.clock.jump(HOUR);
    await world.clock.advance(10 * SECOND);
    expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject({ ...UNSURE, retryAt: world.clock.now() + 2 * MINUTE - 1 });
    await world.clock.advance(2 * MINUTE);
    expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject(NONE);
  });

  test('is no proof if its answer took minutes: the process may have been suspended, and the answer given at once', async () => {
    const { world, tab, once } = await declined();
    const slow = pay(once, { limits: { attemptMs: 5 * MINUTE, totalMs: 10 * MINUTE } });
    expect((await world.end(tab, slow, delayed(3 * MINUTE, DECLINE))).outcome).toMatchObject(UNSURE);
  });

  test('is no proof either if the answer to a `run` took minutes', async ({ world, tab, once }) => {
    const limits = { attempts: 1, attemptMs: 5 * MINUTE, totalMs: 10 * MINUTE };
    const ends: Entry[] = [lost(), DECLINE, delayed(3 * MINUTE, DECLINE), DECLINE];
    const paying = () =>
      world.end(tab, watched(run(once, NAME, ({ key }) => tab.fetch(URL_, { method: 'POST', headers: { 'idempotency-key': key } }), { limits })));
    world.server.plays(...ends);
    for (const outcome of [{ effect: 'unknown' }, UNSURE, UNSURE, NONE]) expect((await paying()).outcome).toMatchObject(outcome);
  });

  test('is no proof either if the answer to the first card took minutes while another card is tried', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, ONE), lost());
    const limits = { attemptMs: 5 * MINUTE, totalMs: 10 * MINUTE };
    const cardB = () => pay(once, { body: CARD_B, limits });
    expect((await world.end(tab, cardB(), MISMATCH, DECLINE)).outcome?.effect).toBe('unknown');
    expect((await world.end(tab, cardB(), MISMATCH, delayed(3 * MINUTE, DECLINE))).outcome?.effect).toBe('unknown');
    expect((await world.end(tab, cardB(), MISMATCH, DECLINE, answers(201))).outcome).toMatchObject({ type: 'fresh' });
  });

  test('is no proof if the clock was set while the second attempt was on its way', async () => {
    const { world, tab, once } = await declined();
    world.server.plays(during(() => world.clock.jump(HOUR), DECLINE));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject(UNSURE);
  });

  test('after the clock was set forward is no proof to a page that was loaded since: it has seen no time pass', async () => {
    const { world, tab } = await declined();
    const next = tab.reload();
    world.clock.jump(HOUR);
    const once = next.once();
    await world.clock.advance(MINUTE);
    expect((await world.end(next, pay(once), DECLINE)).outcome).toMatchObject({ ...UNSURE, retryAt: world.clock.now() + MINUTE });
    await world.clock.advance(MINUTE);
    expect((await world.end(next, pay(once), DECLINE)).outcome).toMatchObject(NONE);
  });

  test('after the clock was set forward is no proof to another tab either, whether that was open before or not', async () => {
    const { world } = await declined();
    const open = world.open();
    await world.clock.advance(MINUTE);
    world.clock.jump(HOUR);
    const opened = world.open();
    world.server.plays(DECLINE, DECLINE);
    for (const { tab, once } of [open, opened]) expect((await world.end(tab, pay(once))).outcome).toMatchObject(UNSURE);
  });

  test('after the clock was set forward is no proof about the first card either, when another card is tried', async () => {
    const { world, tab, once } = await declined();
    world.clock.jump(HOUR);
    const end = await world.end(tab, pay(once, { body: CARD_B }), MISMATCH, DECLINE);
    expect(end).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown' } });
    expect(retryAtOf(end.outcome)).toBe(world.clock.now() + 2 * MINUTE - 1);
  });
});

test('a clock that was set back by some minutes proves nothing earlier', async () => {
  const { world, tab, once } = await declined();
  world.clock.jump(-4 * MINUTE);
  await world.clock.advance(3 * MINUTE);
  expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject(UNSURE);
  await world.clock.advance(4 * MINUTE);
  expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject(NONE);
});

test('a tab that was open all the time relies on the first decline of a page that is gone', async () => {
  const { world, tab } = await declined();
  tab.kill();
  const other = world.open();
  await world.clock.advance(2 * MINUTE);
  expect((await world.end(other.tab, pay(other.once), DECLINE)).outcome).toMatchObject(NONE);
});

describe("if the store is a server, its clock counts, and a machine's does not", () => {
  const PROCESS = { server: true, locks: false, claims: { shared: 'cluster', ownClock: true } } as const;

  test('a machine whose clock was an hour slow at the first decline does not lead to an early proof', async ({ world }) => {
    const { tab, once } = world.open({ limits: { attempts: 1 } }, PROCESS);
    await world.end(tab, pay(once), lost());
    world.server.plays(during(() => void (tab.skewMs = -HOUR), DECLINE));
    await world.end(tab, pay(once));
    const other = world.open({}, PROCESS);
    await world.clock.advance(MINUTE);
    expect((await world.end(other.tab, pay(other.once), DECLINE)).outcome).toMatchObject(UNSURE);
  });

  test.each([MINUTE, -MINUTE])('a machine whose clock is off by %d ms says to others when the server wants to be asked again', async (skewMs) => {
    const { world, tab, once } = newWorld().open({}, PROCESS);
    tab.skewMs = skewMs;
    const at = world.clock.now();
    await world.end(tab, pay(once), answers(503, '', { 'retry-after': '180' }));
    await world.clock.advance(2 * MINUTE);
    const other = world.open({ limits: { totalMs: 5 * MINUTE } }, PROCESS);
    expect(await world.end(other.tab, pay(other.once), answers(201))).toMatchObject({ status: 201 });
    expect(world.clock.now() - at).toBe(3 * MINUTE);
  });

  test.each([MINUTE, -MINUTE])('a machine whose clock is off by %d ms asks again when the server wants', async (skewMs) => {
    const { world, tab, once } = newWorld().open({}, PROCESS);
    const at = world.clock.now();
    await world.end(tab, pay(once), answers(503, '', { 'retry-after': '180' }));
    await world.clock.advance(2 * MINUTE);
    const other = world.open({ limits: { totalMs: 5 * MINUTE } }, PROCESS);
    other.tab.skewMs = skewMs;
    expect(await world.end(other.tab, pay(other.once), answers(201))).toMatchObject({ status: 201 });
    expect(world.clock.now() - at).toBe(3 * MINUTE);
  });

  test('a machine whose clock is fast, and which has no time for that, makes a single attempt', async ({ world }) => {
    const { tab, once } = world.open({}, PROCESS);
    await world.end(tab, pay(once), answers(503, '', { 'retry-after': '180' }));
    const other = world.open({ limits: { totalMs: 2 * MINUTE } }, PROCESS);
    other.tab.skewMs = 2 * MINUTE;
    expect((await world.end(other.tab, pay(other.once), answers(503))).outcome).toMatchObject({ effect: 'unknown', attempts: 1 });
  });

  test.each([
    [HOUR, 2 * MINUTE, 2],
    [-HOUR, 30 * SECOND, 1],
  ])('a machine whose clock is off by %d ms gave up on work in progress: %d ms later, others make %d attempts', async (skewMs, laterMs, attempts) => {
    const { world, tab, once } = newWorld().open({ limits: { inProgressMs: SECOND } }, PROCESS);
    tab.skewMs = skewMs;
    world.server.otherwise = answers(409);
    await world.end(tab, pay(once));
    await world.clock.advance(laterMs);
    const other = world.open({ limits: { inProgressMs: SECOND } }, PROCESS);
    expect((await world.end(other.tab, pay(other.once))).outcome).toMatchObject({ effect: 'unknown', attempts });
  });

  test.each([
    [HOUR, 30 * SECOND, 1],
    [-HOUR, 2 * MINUTE, 2],
  ])('a machine whose clock is off by %d ms, %d ms after another one gave up on work in progress, makes %d attempts', async (skewMs, laterMs, attempts) => {
    const { world, tab, once } = newWorld().open({ limits: { inProgressMs: SECOND } }, PROCESS);
    world.server.otherwise = answers(409);
    await world.end(tab, pay(once));
    await world.clock.advance(laterMs);
    const other = world.open({ limits: { inProgressMs: SECOND } }, PROCESS);
    other.tab.skewMs = skewMs;
    expect((await world.end(other.tab, pay(other.once))).outcome).toMatchObject({ effect: 'unknown', attempts });
  });

  test('a process that began a moment ago relies on the first decline of another one', async ({ world }) => {
    const [one, other] = [world.open({}, PROCESS), () => world.open({}, PROCESS)];
    await world.end(one.tab, pay(one.once), lost(), DECLINE);
    await world.clock.advance(2 * MINUTE);
    const { tab, once } = other();
    expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject(NONE);
  });
});

test('if machines share a store that tells no time of its own (Deno KV), a clock that was set proves nothing', async ({ world }) => {
  const DENO = { server: true, ownClock: false, locks: false, claims: { shared: 'cluster' } } as const;
  const { tab, once } = world.open({}, DENO);
  await world.end(tab, pay(once), lost(), DECLINE);
  tab.skewMs = 2 * MINUTE;
  expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject(UNSURE);
  await world.clock.advance(2 * MINUTE);
  expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject(NONE);
});

describe('a log-out in another tab during a slow hook, and a clock that is set back as well: nothing leaves', () => {
  const slow = async (world: World) => {
    await world.run(clear(world.open().once));
    world.clock.jump(-2 * MINUTE);
  };

  test.for<[string, (world: World) => OnceOptions]>([
    ['headers', (world) => ({ headers: () => slow(world).then(() => ({})) })],
    ['around', (world) => ({ use: [around((_, send) => slow(world).then(() => send()))] })],
  ])('%s', async ([_, hook], { world }) => {
    const { tab, once } = world.open(hook(world));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
    expect(world.server.arrivals).toEqual([]);
  });
});

test('settle as none is refused in a tab that hung while another tab sent and the clock was set back: it cannot know what was sent', async ({ world }) => {
  const [app, other] = [world.open(), world.open(ONE)];
  await world.end(other.tab, pay(other.once), lost());
  app.tab.at(1, () => app.tab.freeze());
  const word = watched(settle(app.once, NAME, 'none'));
  world.clock.jump(-MINUTE);
  await world.clock.advance(2 * SECOND);
  expect((await world.end(other.tab, pay(other.once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
  app.tab.thaw();
  await expect(world.run(word)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  expect(world.record()).toMatchObject({ state: 'pending' });
});

describe('a server', () => {
  test('that only makes its client, as during rendering, reads no clock', () => {
    const [now, monotonic] = [vi.spyOn(Date, 'now'), vi.spyOn(performance, 'now')];
    createOnce({ namespace: () => 'ann' });
    expect([now.mock.calls.length, monotonic.mock.calls.length]).toEqual([0, 0]);
    vi.restoreAllMocks();
  });

  test('counts time from its first call on, whatever that call was', async ({ world }) => {
    const PROCESS = { server: true, locks: false } as const;
    const one = world.open({}, PROCESS);
    await world.end(one.tab, pay(one.once), lost(), DECLINE);
    const { tab, once } = world.open({}, PROCESS);
    await world.end(tab, pay(once, { operation: ['pay', 'c2'] }), answers(201));
    await world.clock.advance(2 * MINUTE);
    expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject(NONE);
  });
});

test('a clock counts as even until somebody sets it; a drift of less than a second does not count as that', async () => {
  const clock = virtualClock();
  expect(steadyForMs(clock)).toBe(0);
  await clock.advance(MINUTE);
  clock.jump(999);
  expect(steadyForMs(clock)).toBe(MINUTE);
  clock.jump(1);
  expect(steadyForMs(clock)).toBe(0);
  await clock.advance(MINUTE);
  clock.jump(-1000);
  expect(steadyForMs(clock)).toBe(0);
});

test('set back by four minutes while a hook gives the headers of an attempt: the attempt still ends in its time', async ({ world, tab }) => {
  const headers = async () => {
    tab.skewMs = -4 * MINUTE;
    return {};
  };
  const { ms, outcome } = await world.end(tab, pay(tab.once({ headers, limits: { attempts: 1 } })), hangs());
  expect(outcome).toMatchObject({ effect: 'unknown' });
  expect(ms).toBeLessThan(MINUTE);
});

test('set back by four minutes while a hook gives the headers of a poll: the poll ends in its time, and the link is polled again', async ({ world, tab }) => {
  let asked = 0;
  const headers = async () => {
    if (++asked === 2) tab.skewMs = -4 * MINUTE;
    return {};
  };
  const accepted = charged(answers(202, '', { location: '/jobs/1' }));
  const call = pay(tab.once({ accepted: 'poll', headers }));
  world.server.otherwise = answers(200, { status: 'done' }, { 'idempotent-replayed': 'true' });
  const { ms, outcome } = await world.end(tab, call, accepted, hangs());
  expect(outcome).toMatchObject({ effect: 'done' });
  expect(ms).toBeLessThan(MINUTE);
});

test.for([-4 * MINUTE, -10 * HOUR, 10 * HOUR])('set by %i ms while the work behind a 202 goes on: the call ends in its time', async (byMs, { world, tab }) => {
  const call = pay(tab.once({ accepted: 'poll', limits: { inProgressMs: 30 * SECOND } }));
  const running = idle(answers(202, { state: 'running' }));
  world.server.otherwise = running;
  const sets = during(() => {
    tab.skewMs = byMs;
  }, running);
  const { ms, outcome } = await world.end(tab, call, charged(answers(202, '', { location: '/jobs/1' })), sets);
  expect(outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
  expect(ms).toBeLessThan(MINUTE);
});

describe('set back by an hour, where leases follow the clock of the store', () => {
  const scene = (world: World) => world.open({}, { server: true, locks: false, claims: { ownClock: true } });
  const TOTAL_MS = 2 * MINUTE;

  test('a call that the server tells to wait ends in its time', async ({ world }) => {
    const { tab, once } = scene(world);
    world.server.otherwise = answers(409, undefined, { 'retry-after': '5' });
    const call = pay(once);
    await world.clock.advance(SECOND);
    tab.skewMs = -HOUR;
    const begun = world.clock.monotonic();
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.clock.monotonic() - begun).toBeLessThan(TOTAL_MS);
  });

  test.each([409, 503])('so does one that is told to wait for 50 minutes, by a %i', async (status) => {
    const world = newWorld();
    const { tab, once } = scene(world);
    const begun = world.clock.monotonic();
    world.server.plays(
      during(
        () => {
          tab.skewMs = -HOUR;
        },
        answers(status, undefined, { 'retry-after': '3000' }),
      ),
    );
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.clock.monotonic() - begun).toBeLessThanOrEqual(TOTAL_MS);
  });
});

test('set back by an hour while a PUT without a name is on its way, which is then told to come again in 50 minutes: the call ends', async ({ world, tab }) => {
  const sets = during(
    () => {
      tab.skewMs = -HOUR;
    },
    answers(503, undefined, { 'retry-after': '3000' }),
  );
  const begun = world.clock.monotonic();
  expect(await world.end(tab, tab.once({ fetch: tab.fetch }).fetch(URL_, { method: 'PUT', body: 'x' }), sets)).toMatchObject({ status: 503 });
  expect(world.clock.monotonic() - begun).toBeLessThan(2 * MINUTE);
});

test('a clock that is set while a call waits until it may ask again: the call waits for work in progress as long as any other', async () => {
  const world = newWorld();
  const tab = world.tab({ server: true, locks: false });
  const once = tab.once({ limits: { totalMs: 5 * MINUTE } });
  const busy = (seconds: number) => answers(409, { title: 'in progress' }, { 'retry-after': String(seconds) });
  expect((await world.end(tab, pay(once, { limits: { inProgressMs: SECOND } }), busy(120))).outcome).toMatchObject({ reason: 'in-progress' });
  // After more than a minute, the time for waiting counts anew.
  await world.clock.advance(70 * SECOND);
  world.server.plays(busy(1), charged(answers(201)));
  const [paying] = await world.begin(tab.in(() => watched(pay(once))));
  await world.clock.advance(SECOND);
  tab.skewMs += 30 * SECOND;
  await world.run(paying.catch(() => {}));
  expect(tab.outcomeOf(await world.run(paying.catch((error: unknown) => error)))).toMatchObject({ effect: 'done' });
});
