/**
 * Goal: what goes on without a press is never read by the rules of another server. Method: the page has a vendor's dialect, by which a declined
 * card is a 200, and its answer is lost; another client goes on: in a worker, or in a page by `resume`.
 */
import { describe, expect, test } from 'vitest';
import { adyen, stripe, truelayer } from '../../src/entries/dialects.js';
import {
  background,
  hooks,
  type OnceOptions,
  type Outcome,
  pending,
  polling,
  reconciling,
  requests,
  resumeInBackground,
  resumeOne,
} from '../../src/entries/index.js';
import { answers, charged, type Entry, idle, lost, replays } from '../support/server.js';
import { says } from '../support/texts.js';
import { HOUR, MINUTE, NAME, newWorld, ONE, pay, resumed, watched } from '../support/world.js';

const DECLINED = idle(answers(200, { resultCode: 'Refused' }));
const USE = [background(), hooks(), requests(), polling(), reconciling()];

/** Ann's page, whose card is declined and whose answer is lost, and another client with these options. */
async function scene(ofPage: OnceOptions, ofOther: OnceOptions, ...fates: readonly Entry[]) {
  const world = newWorld();
  const all: OnceOptions = { namespace: 'ann', use: USE, keep: { request: true } };
  const page = world.open({ ...all, ...ofPage });
  await world.end(page.tab, pay(page.once, { ...ONE, background: { untilMs: world.clock.now() + 10 * MINUTE } }), ...(fates.length ? fates : [idle(lost())]));
  page.tab.kill();
  const told: Outcome[] = [];
  const other = world.open({ ...all, onOutcome: (outcome) => void told.push(outcome), ...ofOther }, { name: 'other' });
  world.server.otherwise = DECLINED;
  return { all, ...other, told: () => told.map(({ effect }) => effect), sent: () => world.server.arrivals.length - 1 };
}

type Scene = Awaited<ReturnType<typeof scene>>;

/** The ways in which an operation goes on without a press. */
const WAYS: readonly [string, (of: Scene) => Promise<unknown>][] = [
  ['in the background', ({ world, once }) => world.run(resumeInBackground(once))],
  ['by resume', ({ world, once }) => world.run(resumed(once))],
  ['by resumeOne', ({ world, once }) => world.run(watched(resumeOne(once, NAME))).catch(() => {})],
];

describe.each(WAYS)('a declined card of Adyen, whose answer the page has lost, goes on %s', (_, goesOn) => {
  test.each<[string, OnceOptions, string]>([
    ['that lacks the dialect', {}, 'generic'],
    ['with the dialect of another vendor', { dialect: stripe() }, 'stripe'],
    ['whose `dialect` function gives another one', { dialect: () => stripe() }, 'stripe'],
  ])('a client %s sends nothing, and says why; the next press learns that it was declined', async (_, ofOther, own) => {
    const of = await scene({ dialect: adyen() }, ofOther);
    await goesOn(of);
    expect([of.told(), of.sent()]).toEqual([['unknown'], 0]);
    const reported = of.tab.reported.map(String);
    expect(reported).toEqual([expect.stringContaining(`, got ${own}; the call had adyen`)]);
    expect(reported[0]).toContain(says('dialect must be the one that the call was made with', 'dialect: dialect-other'));
    const next = of.world.open({ ...of.all, dialect: adyen() });
    expect(await of.world.end(next.tab, pay(next.once))).toMatchObject({ outcome: { effect: 'none' } });
  });

  test.each<[string, OnceOptions, OnceOptions]>([
    ['the same dialect', { dialect: adyen() }, { dialect: adyen() }],
    ['the same dialect, which only it takes from a function', { dialect: adyen() }, { dialect: () => adyen() }],
    ['the same dialect, which only the page takes from a function', { dialect: () => adyen() }, { dialect: adyen() }],
  ])('a client with %s learns that it was declined', async (_, ofPage, ofOther) => {
    const of = await scene(ofPage, ofOther);
    await goesOn(of);
    expect([of.told(), of.sent(), of.tab.reported]).toEqual([['none'], 1, []]);
  });

  test('a client whose `dialect` function throws reports that, and sends nothing', async () => {
    const thrown = new Error('broken');
    const broken = () => {
      throw thrown;
    };
    const of = await scene({ dialect: adyen() }, { dialect: broken });
    await goesOn(of);
    expect([of.told(), of.sent(), of.tab.reported]).toEqual([['unknown'], 0, [thrown]]);
  });

  test('a client that lacks the dialect learns what `reconcile` says', async () => {
    const of = await scene({ dialect: adyen() }, { reconcile: async () => 'done' }, charged(lost()));
    await goesOn(of);
    expect([of.told(), of.sent()]).toEqual([['done'], 0]);
  });

  test('a client that lacks the dialect does not ask for the work behind a link', async () => {
    const accepted = { accepted: 'poll', limits: { inProgressMs: 1, attempts: 1 } } as const;
    const of = await scene({ ...accepted, dialect: adyen() }, accepted, answers(202, {}, { location: '/jobs/1' }), lost());
    const arrived = of.sent();
    await goesOn(of);
    expect([of.told(), of.sent()]).toEqual([['unknown'], arrived]);
  });

  test('the shorter key window of a client that lacks the dialect does not count for the next press', async () => {
    const of = await scene({ dialect: truelayer() }, {}, charged(lost()));
    await goesOn(of);
    await of.world.clock.advance(25 * HOUR);
    of.world.server.otherwise = replays();
    const next = of.world.open({ ...of.all, dialect: truelayer() });
    expect(await of.world.end(next.tab, pay(next.once))).toMatchObject({ outcome: { effect: 'done' } });
  });
});

test('what does not go on in the background counts as open', async () => {
  const { world, once } = await scene({ dialect: adyen() }, {});
  expect(await world.run(resumeInBackground(once))).toEqual({ open: 1 });
});

test('a client in the same page that lacks the dialect does not send what the page still has in memory', async () => {
  const world = newWorld();
  const tab = world.tab();
  await world.end(tab, pay(tab.once({ dialect: adyen() }), ONE), idle(lost()));
  await expect(world.run(watched(resumeOne(tab.once(), NAME)))).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { attempts: 0 } });
});

test.each<[string, OnceOptions, boolean]>([
  ['the dialect of the call', { dialect: adyen() }, true],
  ['another dialect', {}, false],
  // What the function gives for the request shows when it is resumed.
  ['a `dialect` function', { dialect: () => adyen() }, true],
])('`pending` of a client with %s says whether it would send the request', async (_, ofOther, resumable) => {
  const { world, once } = await scene({ dialect: adyen() }, ofOther);
  expect(await world.run(pending(once))).toMatchObject([{ resumable }]);
});
