/**
 * Goal: features that seldom meet on one name charge once and tell nothing untrue. Method: each test crosses two of them (two copies of the package, `run` and
 * a log-out, polling and an edit, `reconcile` in two tabs, `extend` and `close`, stores that fail) in a scripted world.
 */
import { describe, expect, vi } from 'vitest';
import { around, clear, close, extend, forget, move, type Once, type OnceOptions, operation, run, settle, subscribe } from '../../src/entries/index.js';
import type { Store, Stored } from '../../src/ports.js';
import {
  type Arrival,
  answers,
  charged,
  delayed,
  during,
  type Entry,
  hangs,
  honest,
  idle,
  lost,
  replays,
  type ScriptedServer,
  textOf,
} from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, DAY, NAME, newWorld, ONE, pay, rest, resumed, SECOND, test, URL_, type World, watched } from '../support/world.js';

const BUSY = { code: 'ERR_ONCE_BUSY' };
const sent = ({ arrivals }: ScriptedServer): Promise<string[]> => Promise.all(arrivals.filter(({ method }) => method === 'POST').map(textOf));

/** A client of another copy of the package, with modules of its own. */
async function ofCopy(tab: Tab, options: OnceOptions = {}): Promise<Once> {
  vi.resetModules();
  const [{ createOn }, all] = await Promise.all([import('../../src/once.js'), import('../../src/everything.js')]);
  return tab.in(() => createOn(tab.platform, { store: tab.store, use: all.everything(), ...options }));
}

describe('two copies of the package in one page', () => {
  test.for([
    ['records in the store', 'none'],
    ['records that the store did not take', 'full'],
  ] as const)('%s: each copy goes on with what the other one began, under one key, and knows its end', async ([, trouble], { world, tab }) => {
    const copies = [tab.once(), await ofCopy(tab)] as const;
    if (trouble === 'full') tab.faults.rate('full', 1);
    for (const [first, second] of [copies, [copies[1], copies[0]]] as const) {
      const name = { operation: ['pay', copies.indexOf(first)] };
      const { outcome } = await world.end(tab, pay(first, { ...ONE, ...name }), charged(lost()));
      expect((await world.end(tab, pay(second, name), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
      expect((await world.end(tab, pay(first, name))).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
    }
  });

  test.for([0, 1])('a log-out by the other copy ends what waits, and what is read, for its user (%i)', async (caller, { world, tab }) => {
    const options = { namespace: 'ann', ...ONE } as const;
    const own = [tab.once(options), clear] as const;
    const copies = [own, [await ofCopy(tab, options), (await import('../../src/entries/index.js')).clear]] as const;
    const [[once], [other, logOut]] = [copies[caller] ?? own, copies[1 - caller] ?? own];
    const body = new Blob(['{}']);
    body.arrayBuffer = () => new Promise((read) => void world.clock.timer(SECOND, () => read(new ArrayBuffer(2))));
    const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(lost())));
    const waits = [pay(once, { body: { ...CART, amount: 11 } }), watched(once.fetch(URL_, { method: 'POST', body, once: {} }))];
    await rest();
    await world.run(logOut(other));
    for (const { outcome } of (await world.all(tab, first, ...waits)).slice(1)) expect(outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
    expect(world.server.arrivals).toHaveLength(1);
  });

  /** The client, extended by another copy of the package: the features are those of the first copy. */
  async function extended(tab: Tab, once: Once): Promise<Once> {
    vi.resetModules();
    const copy = await import('../../src/entries/index.js');
    return tab.in(() => copy.extend(once, {}));
  }

  test('the store does not answer in time, but takes the record: the call of a copy with the features of the other sends nothing', async ({ world, tab }) => {
    let taken: Stored | undefined;
    const update: Store['update'] = (id, change, options) => {
      if (taken) return tab.store.update(id, change, options);
      taken = change(undefined, world.clock.now()).next as Stored;
      return new Promise(() => {});
    };
    const once = await extended(tab, tab.once({ namespace: 'ann', store: { ...tab.store, update }, keep: { request: true } }));
    world.server.otherwise = answers(402, { code: 'card_declined' });
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
    const { id, ...late } = taken as Stored;
    await tab.store.update(id, () => ({ next: { id, ...late }, value: undefined }));
    world.server.otherwise = honest();
    const next = tab.reload();
    expect(await world.run(resumed(next.once({ namespace: 'ann', keep: { request: true } })))).toMatchObject([{ outcome: { effect: 'done' } }]);
    expect(world.server.charged.size).toBe(1);
  });

  test('a client that is closed while its key strategy is asked tells its caller the outcome, across copies too', async ({ world, tab }) => {
    const once = await extended(tab, tab.once());
    const [call] = await world.begin(watched(pay(once, { key: () => new Promise(() => {}) })));
    await world.run(close(once));
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'aborted' } });
  });

  test('a refused preflight looks like a lost answer: the developer gets the diagnostic, also through a hook around attempts', async ({ world, tab }) => {
    const once = await extended(tab, tab.once({ use: [around((_, send) => send())] }));
    const codes: string[] = [];
    subscribe(once, (event) => event.type === 'diagnostic' && codes.push(event.code));
    world.server.otherwise = lost();
    await world.end(tab, pay(once, { url: 'https://api.other.example/pay' }));
    expect(codes).toEqual(['preflight-suspected']);
  });

  test('a copy that changes the record of another copy in place gets a TypeError, and the record stays sound', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, ONE), charged(lost()));
    const { id = '' } = world.record() ?? {};
    const writes = (stored: unknown) => ({ value: Object.assign(stored as object, { ambiguous: false }) });
    await expect(tab.store.update(id, writes)).rejects.toThrow(TypeError);
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done' });
  });
});

