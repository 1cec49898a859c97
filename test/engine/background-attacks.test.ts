/**
 * Goal: a consent covers only its own payload, and only until its time, and what it covers is not lost on the way. Method:
 * sequences in which an edit, a later call, a late read or a short outage comes between the page and the worker.
 */
import { describe, expect, test } from 'vitest';
import { background, hooks, move, type OnceOptions, type Outcome, resumeInBackground } from '../../src/entries/index.js';
import { type Arrival, answers, charged, delayed, type Entry, lost, replays, textOf } from '../support/server.js';
import type { TabOptions } from '../support/tab.js';
import { says } from '../support/texts.js';
import { MINUTE, newWorld, ONE, type PayOptions, pay, resumed, SECOND, type World, watched } from '../support/world.js';

const OTHER = { cart: 'c1', amount: 11 };

/** Ann's page, and a worker that shares store and locks with it. */
function scene(ofWorker: OnceOptions = {}, of: TabOptions = {}) {
  const world = newWorld();
  const who: { user: string } = { user: 'ann' };
  const all: OnceOptions = { namespace: () => who.user, use: [background(), hooks()] };
  const page = world.open(all, of);
  const told: Outcome[] = [];
  const worker = world.open({ ...all, onOutcome: (outcome) => void told.push(outcome), ...ofWorker }, { ...of, name: 'worker' });
  const inMs = (ms: number) => ({ background: { untilMs: world.clock.now() + ms } });
  const pays = async (more: PayOptions, reply: Entry = lost()) => {
    return world.end(page.tab, pay(page.once, { ...ONE, ...more }), reply);
  };
  const goOn = () => world.run(resumeInBackground(worker.once));
  return { world, who, page, worker, told, inMs, pays, goOn };
}

