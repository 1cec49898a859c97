/**
 * Goal: `resume` beside a press of the operation that it finds: one key, no wait for a lock that the other one has, and no end that is
 * another operation's. Method: `resume` begins at every moment of the press; presses that are cancelled; runs.
 */
import { describe, expect } from 'vitest';
import { clear, forget, type Once, type OnceOptions, operation, type Resumed, resumeOne, run, settle, unnamed } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { answers, charged, delayed, type Entry, honest, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, NAME, newWorld, ONE, pay, rest, resumed, SECOND, test, URL_, type World, watched } from '../support/world.js';

const send = (once: Once) => watched(once.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"hello"}' }));

test.for(Array.from({ length: 12 }, (_, index) => index + 1))('resume begins at crossing %i of the press', async (at, { world }) => {
  const options = { namespace: 'ann', keep: { request: true }, use: [...everything(), unnamed()] } as const;
  const before = world.open({ ...options, limits: { attempts: 1 } });
  await world.end(before.tab, send(before.once), charged(lost()));
  const tab = before.tab.reload();
  const once = tab.once(options);
  world.server.otherwise = honest();
  let other: Promise<Resumed[]> | undefined;
  tab.at(at, () => {
    other = resumed(once);
  });
  const begun = world.clock.now();
  expect((await world.end(tab, send(once))).outcome).toMatchObject({ effect: 'done' });
  expect(world.clock.now() - begun).toBeLessThan(SECOND);
  for (const { outcome } of (await world.run(Promise.resolve(other))) ?? []) expect(outcome.effect).toBe('done');
  expect(world.locks.names).toEqual([]);
});

describe('beside a press of another tab that is cancelled, the end of an earlier operation is not told', () => {
  const OPTIONS = { namespace: 'ann', keep: { request: true }, repeat: 'always' } as const;

  /** A page whose second press waits for the network, after a first one that ended. */
  async function waitingPress(world: World, before: Entry) {
    const page = world.open(OPTIONS);
    const first = (await world.end(page.tab, pay(page.once), before)).outcome;
    page.tab.online = false;
    const cancel = new AbortController();
    const press = watched(pay(page.once, { signal: cancel.signal }));
    await rest();
    const cancelled = async () => {
      cancel.abort(new Error('cancelled'));
      expect((await world.end(page.tab, press)).outcome).toMatchObject({ type: 'unsent' });
    };
    return { first, cancelled };
  }

  test.for([
    ['done', answers(201)],
    ['refused', answers(402, { code: 'card_declined' })],
  ] as const)('what was %s before is not told again', async ([_, before], { world }) => {
    const { first, cancelled } = await waitingPress(world, before);
    const resuming = resumed(world.open(OPTIONS).once);
    await rest();
    await cancelled();
    const ends = await world.run(resuming);
    expect(ends.map(({ outcome }) => outcome.key)).not.toContain(first?.key);
    expect(ends.map(({ outcome }) => outcome.effect)).toEqual(['unknown']);
  });

  test('nor is what was pressed and done after it', async ({ world }) => {
    const { cancelled } = await waitingPress(world, answers(201));
    world.server.plays(answers(201));
    const third = world.open(OPTIONS);
    const later = pay(third.once);
    await rest();
    const resuming = resumed(world.open(OPTIONS).once);
    await rest();
    await cancelled();
    expect((await world.end(third.tab, later)).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.run(resuming)).map(({ outcome }) => outcome.effect)).toEqual(['unknown']);
  });
});