describe.each(['the same copy', 'another copy'])(
  'a page without locks after a call without a name that was lost, and a second client, of %s of the package',
  (which) => {
    const OPTIONS = { namespace: 'ann', keep: { request: true } } as const;
    const send = (once: Once) => watched(once.fetch(URL_, { method: 'POST', body: '{"text":"hello"}' }));
    const CROSSINGS = Array.from({ length: 6 }, (_, index) => index + 1);

    /** The page, its two clients, and a server that honours keys and answers after a second. */
    async function afterLoss(world: World) {
      const before = world.open({ ...OPTIONS, ...ONE }, { locks: false });
      await world.end(before.tab, send(before.once), charged(lost()));
      world.server.otherwise = delayed(SECOND, honest());
      const tab = before.tab.reload();
      return { tab, one: tab.once(OPTIONS), other: which === 'the same copy' ? tab.once(OPTIONS) : await ofCopy(tab, OPTIONS) };
    }

    test.for(CROSSINGS)('a press of the one at crossing %i of a resume of the other goes on with it, until the answer has come', async (at, { world }) => {
      const { tab, one, other } = await afterLoss(world);
      let press: Promise<Awaited<ReturnType<World['end']>>> | undefined;
      let charges = 1;
      const begun = world.clock.now();
      tab.at(at, () => {
        if (world.clock.now() - begun >= SECOND) charges = 2;
        press = world.end(tab, send(other));
      });
      expect(await world.run(resumed(one))).toMatchObject([{ outcome: { effect: 'done' } }]);
      expect((await press)?.outcome).toMatchObject({ type: charges === 1 ? 'replayed' : 'fresh' });
      expect(world.server.charged.size).toBe(charges);
    });

    test.for(CROSSINGS)('a press of the one at crossing %i of a press of the other is another effect', async (at, { world }) => {
      const { tab, one, other } = await afterLoss(world);
      let second: Promise<Awaited<ReturnType<World['end']>>> | undefined;
      tab.at(at, () => {
        second = world.end(tab, send(other));
      });
      expect((await world.end(tab, send(one))).outcome).toMatchObject({ type: 'replayed' });
      expect((await second)?.outcome).toMatchObject({ type: 'fresh' });
      expect(world.server.charged.size).toBe(2);
    });
  },
);