describe('a request that was stored for a consent alone', () => {
  test.each([['with a consent of its own', true] as const, ['without one', false] as const])(
    'is removed when another payload %s takes its place',
    async (_, agreed) => {
      const { world, inMs, pays, goOn } = scene();
      await pays(inMs(MINUTE), charged(lost()));
      await pays({ body: OTHER, ...(agreed && inMs(MINUTE)) });
      expect(world.record()?.earlier ?? []).toEqual([]);
      await world.clock.advance(10 * MINUTE);
      await goOn();
      expect(JSON.stringify(world.record())).not.toContain('amount');
    },
  );

  test('is not sent after its time by `resume` either', async () => {
    const { world, inMs, pays, worker } = scene();
    await pays(inMs(MINUTE));
    await world.clock.advance(10 * MINUTE);
    for (const { outcome } of await world.run(resumed(worker.once))) expect(outcome.effect).toBe('unknown');
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('stays after its time if a later call asked to keep it', async () => {
    const { world, inMs, pays, goOn } = scene();
    await pays(inMs(MINUTE));
    await pays({ keep: { request: true } });
    await world.clock.advance(10 * MINUTE);
    await goOn();
    expect(world.record()?.request).toMatchObject({ method: 'POST', consent: undefined });
  });

  test('stays after its time if an earlier call asked to keep it', async () => {
    const { world, inMs, pays, goOn } = scene();
    await pays({ keep: { request: true } });
    await pays(inMs(MINUTE));
    expect(world.record()?.request?.consent).toMatchObject({ alone: false });
    await world.clock.advance(10 * MINUTE);
    await goOn();
    expect(world.record()?.request).toMatchObject({ method: 'POST', consent: undefined });
  });

  test('is removed after its time if an earlier call asked to keep another payload', async () => {
    const { world, inMs, pays, goOn } = scene();
    await pays({ keep: { request: true } });
    await pays({ body: OTHER, ...inMs(MINUTE) });
    await world.clock.advance(10 * MINUTE);
    await goOn();
    expect(world.record()?.request).toBeUndefined();
    expect(JSON.stringify(world.record()?.earlier)).toContain('10');
  });
});

test('a request that is sent without the page follows no redirect that the page’s own call would have refused', async () => {
  const effects: string[] = [];
  // A release has moved the address, and the new address knows no key of the old one.
  const fetch: NonNullable<OnceOptions['fetch']> = async (_, init) => {
    if (init?.redirect === 'error') throw new TypeError('Failed to fetch');
    effects.push('at the new address');
    return Response.json({});
  };
  const { inMs, pays, goOn } = scene({ fetch, limits: { attempts: 1 } });
  await pays({ ...inMs(MINUTE), init: { redirect: 'error' } }, charged(lost()));
  expect(await goOn()).toEqual({ open: 1 });
  expect(effects).toEqual([]);
});

test('a press that joins a call under way adds no consent of its own', async () => {
  const { world, page, inMs, goOn } = scene();
  await world.begin(watched(pay(page.once, ONE)), delayed(SECOND, lost()));
  await world.begin(watched(pay(page.once, { ...ONE, ...inMs(10 * MINUTE) })));
  page.tab.kill();
  expect(await goOn()).toEqual({ open: 0 });
  expect(world.record()?.request).toBeUndefined();
});

test('a time without an end is refused, because a store of JSON could not keep it', async () => {
  const { world, page } = scene();
  const { error } = await world.end(page.tab, pay(page.once, { background: { untilMs: Number.POSITIVE_INFINITY } }));
  expect(String(error)).toMatch(says(/RangeError.*untilMs must be a time in ms since 1970, got Infinity/, /RangeError.*untilMs: wall-time, got Infinity/));
  expect(world.records).toEqual([]);
});

test('a worker whose client lacks the feature is refused, because it would send a payload that nobody agreed to', async () => {
  const { world, page, inMs, worker } = scene({ use: [] });
  const [first] = await world.begin(watched(pay(page.once, { ...inMs(10 * MINUTE), ...ONE })), delayed(SECOND, lost()), delayed(SECOND, lost()));
  const [asked] = await world.begin(watched(resumeInBackground(worker.once)));
  const edited = watched(pay(page.once, { body: OTHER, ...ONE, keep: { request: true } }));
  await world.all(page.tab, first, edited);
  await expect(world.run(asked)).rejects.toThrow(/resumeInBackground needs background\(\)/);
  expect(world.server.arrivals.map(({ from }) => from)).not.toContain('worker');
});

test.each([
  ['done', answers(201), { effect: 'done' }],
  ['refused', answers(402), { effect: 'none', type: 'rejected' }],
] as const)('a worker that waited for a page tells how the operation ended: %s', async (_, reply, ended) => {
  const { world, page, inMs, worker, told } = scene();
  const [call] = await world.begin(watched(pay(page.once, { ...inMs(10 * MINUTE), ...ONE })), delayed(5 * SECOND, reply));
  const [asked] = await world.begin(watched(resumeInBackground(worker.once)));
  await world.run(asked);
  expect((await world.end(page.tab, call)).outcome).toMatchObject(ended);
  expect(told).toMatchObject([ended]);
});

test.each<[string, Entry | undefined]>([
  ['none', undefined],
  ['done', answers(201)],
  ['declined', answers(402, { code: 'card_declined' })],
  ['refused, and its key stays in use', answers(422, { code: 'no_such_address' })],
])(
  'a worker waits for a page, whose customer cancels before anything is sent: the worker tells no outcome; earlier operation of the name: %s',
  async (_, before) => {
    const { world, page, inMs, worker, told } = scene();
    if (before) await world.end(page.tab, pay(page.once), before);
    page.tab.online = false;
    const cancel = new AbortController();
    const [press] = await world.begin(watched(pay(page.once, { ...inMs(10 * MINUTE), repeat: 'always', signal: cancel.signal })));
    const [going] = await world.begin(watched(resumeInBackground(worker.once)));
    cancel.abort(new Error('cancelled'));
    const { error } = await world.end(page.tab, press);
    expect(await world.run(going)).toEqual({ open: 0 });
    expect(page.tab.outcomeOf(error)).toMatchObject({ type: 'unsent' });
    expect(told).toEqual([]);
  },
);

test('after such a cancelled press, the worker does not tell the outcome of a later press without a consent either', async () => {
  const { world, page, inMs, worker, told } = scene({}, { locks: false });
  page.tab.online = false;
  const cancel = new AbortController();
  const [press] = await world.begin(watched(pay(page.once, { ...inMs(10 * MINUTE), signal: cancel.signal })));
  const [going] = await world.begin(watched(resumeInBackground(worker.once)));
  cancel.abort(new Error('cancelled'));
  await world.end(page.tab, press);
  page.tab.online = true;
  await world.end(page.tab, pay(page.once), answers(201));
  expect(await world.run(going)).toEqual({ open: 0 });
  expect(told).toEqual([]);
});

test('a guest logs in while the worker drives the operation: it goes on as an operation of the user, and its end is stored', async () => {
  const { world, who, page, worker, inMs, pays, goOn } = scene();
  who.user = 'guest';
  await pays(inMs(10 * MINUTE), charged(lost()));
  const [going] = await world.begin(resumeInBackground(worker.once), delayed(5 * SECOND, answers(503)));
  who.user = 'ann';
  await world.run(move(page.once, 'guest'));
  await world.run(going);
  world.server.plays(replays());
  expect(await goOn()).toEqual({ open: 0 });
  expect(world.record()).toMatchObject({ state: 'settled' });
  expect(new Set(world.server.keys).size).toBe(1);
});

describe('a payment that was never sent, of a page that is gone,', () => {
  /** Calls `act` between the worker's claim and its attempt. */
  const through = async (act: (who: { user: string }, online: (is: boolean) => void) => void) => {
    let meets = true;
    const headers = () => {
      if (meets) act(who, (is) => worker.tab.connect(is));
      return {};
    };
    const { world, page, inMs, goOn, told, who, worker } = scene({ headers });
    page.tab.online = false;
    await world.begin(watched(pay(page.once, inMs(60 * MINUTE))));
    page.tab.kill();
    await goOn();
    expect(told).toMatchObject([{ effect: 'unknown', attempts: 0 }]);
    // The record is still clean, so that the request may also go to a server that knows no keys.
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false, firstSentAt: undefined });
    meets = false;
    who.user = 'ann';
    worker.tab.connect(true);
    world.server.plays(answers(201));
    expect(await goOn()).toEqual({ open: 0 });
    expect(told.at(-1)).toMatchObject({ type: 'fresh' });
  };

  test('survives a hook that fails', () =>
    through(() => {
      throw new Error('no token');
    }));
  test('survives another user who logs in before it is sent', () => through((who) => void (who.user = 'bob')));
  test('survives a network that is lost before it is sent', () =>
    through((_, online) => {
      online(false);
      throw new Error('no network');
    }));
});