describe('with repeat always, a press while `resume` asks after a lost one', () => {
  const OPTIONS = { namespace: 'ann', keep: { request: true }, repeat: 'always' } as const;

  /** The next look of this tab at the store, that of a press, shows only what is there after `end`. */
  function looksLate(tab: Tab, end: Promise<unknown>): void {
    const { read } = tab.store;
    const late = async (id: string) => {
      Object.assign(tab.store, { read });
      await end.catch(() => {});
      return read(id);
    };
    Object.assign(tab.store, { read: late });
  }

  /** A payment whose answer was lost, and where it is pressed again. */
  async function lostOne(world: World, where: string, more: OnceOptions = {}) {
    const { tab, once } = world.open(OPTIONS);
    await world.end(tab, pay(once, ONE), charged(lost()));
    const page = { tab, once: tab.once({ ...OPTIONS, ...more }) };
    return { ...page, other: where === 'the same tab' ? page : world.open(OPTIONS) };
  }

  test.for(['the same tab', 'another tab'])('in %s is no further effect, nor while `settle` says that it is done', async (where, { world }) => {
    const { once, other } = await lostOne(world, where);
    const settling = settle(once, NAME, 'done');
    const press = watched(pay(other.once));
    await world.run(settling);
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
    expect(world.server.keys).toHaveLength(1);
  });

  test.for([
    ['the server', replays(), CART, 'replayed', 1],
    ['`reconcile`', answers(402), CART, 'replayed', 1],
    ['the server, of another payload', replays(), { ...CART, amount: 20 }, 'fresh', 2],
  ] as const)('that looks at the store only when it is done already, by the word of %s', async ([_, end, body, type, keys], { world }) => {
    const { tab, once } = await lostOne(world, 'the same tab', { ...ONE, reconcile: async () => 'done' });
    world.server.plays(delayed(SECOND, end), ...(keys > 1 ? [answers(201)] : []));
    const asking = watched(resumeOne(once, NAME));
    await rest();
    looksLate(tab, asking);
    const pressed = watched(pay(once, { body }));
    await world.end(tab, asking);
    expect((await world.end(tab, pressed)).outcome).toMatchObject({ effect: 'done', type });
    expect(new Set(world.server.keys).size).toBe(keys);
  });

  test.for([
    ['`settle` says that there was none', (once: Once) => settle(once, NAME, 'none')],
    ['`forget` drops it', (once: Once) => forget(once, NAME, { evenIfUnknown: true })],
  ] as const)('while %s is one of its own', async ([_, change], { world }) => {
    const { tab, once } = world.open(OPTIONS);
    await world.end(tab, pay(once, ONE), lost());
    world.server.plays(answers(201));
    const changing = change(once);
    const press = watched(pay(once));
    await world.run(changing);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test('that looks at the store only when `settle` has said that it is done', async ({ world }) => {
    const { tab, once } = await lostOne(world, 'the same tab');
    const settling = settle(once, NAME, 'done');
    looksLate(tab, settling);
    const press = watched(pay(once));
    await world.run(settling);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'replayed' });
  });

  test('that looks at the store only when `resume` has found an earlier one that is done, is one of its own', async ({ world, tab }) => {
    const once = tab.once(OPTIONS);
    world.server.plays(answers(201), answers(201));
    await world.end(tab, pay(once));
    const asking = watched(resumeOne(once, NAME));
    looksLate(tab, asking);
    const press = watched(pay(once));
    await world.end(tab, asking);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test.for([false, true])('that waits for another tab, which ends it, is no further effect either (it looks late: %s)', async (late, { world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    world.server.plays(delayed(SECOND, answers(201)));
    const paying = watched(pay(one.once));
    await rest();
    const asking = watched(resumeOne(other.once, NAME));
    await rest();
    if (late) looksLate(other.tab, asking);
    const press = watched(pay(other.once));
    expect((await world.end(one.tab, paying)).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.end(other.tab, asking)).outcome).toMatchObject({ effect: 'done' });
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.keys).toHaveLength(1);
  });

  test.for(['the same tab', 'another tab'])('in %s is no further effect', async (where, { world }) => {
    const { tab, once, other } = await lostOne(world, where);
    world.server.plays(delayed(SECOND, replays()));
    const asking = watched(resumeOne(once, NAME));
    await rest();
    const press = watched(pay(other.once));
    expect((await world.end(tab, asking)).outcome).toMatchObject({ type: 'replayed' });
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'replayed' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test.for([
    ['the same tab', 'before the answer'],
    ['the same tab', 'after it'],
    ['another tab', 'before the answer'],
    ['another tab', 'after it'],
  ] as const)('in %s is no further effect, also with a log-out %s', async ([where, when], { world }) => {
    const { tab, once, other } = await lostOne(world, where);
    world.server.plays(delayed(SECOND, replays()));
    world.server.otherwise = honest();
    const asking = watched(resumeOne(once, NAME));
    await rest();
    const press = watched(pay(other.once));
    await rest();
    const out = world.open(OPTIONS).once;
    if (when === 'before the answer') await world.run(clear(out));
    await world.end(tab, asking);
    if (when === 'after it') await world.run(clear(out));
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ effect: 'done' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('of another payload is one of its own', async ({ world }) => {
    const { tab, once } = world.open(OPTIONS);
    await world.end(tab, pay(once, ONE), charged(lost()));
    world.server.plays(replays(), answers(201));
    const asking = watched(resumeOne(once, NAME));
    const press = watched(pay(once, { body: { ...CART, amount: 20 } }));
    await world.end(tab, asking);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test('beside one that could not look at the store while another tab ended it, is no further effect either', async ({ world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    world.server.plays(delayed(SECOND, answers(201)));
    const paying = watched(pay(one.once));
    await rest();
    other.tab.faults.next('hang');
    const asking = watched(resumeOne(other.once, NAME));
    await rest();
    const press = watched(pay(other.once));
    await world.end(one.tab, paying);
    expect((await world.end(other.tab, asking)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'replayed' });
  });

  test('beside one that is refused as busy, while the press of another tab is cancelled, is one of its own, and not the one before', async ({ world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    await world.end(one.tab, pay(one.once), answers(201));
    one.tab.online = false;
    const cancel = new AbortController();
    const cancelled = watched(pay(one.once, { signal: cancel.signal }));
    await rest();
    world.server.plays(answers(201));
    const busy = watched(pay(other.once, { whenBusy: 'reject', body: { ...CART, amount: 20 } }));
    const press = watched(pay(other.once));
    await rest();
    cancel.abort(new Error('cancelled'));
    await world.end(one.tab, cancelled);
    expect(await world.end(other.tab, busy)).toMatchObject({ code: 'ERR_ONCE_BUSY' });
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test('made by whoever is told of its end is one of its own', async ({ world }) => {
    const { tab, once } = await lostOne(world, 'the same tab');
    world.server.plays(replays(), answers(201));
    const payment = operation(once, NAME);
    let next: Promise<Response> | undefined;
    const off = payment.subscribe(() => {
      if (payment.state.phase === 'settled') next ??= watched(pay(once));
    });
    await world.end(tab, watched(resumeOne(once, NAME)));
    expect((await world.end(tab, next as Promise<Response>)).outcome).toMatchObject({ type: 'fresh' });
    off();
  });

  test('that finds nothing is one of its own, and not the one before', async ({ world, tab }) => {
    const once = tab.once(OPTIONS);
    const first = (await world.end(tab, pay(once), answers(201))).outcome;
    const [asking, press] = [watched(resumeOne(once, NAME)), watched(pay(once))];
    world.server.plays(answers(201));
    await world.end(tab, asking);
    const { outcome } = await world.end(tab, press);
    expect(outcome).toMatchObject({ type: 'fresh' });
    expect(outcome?.key).not.toBe(first?.key);
  });
});

describe('of a run, its value is no Response, and is not given as one', () => {
  /** What `resume` tells of a run whose function broke off the first time, and gives `value` the second time. */
  async function resumedWith(value: unknown): Promise<Resumed[]> {
    const world = newWorld();
    const { tab, once } = world.open({ limits: { attempts: 1 } }, { server: true });
    let runs = 0;
    const effect = async ({ key }: { key: string }) => {
      if (runs++ === 0) throw new TypeError('socket hang up');
      world.server.charged.add(key);
      return value;
    };
    await world.end(tab, watched(run(once, NAME, effect)) as Promise<never>);
    return world.run(resumed(once));
  }

  test("a value with an 'ok' of its own does not pass for a refused Response", async () => {
    expect(await resumedWith({ ok: false, reason: 'a note for the caller' })).toMatchObject([{ name: NAME, outcome: { effect: 'done' }, response: undefined }]);
  });

  test('a Response that the function gave is one', async () => {
    expect((await resumedWith(Response.json({}, { status: 201 })))[0]?.response?.status).toBe(201);
  });
});