describe('a run with child keys, in whose middle the user', () => {
  test.for<[string, (once: Once) => Promise<unknown>]>([
    ['logs out', (once) => clear(once)],
    ['is followed by another user', async () => {}],
  ])('%s: the run gets no second child key; resume runs nothing; the same run goes on with the first child key', async ([, leaves], { world }) => {
    let user = 'ann';
    const { tab, once } = world.open({ namespace: () => user, ...ONE });
    const made: string[] = [];
    const work = (between?: () => Promise<unknown>) =>
      watched(
        run(once, NAME, async ({ child }) => {
          made.push(child('reserve'));
          await between?.();
          made.push(child('pay'));
        }),
      );
    const out = async () => {
      await leaves(once);
      user = 'bob';
    };
    expect((await world.end(tab, work(out) as Promise<never>)).outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
    expect(made).toHaveLength(1);
    expect(await world.run(resumed(once))).toEqual([]);
    user = 'ann';
    const next = tab.reload();
    const again = next.once({ namespace: () => user });
    expect(await world.run(resumed(again))).toMatchObject([{ outcome: { effect: 'unknown', reason: 'record' } }]);
    await world.run(run(again, NAME, async ({ child }) => void made.push(child('reserve'), child('pay'))));
    expect(made).toEqual([made[0], made[0], expect.not.stringMatching(made[0] as string)]);
  });
});

describe("polling, repeat: 'if-changed', and a form that is edited while the work goes on", () => {
  const options = { accepted: 'poll', repeat: 'if-changed', namespace: 'ann', limits: { inProgressMs: 20 * SECOND } } as const;
  const [V1, V2] = [{ body: { v: 1 } }, { body: { v: 2 } }];

  /** Each key has a job, and another payload under the key is refused. `ended` holds the jobs that are done. */
  function jobs(server: ScriptedServer): Set<string> {
    const known = new Map<string | null, { readonly text: string; readonly job: string }>();
    const ended = new Set<string>();
    server.otherwise = async (arrival, of) => {
      if (arrival.method === 'GET') return idle(answers(200, { status: ended.has(arrival.url.split('/').at(-1) ?? '') ? 'done' : 'running' }))(arrival, of);
      const text = await textOf(arrival);
      const first = known.get(arrival.key);
      if (first && first.text !== text) return answers(422, { title: 'Idempotency-Key is already used' })(arrival, of);
      const job = first?.job ?? String(known.size + 1);
      known.set(arrival.key, { text, job });
      return answers(202, '', { location: `/jobs/${job}`, ...(first && { 'idempotent-replayed': 'true' }) })(arrival, of);
    };
    return ended;
  }

  describe.each(['the same page', 'another tab', 'the page after a reload'] as const)('in %s', (where) => {
    const pageOf = (tab: Tab): Tab => (where === 'the same page' ? tab : where === 'another tab' ? tab.world.tab() : tab.reload());

    test('the edited form has a key and a job of its own, and each call is told its own end', async ({ world, tab }) => {
      const ended = jobs(world.server);
      const once = tab.once(options);
      const first = pay(once, V1);
      await world.clock.advance(2 * SECOND);
      const other = pageOf(tab);
      const second = pay(other === tab ? once : other.once(options), V2);
      for (const job of ['1', '2']) {
        ended.add(job);
        await world.clock.advance(5 * SECOND);
      }
      const ends = where === 'the page after a reload' ? [] : [await world.end(tab, first)];
      for (const { outcome } of [...ends, await world.end(other, second)]) expect(outcome).toMatchObject({ effect: 'done', certain: true, changed: false });
      expect(await sent(world.server)).toEqual(['{"v":1}', '{"v":2}']);
    });

    test('edited back, after the answer to the first form was lost: each form has its effect, or the outcome says that this is not certain', async ({
      world,
      tab,
    }) => {
      const ended = jobs(world.server);
      const { otherwise } = world.server;
      const once = tab.once(options);
      await world.end(tab, pay(once, { ...V1, ...ONE }), async (arrival, server) => (await (otherwise as Entry)(arrival, server)) && lost()(arrival, server));
      const second = pay(once, V2);
      await world.clock.advance(3 * SECOND);
      const other = pageOf(tab);
      const third = pay(other === tab ? once : other.once(options), V1);
      for (const job of ['1', '2', '3']) {
        ended.add(job);
        await world.clock.advance(5 * SECOND);
      }
      if (where === 'the page after a reload') {
        // The new page cannot know that the server never accepted the edited form.
        expect((await world.end(other, third)).outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
        expect(world.server.charged.size).toBe(1);
        return;
      }
      for (const end of [await world.end(tab, second), await world.end(other, third)]) expect(end.outcome).toMatchObject({ effect: 'done', changed: false });
      expect(world.server.charged.size).toBe(3);
    });
  });
});

describe('reconcile is asked in two tabs at once, and says different things', () => {
  test.for([
    ['none', 'done', { type: 'fresh' }, { effect: 'unknown', reason: 'busy' }, 2],
    ['done', 'none', { effect: 'done', from: 'reconcile' }, { effect: 'unknown', reason: 'store' }, 1],
  ] as const)(
    '%s, then %s: the first answer decides, and the other tab is told nothing that contradicts it',
    async ([first, second, one, two, requests], { world }) => {
      await world.interrupted(charged(lost()));
      await world.clock.advance(2 * DAY);
      const said: (() => void)[] = [];
      const asks = (word: 'none' | 'done') => {
        const reconcile = () => new Promise<typeof word>((resolve) => said.push(() => resolve(word)));
        return world.open({ reconcile }, { locks: false });
      };
      const tabs = [asks(first), asks(second)];
      world.server.otherwise = honest();
      const calls = tabs.map(({ once }) => pay(once));
      await rest();
      expect(said).toHaveLength(2);
      for (const says of said) {
        says();
        await rest();
      }
      const ends = [];
      for (const [index, { tab }] of tabs.entries()) ends.push((await world.end(tab, calls[index] as Promise<Response>)).outcome);
      expect(ends).toMatchObject([one, two]);
      expect(world.server.arrivals).toHaveLength(requests);
    },
  );
});

test.for([true, false])(
  'a client is closed while a client that was extended from it sends: the screen shows unsettled (locks: %s)',
  async (locks, { world }) => {
    const { tab, once } = world.open({}, { locks });
    const screen = operation(extend(once, { limits: { attempts: 4 } }), NAME);
    screen.subscribe(() => {});
    const [call] = await world.begin(watched(screen.fetch(URL_, { method: 'POST', body: JSON.stringify(CART) })), delayed(5 * SECOND, charged(lost())));
    expect(screen.state).toMatchObject({ phase: 'sending' });
    const closed = close(once);
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await world.run(closed);
    expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { sent: 'maybe' } });
  },
);

