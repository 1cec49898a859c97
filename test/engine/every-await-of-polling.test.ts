/**
 * Goal: work behind a 202 takes effect once, and nobody is told otherwise, whatever happens while it is polled. Method: a payment is played again and
 * again, at a server that keeps its 202 for the key; each time something happens at another one of the awaits. Then the same button is pressed, or the
 * operation is resumed, on a calm page.
 */
import { describe, expect, test } from 'vitest';
import { clear, close, move, type OnceOptions, pending, resumeOne, settle } from '../../src/entries/index.js';
import { type Arrival, lost, type ScriptedServer, textOf } from '../support/server.js';
import { CART, type End, HOUR, MINUTE, NAME, newWorld, pay, SECOND, type World, watched } from '../support/world.js';

/** The user who is logged in. */
let user = 'guest';
const OPTIONS: OnceOptions = { namespace: () => user, accepted: 'poll', keep: { request: true }, limits: { inProgressMs: 20 * SECOND, totalMs: MINUTE } };
const AWAITS_MAX = 80;

interface Job {
  readonly key: string | null;
  readonly text: string;
  asked: number;
  done: boolean;
}

/** Each key has one job, which ends when it has been asked for twice. `loses`: the answer to the first request. */
function jobs({ server }: World, fails: boolean, loses: boolean): Map<string, Job> {
  const all = new Map<string, Job>();
  server.otherwise = async (arrival: Arrival, of: ScriptedServer) => {
    if (arrival.method === 'GET') {
      const job = all.get(arrival.url.split('/').at(-1) ?? '');
      if (!job) return new Response('', { status: 404 });
      const ends = ++job.asked > 1;
      job.done ||= ends && !fails;
      if (job.done) of.charged.add(job.key);
      return Response.json({ state: !ends ? 'running' : fails ? 'failed' : 'done' });
    }
    const text = await textOf(arrival);
    const known = [...all].find(([, { key }]) => key === arrival.key);
    if (known && known[1].text !== text) return Response.json({ title: 'Idempotency-Key is already used' }, { status: 422 });
    const id = known?.[0] ?? String(all.size + 1);
    if (!known) all.set(id, { key: arrival.key, text, asked: 0, done: false });
    if (!known && loses && all.size === 1) return lost()(arrival, of);
    return new Response('', { status: 202, headers: { location: `/jobs/${id}`, ...(known && { 'idempotent-replayed': 'true' }) } });
  };
  return all;
}

function open(fails: boolean, loses: boolean, options: OnceOptions, of: Parameters<World['open']>[1] = {}) {
  const world = newWorld();
  user = 'guest';
  const all = jobs(world, fails, loses);
  return { all, options, ...world.open(options, of) };
}
type Scene = ReturnType<typeof open>;

const effects = (all: Map<string, Job>): number => [...all.values()].filter(({ done }) => done).length;

/** Checks that nobody was told a lie, and that a press, or a resume and then a press, ends the operation. */
async function endsWell({ world, tab: before, all, options }: Scene, fails: boolean, by: 'press' | 'resume', told: End | undefined): Promise<void> {
  expect(effects(all)).toBeLessThanOrEqual(1);
  if (told?.outcome?.effect === 'done') expect(effects(all)).toBe(1);
  if (told?.outcome?.effect === 'none' && told.outcome.type === 'rejected') expect(fails).toBe(true);
  const tab = world.tab();
  tab.skewMs = before.skewMs;
  const once = tab.once(options);
  const press = () => world.end(tab, pay(once));
  let next = by === 'press' ? await press() : await world.end(tab, watched(resumeOne(once, NAME)));
  for (let more = 0; more < 3 && next.outcome?.effect !== (fails ? 'none' : 'done'); more++) next = await press();
  expect(next.outcome).toMatchObject({ effect: fails ? 'none' : 'done' });
  expect(effects(all)).toBe(fails ? 0 : 1);
  expect(await world.run(pending(once))).toEqual([]);
}

type Play = (scene: Scene, count: number) => Promise<End | undefined>;

const HAPPENINGS: Record<string, Play> = {
  'the tab dies': async ({ world, tab, once }, count) => {
    tab.at(count, () => tab.kill());
    void pay(once);
    await world.clock.advance(2 * MINUTE);
    return undefined;
  },
  'the tab freezes, another one goes on, and it thaws': async ({ world, tab, once, options }, count) => {
    tab.at(count, () => tab.freeze());
    const call = pay(once);
    await world.clock.advance(SECOND);
    const other = world.tab();
    const second = await world.end(other, pay(other.once(options)));
    tab.thaw();
    const first = await world.end(tab, call);
    return second.outcome?.effect === 'done' ? second : first;
  },
  'the caller aborts, and presses again at once': async ({ world, tab, once }, count) => {
    const controller = new AbortController();
    let again: Promise<Response> | undefined;
    tab.at(count, () => {
      controller.abort();
      again = pay(once);
    });
    const end = await world.end(tab, pay(once, { signal: controller.signal }));
    return again ? world.end(tab, again) : end;
  },
  'the user logs out in another tab': async ({ world, tab, once, all, options }, count) => {
    const other = world.tab().once(options);
    const cleared: Promise<unknown>[] = [];
    tab.at(count, () => void cleared.push(clear(other)));
    const end = await world.end(tab, pay(once));
    await world.run(Promise.all(cleared));
    if (world.record()?.state !== 'pending' && effects(all) === 1) await world.run(settle(other, NAME, 'done'));
    return end;
  },
  'the guest logs in, and another tab moves what is open': async ({ world, tab, once, options }, count) => {
    const other = world.tab().once(options);
    const moved: Promise<unknown>[] = [];
    tab.at(count, () => {
      user = 'ann';
      moved.push(move(other, 'guest'));
    });
    const end = await world.end(tab, pay(once));
    await world.run(Promise.all(moved));
    // The client stores no refusal of a moved operation until the guest's attempt must have ended.
    await world.clock.advance(MINUTE);
    // A settled operation stays with the guest, so the customer goes back to the guest's page.
    if (world.record(NAME)?.state === 'settled') user = 'guest';
    return end;
  },
  'the client is closed': async ({ world, tab, once }, count) => {
    let closed: Promise<void> | undefined;
    tab.at(count, () => void (closed = close(once)));
    const end = await world.end(tab, pay(once));
    await world.run(closed ?? Promise.resolve());
    return end;
  },
  'the clock is set back by ten hours, and then is right again': clockSet(-10 * HOUR),
  'the clock is set forward by an hour': clockSet(HOUR),
  'the store fails once': async ({ world, tab, once }, count) => {
    tab.at(count, () => tab.faults.next('fail-after-commit'));
    return world.end(tab, pay(once));
  },
};

