/**
 * Goal: what goes on without the page is never read by the rules of another server. Method: the page has a vendor's dialect, by which a
 * declined card is a 200, and its answer is lost; a worker with other dialects goes on.
 */
import { describe, expect, test } from 'vitest';
import { adyen, stripe } from '../../src/entries/dialects.js';
import { background, hooks, type OnceOptions, type Outcome, resumeInBackground } from '../../src/entries/index.js';
import { answers, idle, lost } from '../support/server.js';
import { says } from '../support/texts.js';
import { MINUTE, newWorld, ONE, pay } from '../support/world.js';

const DECLINED = idle(answers(200, { resultCode: 'Refused' }));

/** Ann's page, whose card is declined and whose answer is lost, and a worker with these options. */
async function scene(ofPage: OnceOptions, ofWorker: OnceOptions) {
  const world = newWorld();
  const all: OnceOptions = { namespace: 'ann', use: [background(), hooks()] };
  const page = world.open({ ...all, ...ofPage });
  await world.end(page.tab, pay(page.once, { ...ONE, background: { untilMs: world.clock.now() + 10 * MINUTE } }), idle(lost()));
  page.tab.kill();
  const told: Outcome[] = [];
  const worker = world.open({ ...all, onOutcome: (outcome) => void told.push(outcome), ...ofWorker }, { name: 'worker' });
  world.server.otherwise = DECLINED;
  const { open } = await world.run(resumeInBackground(worker.once));
  return {
    world,
    all,
    reported: worker.tab.reported.map(String),
    ended: { open, told: told.map(({ effect }) => effect), sent: world.server.arrivals.length - 1 },
  };
}

describe('a declined card of Adyen, whose answer the page has lost', () => {
  test.each<[string, OnceOptions, string]>([
    ['that lacks the dialect', {}, 'generic'],
    ['with the dialect of another vendor', { dialect: stripe() }, 'stripe'],
    ['whose `dialect` function gives another one', { dialect: () => stripe() }, 'stripe'],
  ])('a worker %s sends nothing, and says why; the next page learns that it was declined', async (_, ofWorker, own) => {
    const { world, all, ended, reported } = await scene({ dialect: adyen() }, ofWorker);
    expect(ended).toEqual({ open: 1, told: [], sent: 0 });
    expect(reported).toEqual([expect.stringContaining(`, got ${own}; the call had adyen`)]);
    expect(reported[0]).toContain(says('dialect must be the one that the call was made with', 'dialect: dialect-other'));
    const next = world.open({ ...all, dialect: adyen() });
    expect(await world.end(next.tab, pay(next.once))).toMatchObject({ outcome: { effect: 'none' } });
  });

  test.each<[string, OnceOptions, OnceOptions]>([
    ['the same dialect', { dialect: adyen() }, { dialect: adyen() }],
    ['the same dialect, which only the worker takes from a function', { dialect: adyen() }, { dialect: () => adyen() }],
    ['the same dialect, which only the page takes from a function', { dialect: () => adyen() }, { dialect: adyen() }],
  ])('a worker with %s learns that it was declined', async (_, ofPage, ofWorker) => {
    const { ended, reported } = await scene(ofPage, ofWorker);
    expect([ended, reported]).toEqual([{ open: 0, told: ['none'], sent: 1 }, []]);
  });

  test('a worker whose `dialect` function throws reports that, and sends nothing', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const { ended, reported } = await scene({ dialect: adyen() }, { dialect: broken });
    expect([ended.sent, ended.open, new Set(reported)]).toEqual([0, 1, new Set(['Error: broken'])]);
  });
});