describe('accepted work that another tab polls', () => {
  const options = { accepted: 'poll', namespace: 'ann' } as const;

  test.for<[string, (once: Once) => Promise<unknown>, object | undefined]>([
    ['a log-out', (once) => clear(once), undefined],
    ['forget', (once) => forget(once, NAME, { evenIfUnknown: true }), BUSY],
    ['settle as done', (once) => settle(once, NAME, 'done'), BUSY],
    ['settle as none', (once) => settle(once, NAME, 'none'), BUSY],
  ])('%s in this tab: the other tab is told the truth, and the next press is done, under the same key', async ([, act, refused]) => {
    for (const locks of [true, false]) {
      const world = newWorld();
      const [one, two] = [world.open(options, { locks }), world.open(options, { locks })];
      let status = 'running';
      world.server.otherwise = (arrival, server) => {
        const again = server.charged.has(arrival.key) && { 'idempotent-replayed': 'true' };
        return (arrival.method === 'GET' ? idle(answers(200, { status })) : charged(answers(202, '', { location: '/jobs/1', ...again })))(arrival, server);
      };
      const call = pay(one.once);
      await world.clock.advance(3 * SECOND);
      const acted = world.run(watched(act(two.once)));
      await (refused ? expect(acted).rejects.toMatchObject(refused) : acted);
      await world.clock.advance(3 * SECOND);
      status = 'done';
      const told = await world.end(one.tab, call);
      expect(told.outcome).toMatchObject(refused ? { effect: 'done' } : { effect: 'unknown', reason: 'busy' });
      expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ effect: 'done', key: told.outcome?.key });
      expect(new Set(world.server.keys.filter(Boolean)).size).toBe(1);
    }
  });
});