function clockSet(byMs: number): Play {
  return async ({ world, tab, once }, count) => {
    tab.at(count, () => void (tab.skewMs = byMs));
    const end = await world.end(tab, pay(once));
    expect(end.ms).toBeLessThan(2 * MINUTE);
    tab.skewMs = Math.max(0, byMs);
    return end;
  };
}

/** Plays the scene once for every await of the payment, and checks how it can be ended. */
async function atEveryAwait(
  fails: boolean,
  loses: boolean,
  play: Play,
  options: OnceOptions,
  of: Parameters<World['open']>[1],
  ends: (scene: Scene, told: End | undefined) => Promise<void>,
): Promise<void> {
  const calm = open(fails, loses, options, of);
  const before = calm.tab.crossings;
  await calm.world.end(calm.tab, pay(calm.once));
  const awaits = calm.tab.crossings - before;
  expect(awaits).toBeGreaterThan(8);
  expect(awaits).toBeLessThan(AWAITS_MAX);
  for (let count = 1; count <= awaits; count++) {
    const scene = open(fails, loses, options, of);
    const told = await play(scene, count);
    await ends(scene, told).catch((cause: unknown) => {
      throw new Error(`await ${count} of ${awaits}: told ${JSON.stringify(told?.outcome)}, jobs ${JSON.stringify([...scene.all])}`, { cause });
    });
  }
}

describe.each([
  ['work that ends', false, false],
  ['work that fails', true, false],
  ['work that ends, whose 202 is lost', false, true],
  ['work that fails, whose 202 is lost', true, true],
] as const)('%s', (_, fails, loses) => {
  describe.each(Object.entries(HAPPENINGS))('%s at any await', (_, play) => {
    test.each(['press', 'resume'] as const)('%s', (by) => atEveryAwait(fails, loses, play, OPTIONS, {}, (scene, told) => endsWell(scene, fails, by, told)));
    test('in a process', () => atEveryAwait(fails, loses, play, OPTIONS, { locks: false }, (scene, told) => endsWell(scene, fails, 'press', told)));
  });
});

const EDITED = { ...CART, amount: 20 };
/**
 * Left out are a log-out, after which the link and the first form are gone, so that the server's refusal of the edited form leaves the outcome unknown,
 * and, with `always`, whatever presses twice, because a second press means a second effect.
 */
const NOT_EDITED: Readonly<Record<string, readonly string[]>> = {
  never: ['logs out'],
  'if-changed': ['logs out'],
  always: ['logs out', 'another one goes on', 'presses again'],
};

describe.each(['never', 'if-changed', 'always'] as const)('repeat: %s, and an edited form is pressed on a calm page', (repeat) => {
  const happenings = Object.entries(HAPPENINGS).filter(([what]) => !NOT_EDITED[repeat]?.some((part) => what.includes(part)));
  describe.each([
    ['work that ends', false],
    ['work that fails', true],
  ] as const)('%s', (_, fails) => {
    test.each(happenings)('%s at any await', async (_, play) => {
      await atEveryAwait(fails, false, play, { ...OPTIONS, repeat }, {}, async ({ world, tab: before, all, options }, told) => {
        const tab = world.tab();
        tab.skewMs = before.skewMs;
        const press = () => world.end(tab, pay(tab.once(options), { body: EDITED }));
        let end = await press();
        for (let more = 0; more < 3 && end.outcome?.effect === 'unknown'; more++) end = await press();
        expect(end.outcome).toMatchObject({ effect: fails ? 'none' : 'done' });
        const done = (cart: object) => [...all.values()].filter((job) => job.done && job.text === JSON.stringify(cart)).length;
        expect(done(CART)).toBeLessThanOrEqual(1);
        if (told?.outcome?.effect === 'done') expect(done(CART)).toBe(1);
        if (repeat !== 'never') expect(done(EDITED)).toBe(fails ? 0 : 1);
        else expect(done(CART) + done(EDITED)).toBe(fails ? 0 : 1);
        // Nobody gets the answer to the other form.
        if (end.response?.ok) expect([...all.values()].at(-1)?.text).toBe(JSON.stringify(EDITED));
      });
    });
  });
});