describe.each([
  ['with locks', {}],
  ['without locks', { locks: false }],
  ['on a server', { locks: false, server: true }],
] as const)('an operation that goes on beside a press of another payload, %s,', (_, of) => {
  test.each([
    ['the customer cancels the press', true],
    ['the press is not cancelled', false],
  ] as const)('does not join the press, and sends nothing that nobody agreed to: %s', async (_, cancels) => {
    const { world, page, inMs, pays } = scene({}, of);
    await pays({ ...inMs(10 * MINUTE), keep: { request: true } });
    // `resumeInBackground` finds the operation before the press is stored.
    page.tab.faults.next('none', { name: 'slow', ms: 3 * SECOND });
    const cancel = new AbortController();
    const going = resumeInBackground(page.once);
    const press = watched(pay(page.once, { ...ONE, body: OTHER, signal: cancel.signal }));
    if (!cancels) world.server.plays(answers(201));
    await world.clock.advance(SECOND);
    if (cancels) cancel.abort(new Error('cancelled'));
    await world.run(going);
    const pressed = await world.end(page.tab, press);
    const sent = world.server.arrivals.slice(1).map(({ body }) => JSON.parse(String(body)) as unknown);
    expect([sent, pressed.outcome?.effect, world.record()?.state]).toEqual(cancels ? [[], 'unknown', 'pending'] : [[OTHER], 'done', 'settled']);
  });
});

describe('a consent to a payload that was first sent with other bytes of the same fingerprint, on a server that compares bytes', () => {
  const fingerprint = ({ body }: { body: unknown }) => (body as { cart: string }).cart;
  const bodyOf = (at: number) => ({ body: { cart: 'c1', at } });
  const bodies = async ({ server }: World) => (await Promise.all(server.arrivals.map(textOf))).map((body) => JSON.parse(body).at);
  /** For the server, a key stands for the first bytes that came with it. */
  const comparing = (world: World): void => {
    world.server.otherwise = async (arrival, server) => {
      const other = (await textOf(arrival)) !== (await textOf(server.arrivals[0] as Arrival));
      return (other ? answers(422, { title: 'Idempotency-Key is already used' }) : replays())(arrival, server);
    };
  };

  test.each(['in the page that has them', 'after a reload'])('%s: the worker sends the first bytes or nothing', async (where) => {
    const world = newWorld();
    const tab = world.tab();
    const options = { namespace: 'ann', fingerprint, ...ONE };
    const once = tab.once(options);
    await world.end(tab, pay(once, bodyOf(1)), charged(lost()));
    const page = where === 'after a reload' ? tab.reload() : tab;
    const again = page === tab ? once : page.once(options);
    const agreed = { background: { untilMs: world.clock.now() + MINUTE } };
    await world.end(page, pay(again, { ...bodyOf(2), ...agreed }), lost());
    comparing(world);
    const later = page.reload();
    const worker = later.once(options);
    await world.run(resumeInBackground(worker));
    expect((await world.end(later, pay(worker, bodyOf(1)))).outcome).toMatchObject({ effect: 'done' });
    expect(await bodies(world)).toEqual(page === tab ? [1, 1, 1] : [1, 2, 1]);
  });
});
