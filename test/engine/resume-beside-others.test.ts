/**
 * Goal: `resume` beside a press of the same operation: one key, no wait for a lock that the press holds, and no end that belongs to another operation. Method:
 * `resume` begins at every moment of the press; presses that are cancelled; operations of `run`.
 */
import { describe, expect } from 'vitest';
import { clear, forget, type Once, type OnceOptions, operation, type Resumed, resumeOne, run, settle, unnamed } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import type { Locks } from '../../src/ports.js';
import { answers, charged, delayed, type Entry, honest, lost, replays } from '../support/server.js';
import type { Tab, TabOptions } from '../support/tab.js';
import { CART, type End, NAME, newWorld, ONE, pay, rest, resumed, SECOND, test, URL_, type World, watched } from '../support/world.js';

const send = (once: Once, init: RequestInit = {}) =>
  watched(once.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"hello"}', ...init }));

describe('a call without a name beside a resume of a lost equal one', () => {
  const OPTIONS = { namespace: 'ann', keep: { request: true }, use: [...everything(), unnamed()] } as const;
  const CROSSINGS = Array.from({ length: 14 }, (_, index) => index + 1);

  /** A tab after a call that took effect and lost its answer. The server honours keys, and answers after a second. */
  async function afterLoss(world: World, of: TabOptions = {}) {
    const before = world.open({ ...OPTIONS, limits: { attempts: 1 } }, of);
    await world.end(before.tab, send(before.once), charged(lost()));
    world.server.otherwise = delayed(SECOND, honest());
    const tab = before.tab.reload();
    return { tab, once: tab.once(OPTIONS) };
  }

  for (const where of ['the same tab', 'another tab'] as const) {
    const other = (world: World, of: { tab: Tab; once: Once }) => (where === 'the same tab' ? of : world.open(OPTIONS));

    test.for(CROSSINGS)(`goes on with it, without delay, if the resume begins in ${where} at its crossing %i`, async (at, { world }) => {
      const press = await afterLoss(world);
      const { once } = other(world, press);
      let resuming: Promise<Resumed[]> | undefined;
      press.tab.at(at, () => {
        resuming = resumed(once);
      });
      const begun = world.clock.now();
      expect((await world.end(press.tab, send(press.once))).outcome).toMatchObject({ effect: 'done' });
      expect(world.clock.now() - begun).toBeLessThan(3 * SECOND);
      for (const { outcome } of (await world.run(Promise.resolve(resuming))) ?? []) expect(outcome.effect).toBe('done');
      expect(world.server.charged.size).toBe(1);
      expect(world.locks.names).toEqual([]);
    });

    test.for(CROSSINGS)(`goes on with it if it begins in ${where} at crossing %i of the resume`, async (at, { world }) => {
      const resuming = await afterLoss(world);
      const { tab, once } = other(world, resuming);
      let press: Promise<End> | undefined;
      let isAnswered = false;
      const begun = world.clock.now();
      resuming.tab.at(at, () => {
        isAnswered = world.clock.now() - begun >= SECOND;
        press = world.end(tab, send(once));
      });
      for (const { outcome } of await world.run(resumed(resuming.once))) expect(outcome.effect).toBe('done');
      if (press) expect((await press).outcome).toMatchObject({ effect: 'done' });
      // After the answer, another press is another effect.
      expect(world.server.charged.size).toBe(isAnswered ? 2 : 1);
      expect(world.locks.names).toEqual([]);
    });
  }

  test.for(CROSSINGS)('goes on with it in an app without locks, if the resume begins at its crossing %i', async (at, { world }) => {
    const { tab, once } = await afterLoss(world, { locks: false });
    let resuming: Promise<Resumed[]> | undefined;
    tab.at(at, () => {
      resuming = resumed(once);
    });
    expect((await world.end(tab, send(once))).outcome).toMatchObject({ effect: 'done' });
    for (const { outcome } of (await world.run(Promise.resolve(resuming))) ?? []) expect(outcome.effect).toBe('done');
    expect(world.server.charged.size).toBe(1);
  });

  test.for([1, 2, 3, 4, 5])(
    'has no effect beside that of a resume in another tab without locks, if it begins at crossing %i of that',
    async (at, { world }) => {
      const { tab, once } = await afterLoss(world, { locks: false });
      const other = world.open(OPTIONS, { locks: false });
      let press: Promise<End> | undefined;
      tab.at(at, () => {
        press = world.end(other.tab, send(other.once));
      });
      expect((await world.run(resumed(once))).map(({ outcome }) => outcome.effect)).toEqual(['done']);
      // Before the resume has its lease, both take it up at once.
      expect(await press).toMatchObject(at < 3 ? { code: 'ERR_ONCE_BUSY' } : { outcome: { type: 'replayed' } });
      expect(world.server.charged.size).toBe(1);
    },
  );

  test('is another effect where a resume without locks waits for the lease of a press in another tab', async ({ world }) => {
    const [press, other] = [world.open(OPTIONS, { locks: false }), world.open(OPTIONS, { locks: false })];
    world.server.otherwise = delayed(SECOND, honest());
    const [first] = await world.begin(send(press.once));
    const resuming = resumed(other.once);
    // The press of this tab sees before the resume that the other one has ended.
    await world.clock.advance(900);
    expect((await world.end(other.tab, send(other.once))).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.end(press.tab, first)).outcome).toMatchObject({ type: 'fresh' });
    await world.run(resuming);
    expect(world.server.charged.size).toBe(2);
  });

  /** A press that waits for a resume, and the resume. */
  async function waitsFor(world: World, where: string, more: OnceOptions = {}) {
    const lostThere = await afterLoss(world);
    const tab = where === 'the same tab' ? lostThere.tab : world.tab();
    const resuming = resumed(lostThere.once);
    await rest();
    return { tab, once: tab.once({ ...OPTIONS, ...more }), resuming };
  }

  for (const where of ['the same tab', 'another tab'] as const)
    test.for([1, 2, 3, 4, 5, 6])(`goes on with it after a press that was aborted in ${where} at crossing %i while it waited`, async (at, { world }) => {
      const { tab, once, resuming } = await waitsFor(world, where);
      const cancel = new AbortController();
      let press: Promise<End> | undefined;
      tab.at(at, () => {
        cancel.abort(new Error('cancelled'));
        press = world.end(tab, send(once));
      });
      expect((await world.end(tab, send(once, { signal: cancel.signal }))).outcome).toMatchObject({ effect: 'unknown' });
      expect((await press)?.outcome).toMatchObject({ effect: 'done' });
      await world.run(resuming);
      expect(world.server.charged.size).toBe(1);
      expect(world.locks.names).toEqual([]);
    });

  test("goes on with it if a resume of its tab takes longer than the press's own attempts may, and waits for that", async ({ world }) => {
    const { tab, once } = await afterLoss(world);
    world.server.otherwise = delayed(20 * SECOND, honest());
    const resuming = resumed(once);
    await rest();
    const press = send(tab.once({ ...OPTIONS, limits: { attemptMs: 2 * SECOND } }));
    expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'done' });
    await world.run(resuming);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test("with whenBusy: 'reject' is refused at once", async ({ world }) => {
    const { tab, once, resuming } = await waitsFor(world, 'another tab', { whenBusy: 'reject' });
    expect(await world.end(tab, send(once))).toMatchObject({ code: 'ERR_ONCE_BUSY', ms: 0 });
    await world.run(resuming);
  });

  test.for([
    ['one tab is frozen when the resume ends', {}],
    ['the resume takes longer than half of their time', { limits: { totalMs: 1900 } }],
  ] as const)('is one of two in two tabs, so the other one is another effect, although %s', async ([when, options], { world }) => {
    const { tab, once, resuming } = await waitsFor(world, 'another tab', options);
    const other = world.open({ ...OPTIONS, ...options });
    const [press, second] = [send(once), send(other.once)];
    await rest();
    if (when.includes('frozen')) other.tab.freeze();
    expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
    other.tab.thaw();
    expect((await world.end(other.tab, second)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    await world.run(resuming);
    expect(world.server.charged.size).toBe(2);
    expect(world.locks.names).toEqual([]);
  });

  test.for([false, true])(
    'is one of two in two tabs without locks, so the other one is another effect, unless the store is full, so that nobody can tell: %s',
    async (full, { world }) => {
      const { once } = await afterLoss(world, { locks: false });
      const presses = [world.open(OPTIONS, { locks: false }), world.open(OPTIONS, { locks: false })];
      if (full) presses[0]?.tab.faults.rate('full', 1);
      const resuming = resumed(once);
      await rest();
      await world.clock.advance(300);
      const ends = await Promise.all(presses.map(({ tab, once }) => world.end(tab, send(once))));
      await world.run(resuming);
      expect(ends.map(({ outcome }) => outcome?.type)).toEqual(['replayed', full ? 'replayed' : 'fresh']);
      expect(world.server.charged.size).toBe(full ? 1 : 2);
    },
  );

  test('is one of two without locks, one of them in the tab of the resume, so the other one is another effect', async ({ world }) => {
    const { tab, once } = await afterLoss(world, { locks: false });
    const other = world.open(OPTIONS, { locks: false });
    const resuming = resumed(once);
    await rest();
    await world.clock.advance(300);
    const ends = await Promise.all([world.end(tab, send(once)), world.end(other.tab, send(other.once))]);
    await world.run(resuming);
    expect(ends.map(({ outcome }) => outcome?.type).sort()).toEqual(['fresh', 'replayed']);
    expect(world.server.charged.size).toBe(2);
  });

  test.for(['the same tab', 'another tab'] as const)(
    'waits for a resume in %s, whose request is refused: it is another effect, and sent',
    async (where, { world }) => {
      const { tab, once } = await afterLoss(world);
      const other = where === 'the same tab' ? { tab, once } : world.open(OPTIONS);
      world.server.plays(delayed(SECOND, replays(402)));
      const resuming = resumed(once);
      await rest();
      const end = await world.end(other.tab, send(other.once));
      expect((await world.run(resuming))[0]?.outcome.type).toBe('rejected');
      expect(end.outcome).toMatchObject({ type: 'fresh', effect: 'done' });
    },
  );

  test('is resumed, and pressed, without delay after a resume to which the lock manager did not answer', async ({ world }) => {
    const { tab, once } = await afterLoss(world);
    const locks = tab.platform.locks as Locks;
    const { acquire } = locks;
    Object.assign(locks, { acquire: (name: string) => (name.endsWith(':resume') ? acquire.call(locks, name) : new Promise(() => {})) });
    expect(await world.run(resumed(once))).toEqual([]);
    Object.assign(locks, { acquire });
    const begun = world.clock.now();
    expect((await world.end(tab, send(once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.clock.now() - begun).toBeLessThan(3 * SECOND);
    expect(world.locks.names).toEqual([]);
  });

  test('goes on with it if a resume of another tab gets the lock too late, and has not given it back yet', async ({ world }) => {
    const { tab, once } = await afterLoss(world);
    const locks = tab.platform.locks as Locks;
    const { acquire } = locks;
    const late = async (name: string) => {
      const release = await acquire.call(locks, name);
      await new Promise<void>((resolve) => void world.clock.timer(name.endsWith(':resume') ? 0 : 10.5 * SECOND, resolve));
      return release;
    };
    Object.assign(locks, { acquire: late });
    expect(await world.run(resumed(once))).toEqual([]);
    const other = world.open(OPTIONS);
    expect((await world.end(other.tab, send(other.once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.charged.size).toBe(1);
    expect(world.locks.names).toEqual([]);
  });

  test('waits for a resume of another tab, and a log-out in between: no second key is sent, and what it is told is true', async ({ world }) => {
    const { once } = await afterLoss(world);
    const other = world.open(OPTIONS);
    const [resuming] = await world.begin(watched(resumed(once)));
    const [press] = await world.begin(send(other.once));
    await clear(once);
    expect((await world.end(other.tab, press)).outcome?.effect).not.toBe('none');
    await world.run(resuming);
    expect(world.server.charged.size).toBe(1);
    expect(world.locks.names).toEqual([]);
  });

  test.for(['a resume', 'a press'])('is resumed at once after %s in the same tab that was aborted and still stops', async (what, { world }) => {
    const { tab, once } = await afterLoss(world);
    const cancel = new AbortController();
    const aborted = what === 'a press' ? send(once, { signal: cancel.signal }) : resumed(once, { signal: cancel.signal });
    aborted.catch(() => {});
    await rest();
    cancel.abort(new Error('unmounted'));
    expect((await world.run(resumed(once))).map(({ outcome }) => outcome.effect)).toEqual(['done']);
    expect(world.server.charged.size).toBe(1);
    expect((await world.end(tab, send(once))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.locks.names).toEqual([]);
  });

  test('goes on with it if the resume of another tab was aborted, and a slow store still writes its end', async ({ world }) => {
    const { tab, once } = await afterLoss(world);
    const other = world.open(OPTIONS);
    const cancel = new AbortController();
    resumed(once, { signal: cancel.signal }).catch(() => {});
    await world.clock.advance(500);
    tab.faults.rate({ name: 'slow', ms: 3 * SECOND }, 1);
    await world.clock.advance(600);
    cancel.abort(new Error('unmounted'));
    // It finds the lost call before the end is written, and looks at it again afterwards.
    other.tab.faults.rate({ name: 'slow', ms: SECOND }, 1);
    expect((await world.end(other.tab, send(other.once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.charged.size).toBe(1);
    expect(world.locks.names).toEqual([]);
  });

  test.for([
    ['of another tab', {}],
    ['of the same app, without locks', { locks: false }],
  ] as const)('is another effect beside a press %s that is under way, which a resume leaves alone', async ([where, of], { world }) => {
    const press = world.open(OPTIONS, of);
    const other = where === 'of another tab' ? world.open(OPTIONS) : press;
    world.server.otherwise = delayed(SECOND, honest());
    const [first] = await world.begin(send(press.once));
    const resuming = resumed(other.once);
    await rest();
    expect((await world.end(other.tab, send(other.once))).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.end(press.tab, first)).outcome).toMatchObject({ type: 'fresh' });
    expect(await resuming).toEqual([]);
    expect(world.server.charged.size).toBe(2);
  });

  test.for([true, false])('is left to one of two resumes that wait for a third one (locks: %s)', async (locks, { world }) => {
    const { once } = await afterLoss(world, { locks });
    world.server.otherwise = delayed(SECOND, lost());
    const all = [resumed(once), resumed(once), resumed(once)];
    expect((await world.run(Promise.all(all))).map(({ length }) => length)).toEqual([1, 1, 0]);
    expect(world.server.charged.size).toBe(1);
  });
});

test('a press behind a resume of its page, which waits for another page, is told how that one ended, and sends nothing', async ({ world }) => {
  const [page, other] = [world.open({ namespace: 'ann', keep: { request: true } }), world.open({ namespace: 'ann', keep: { request: true } })];
  const [first] = await world.begin(pay(page.once), delayed(SECOND, answers(402)));
  const [resuming] = await world.begin(watched(resumeOne(other.once, NAME)));
  expect((await world.end(other.tab, pay(other.once))).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
  expect((await world.end(page.tab, first)).outcome).toMatchObject({ type: 'rejected' });
  expect((await world.end(other.tab, resuming)).outcome).toMatchObject({ effect: 'none' });
  expect(world.server.keys).toHaveLength(1);
});

describe('resume beside a press of another tab that is cancelled does not report the end of another operation', () => {
  const OPTIONS = { namespace: 'ann', keep: { request: true }, repeat: 'always' } as const;

  /** A page whose first press has ended, and whose second press waits for the network. */
  async function waitingPress(world: World, before: Entry) {
    const page = world.open(OPTIONS);
    const first = (await world.end(page.tab, pay(page.once), before)).outcome;
    page.tab.online = false;
    const cancel = new AbortController();
    const [press] = await world.begin(watched(pay(page.once, { signal: cancel.signal })));
    const cancelled = async () => {
      cancel.abort(new Error('cancelled'));
      expect((await world.end(page.tab, press)).outcome).toMatchObject({ type: 'unsent' });
    };
    return { first, cancelled };
  }

  test.for([
    ['done', answers(201)],
    ['refused', answers(402, { code: 'card_declined' })],
  ] as const)('the operation that was %s before is not reported again', async ([_, before], { world }) => {
    const { first, cancelled } = await waitingPress(world, before);
    const [resuming] = await world.begin(resumed(world.open(OPTIONS).once));
    await cancelled();
    const ends = await world.run(resuming);
    expect(ends.map(({ outcome }) => outcome.key)).not.toContain(first?.key);
    expect(ends.map(({ outcome }) => outcome.effect)).toEqual(['unknown']);
  });

  test('the operation that is pressed and done afterwards is not reported either', async ({ world }) => {
    const { cancelled } = await waitingPress(world, answers(201));
    world.server.plays(answers(201));
    const third = world.open(OPTIONS);
    const [later] = await world.begin(pay(third.once));
    const [resuming] = await world.begin(resumed(world.open(OPTIONS).once));
    await cancelled();
    expect((await world.end(third.tab, later)).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.run(resuming)).map(({ outcome }) => outcome.effect)).toEqual(['unknown']);
  });
});

describe("with repeat: 'always', a press while `resume` or `settle` ends a lost payment", () => {
  const OPTIONS = { namespace: 'ann', keep: { request: true }, repeat: 'always' } as const;

  /** Delays the next read of this tab, which is that of the press, until `end` has settled. */
  function looksLate(tab: Tab, end: Promise<unknown>): void {
    const { read } = tab.store;
    const late = async (id: string) => {
      Object.assign(tab.store, { read });
      await end.catch(() => {});
      return read(id);
    };
    Object.assign(tab.store, { read: late });
  }

  /** A payment whose answer was lost, and the page where it is pressed again. */
  async function lostOne(world: World, where: string, more: OnceOptions = {}) {
    const { tab, once } = world.open(OPTIONS);
    await world.end(tab, pay(once, ONE), charged(lost()));
    const page = { tab, once: tab.once({ ...OPTIONS, ...more }) };
    return { ...page, other: where === 'the same tab' ? page : world.open(OPTIONS) };
  }

  test.for(['the same tab', 'another tab'])('in %s has no further effect while `settle` writes the end', async (where, { world }) => {
    const { once, other } = await lostOne(world, where);
    const settling = settle(once, NAME, 'done');
    const press = watched(pay(other.once));
    await world.run(settling);
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
    expect(world.server.keys).toHaveLength(1);
  });

  test.for([
    ['the server has said done: no further effect', replays(), CART, 'replayed', 1],
    ['`reconcile` has said done: no further effect', answers(402), CART, 'replayed', 1],
    ['the server has said done, and the press has another payload: a new operation', replays(), { ...CART, amount: 20 }, 'fresh', 2],
  ] as const)('that reads the store only after %s', async ([_, end, body, type, keys], { world }) => {
    const { tab, once } = await lostOne(world, 'the same tab', { ...ONE, reconcile: async () => 'done' });
    const [asking] = await world.begin(watched(resumeOne(once, NAME)), delayed(SECOND, end), ...(keys > 1 ? [answers(201)] : []));
    looksLate(tab, asking);
    const pressed = watched(pay(once, { body }));
    await world.end(tab, asking);
    expect((await world.end(tab, pressed)).outcome).toMatchObject({ effect: 'done', type });
    expect(new Set(world.server.keys).size).toBe(keys);
  });

  test.for([
    ['`settle` says none', (once: Once) => settle(once, NAME, 'none')],
    ['`forget` drops the record', (once: Once) => forget(once, NAME, { evenIfUnknown: true })],
  ] as const)('while %s is a new operation', async ([_, change], { world }) => {
    const { tab, once } = world.open(OPTIONS);
    await world.end(tab, pay(once, ONE), lost());
    world.server.plays(answers(201));
    const changing = change(once);
    const press = watched(pay(once));
    await world.run(changing);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test('that reads the store only after `settle` has said done has no further effect', async ({ world }) => {
    const { tab, once } = await lostOne(world, 'the same tab');
    const settling = settle(once, NAME, 'done');
    looksLate(tab, settling);
    const press = watched(pay(once));
    await world.run(settling);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'replayed' });
  });

  test('that reads the store only after `resume` has found an earlier settled operation is a new operation', async ({ world, tab }) => {
    const once = tab.once(OPTIONS);
    await world.end(tab, pay(once), answers(201), answers(201));
    const asking = watched(resumeOne(once, NAME));
    looksLate(tab, asking);
    const press = watched(pay(once));
    await world.end(tab, asking);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test.for([false, true])('that waits for the call of another tab has no further effect (it reads the store late: %s)', async (late, { world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    const [paying] = await world.begin(watched(pay(one.once)), delayed(SECOND, answers(201)));
    const [asking] = await world.begin(watched(resumeOne(other.once, NAME)));
    if (late) looksLate(other.tab, asking);
    const press = watched(pay(other.once));
    expect((await world.end(one.tab, paying)).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.end(other.tab, asking)).outcome).toMatchObject({ effect: 'done' });
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.keys).toHaveLength(1);
  });

  test.for(['the same tab', 'another tab'])('in %s has no further effect', async (where, { world }) => {
    const { tab, once, other } = await lostOne(world, where);
    const [asking] = await world.begin(watched(resumeOne(once, NAME)), delayed(SECOND, replays()));
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
  ] as const)('in %s has no further effect, even with a log-out %s', async ([where, when], { world }) => {
    const { tab, once, other } = await lostOne(world, where);
    world.server.plays(delayed(SECOND, replays()));
    world.server.otherwise = honest();
    const [asking] = await world.begin(watched(resumeOne(once, NAME)));
    const [press] = await world.begin(watched(pay(other.once)));
    const out = world.open(OPTIONS).once;
    if (when === 'before the answer') await world.run(clear(out));
    await world.end(tab, asking);
    if (when === 'after it') await world.run(clear(out));
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ effect: 'done' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('with another payload is a new operation', async ({ world }) => {
    const { tab, once } = world.open(OPTIONS);
    await world.end(tab, pay(once, ONE), charged(lost()));
    world.server.plays(replays(), answers(201));
    const asking = watched(resumeOne(once, NAME));
    const press = watched(pay(once, { body: { ...CART, amount: 20 } }));
    await world.end(tab, asking);
    expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test('beside a resume whose read of the store hangs while another tab ends the payment has no further effect', async ({ world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    const [paying] = await world.begin(watched(pay(one.once)), delayed(SECOND, answers(201)));
    other.tab.faults.next('hang');
    const [asking] = await world.begin(watched(resumeOne(other.once, NAME)));
    const press = watched(pay(other.once));
    await world.end(one.tab, paying);
    expect((await world.end(other.tab, asking)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'replayed' });
  });

  test('beside a call that is refused as busy is a new operation if the press of another tab is cancelled meanwhile', async ({ world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    await world.end(one.tab, pay(one.once), answers(201));
    one.tab.online = false;
    const cancel = new AbortController();
    const [cancelled] = await world.begin(watched(pay(one.once, { signal: cancel.signal })));
    world.server.plays(answers(201));
    const busy = watched(pay(other.once, { whenBusy: 'reject', body: { ...CART, amount: 20 } }));
    const [press] = await world.begin(watched(pay(other.once)));
    cancel.abort(new Error('cancelled'));
    await world.end(one.tab, cancelled);
    expect(await world.end(other.tab, busy)).toMatchObject({ code: 'ERR_ONCE_BUSY' });
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test.for(['the same tab', 'another tab'])('of a refused payment has no further effect beside a `settle` in %s that says done', async (where, { world }) => {
    const { tab, once } = world.open(OPTIONS);
    const other = where === 'the same tab' ? { tab, once } : world.open(OPTIONS);
    await world.end(tab, pay(once), answers(402));
    const settling = settle(once, NAME, 'done');
    const press = watched(pay(other.once));
    await world.run(settling);
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.keys).toHaveLength(1);
  });

  test('that begins after the call of another tab has ended, and behind a cancelled call that waited for it, is a new operation', async ({ world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    const [paying] = await world.begin(watched(pay(one.once)), delayed(SECOND, answers(201)));
    const cancel = new AbortController();
    const [cancelled] = await world.begin(watched(pay(other.once, { signal: cancel.signal, body: { ...CART, amount: 20 } })));
    other.tab.online = false;
    await world.end(one.tab, paying);
    await rest();
    const [press] = await world.begin(watched(pay(other.once)));
    cancel.abort(new Error('cancelled'));
    await world.end(other.tab, cancelled);
    other.tab.online = true;
    expect((await world.end(other.tab, press, answers(201))).outcome).toMatchObject({ type: 'fresh' });
  });

  test('behind a call that waited for another tab and was cancelled is a new operation if that tab sends nothing', async ({ world }) => {
    const [one, other] = [world.open(OPTIONS), world.open(OPTIONS)];
    await world.end(one.tab, pay(one.once), answers(201));
    one.tab.online = false;
    const [cancelThere, cancelHere] = [new AbortController(), new AbortController()];
    const [there] = await world.begin(watched(pay(one.once, { signal: cancelThere.signal })));
    const [waits] = await world.begin(watched(pay(other.once, { signal: cancelHere.signal, body: { ...CART, amount: 20 } })));
    const [press] = await world.begin(watched(pay(other.once)));
    world.server.plays(answers(201));
    cancelThere.abort(new Error('cancelled'));
    cancelHere.abort(new Error('cancelled'));
    await world.end(one.tab, there);
    await world.end(other.tab, waits);
    expect((await world.end(other.tab, press)).outcome).toMatchObject({ type: 'fresh' });
  });

  test('that a listener makes when it hears of the end is a new operation', async ({ world }) => {
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

  test('beside a resume that finds nothing pending is a new operation', async ({ world, tab }) => {
    const once = tab.once(OPTIONS);
    const first = (await world.end(tab, pay(once), answers(201))).outcome;
    const [asking, press] = [watched(resumeOne(once, NAME)), watched(pay(once))];
    await world.end(tab, asking, answers(201));
    const { outcome } = await world.end(tab, press);
    expect(outcome).toMatchObject({ type: 'fresh' });
    expect(outcome?.key).not.toBe(first?.key);
  });
});

describe('resume of a run does not give its value as a Response', () => {
  /** What `resume` reports of a run whose function fails the first time, and returns `value` the second time. */
  async function resumedWith(value: unknown): Promise<Resumed[]> {
    const { world, tab, once } = newWorld().open({ limits: { attempts: 1 } }, { server: true });
    let runs = 0;
    const effect = async ({ key }: { key: string }) => {
      if (runs++ === 0) throw new TypeError('socket hang up');
      world.server.charged.add(key);
      return value;
    };
    await world.end(tab, watched(run(once, NAME, effect)) as Promise<never>);
    return world.run(resumed(once));
  }

  test('a value with a member `ok` of its own is not mistaken for a refused Response', async () => {
    expect(await resumedWith({ ok: false, reason: 'a note for the caller' })).toMatchObject([{ name: NAME, outcome: { effect: 'done' }, response: undefined }]);
  });

  test('a Response that the function returned is given', async () => {
    expect((await resumedWith(Response.json({}, { status: 201 })))[0]?.response?.status).toBe(201);
  });
});