describe("keep.response: 'disk', and a store that fails at the second commit", () => {
  const LONG = { id: 'ch_1', text: 'x'.repeat(3000) };
  test.for([
    ['full', 1, { code: 'ERR_ONCE_ALREADY_SETTLED' }],
    ['full', 2, { status: 201 }],
    ['fail-before-commit', 1, { code: 'ERR_ONCE_ALREADY_SETTLED' }],
    ['fail-before-commit', 2, { status: 201 }],
    ['fail-after-commit', 2, { status: 201 }],
    ['hang', 2, { status: 201 }],
    // If the store could not even read the record, for example because another process locks it for some seconds, the client does not take it for full.
    ['look-fails', 1, { status: 201 }],
    ['hang', 1, { status: 201 }],
  ] as const)('%s, %i times: the outcome is done, even after a reload, and there is no second effect', async ([fault, times, then], { world, tab }) => {
    const options: OnceOptions = { namespace: 'ann', keep: { response: 'disk' } };
    const fails = (): void => tab.faults.next(...Array.from({ length: times }, () => fault));
    expect((await world.end(tab, pay(tab.once(options)), during(fails, charged(answers(201, LONG))))).outcome).toMatchObject({ type: 'fresh' });
    const next = tab.reload();
    world.server.otherwise = replays();
    expect(await world.end(next, pay(next.once(options)))).toMatchObject({ ...then, outcome: { type: 'replayed', effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

test.for(['look-fails', 'hang'] as const)(
  'a run whose end meets a store that is locked for some seconds (%s): the next process has its value',
  async (fault, { world }) => {
    const one = world.open({ namespace: 'ann' }, { server: true });
    const effect = vi.fn(async () => {
      one.tab.faults.next(fault);
      return { id: 1 };
    });
    expect(await world.run(run(one.once, NAME, effect))).toEqual({ id: 1 });
    expect(await world.run(run(one.tab.reload().once({ namespace: 'ann' }), NAME, effect))).toEqual({ id: 1 });
    expect(effect).toHaveBeenCalledTimes(1);
  },
);

describe("whenBusy: 'reject', and a tab that holds the operation and dies", () => {
  test.for([
    [true, 0],
    [false, 16 * SECOND],
  ] as const)('(locks: %s): the press is refused while that tab may live, and then goes on under its key', async ([locks, ms], { world }) => {
    const one = world.open({ namespace: 'n' }, { locks });
    const two = world.open({ namespace: 'n', whenBusy: 'reject' }, { locks });
    await world.begin(pay(one.once), charged(hangs()));
    expect(await world.end(two.tab, pay(two.once))).toMatchObject({ ...BUSY, outcome: { effect: 'unknown' } });
    one.tab.kill();
    await world.clock.advance(ms);
    expect((await world.end(two.tab, pay(two.once), replays())).outcome).toMatchObject({ type: 'replayed' });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

describe("durability: 'required', and a store that dies between the first and the second commit", () => {
  const REFUSED = idle(answers(402, { code: 'card_declined' }));
  test.for<[string, Entry, object, Entry, object]>([
    ['the charge', charged(answers(201)), { type: 'fresh' }, replays(), { type: 'replayed' }],
    ['a decline', REFUSED, { effect: 'unknown', reason: 'store' }, REFUSED, { effect: 'unknown', reason: 'refused-after-ambiguity' }],
    ['no answer', charged(lost()), { effect: 'unknown', reason: 'store' }, replays(), { type: 'replayed' }],
  ])('%s: the outcome claims no more than is certain, and the next page goes on under the key', async ([, meets, told, meetsThen, then], { world, tab }) => {
    const options = { durability: 'required', namespace: 'n' } as const;
    const dies = (): void => tab.faults.rate('look-fails', 1);
    expect((await world.end(tab, pay(tab.once(options)), during(dies, meets))).outcome).toMatchObject(told);
    const next = tab.reload();
    expect((await world.end(next, pay(next.once(options)), meetsThen)).outcome).toMatchObject(then);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('while the first attempt waits for the network: nothing is sent', async ({ world, tab }) => {
    const once = tab.once({ durability: 'required', namespace: 'n' });
    tab.connect(false);
    const [call] = await world.begin(pay(once));
    tab.faults.rate('look-fails', 1);
    tab.connect(true);
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
    expect(world.server.arrivals).toEqual([]);
  });
});

describe('a payload with the fingerprint of the first one and other bytes, at a server that compares bytes', () => {
  const fingerprint = ({ body }: { body: unknown }) => (body as { cart: string }).cart;
  const bodyOf = (at: number) => ({ body: { cart: 'c1', at } });
  /** The server replays its answer to the bytes of the first request, and calls all other bytes a mismatch. */
  const comparing = ({ server }: World): void => {
    server.otherwise = async (arrival, of) => {
      const same = (await textOf(arrival)) === (await textOf(server.arrivals[0] as Arrival));
      return (same ? replays() : answers(422, { title: 'Idempotency-Key is already used' }))(arrival, of);
    };
  };
  test.for([
    [true, { type: 'replayed', effect: 'done' }],
    // The page still has the first bytes, but in a request with the guest's credentials.
    [false, { effect: 'unknown', reason: 'bytes' }],
  ] as const)('after a log-in, finds out what happened only if the first request is stored (keep.request: %s)', async ([request, told], { world, tab }) => {
    const options = { fingerprint, keep: { request }, ...ONE };
    await world.end(tab, pay(tab.once({ namespace: 'guest', ...options }), bodyOf(1)), charged(lost()));
    const ann = tab.once({ namespace: 'ann', ...options });
    await world.run(move(ann, 'guest'));
    comparing(world);
    expect((await world.end(tab, pay(ann, bodyOf(2)))).outcome).toMatchObject(told);
    // A call with the first bytes finds out.
    expect((await world.end(tab, pay(ann, bodyOf(1)))).outcome).toMatchObject({ effect: 'done' });
  });

  test('is not stored for `resume` by another tab, which does not have the first bytes', async ({ world, tab }) => {
    const options = { fingerprint, namespace: 'ann', ...ONE };
    await world.end(tab, pay(tab.once(options), bodyOf(1)), charged(lost()));
    comparing(world);
    const other = world.tab();
    const keeping = { ...options, keep: { request: true } };
    expect((await world.end(other, pay(other.once(keeping), bodyOf(2)))).outcome).toMatchObject({ reason: 'bytes' });
    const next = other.reload();
    expect(await world.run(resumed(next.once(keeping)))).toMatchObject([{ outcome: { effect: 'unknown', reason: 'record' } }]);
    expect((await world.end(next, pay(next.once(keeping), bodyOf(1)))).outcome).toMatchObject({ effect: 'done' });
  });
});
