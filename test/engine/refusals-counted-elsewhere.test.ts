/**
 * Goal: the two minutes after which the same refusal proves something are counted in the same way where features meet: with work behind a 202, and in an
 * outbox whose worker has just begun or has seen its clock set forward.
 */
import { describe, expect } from 'vitest';
import { clear, resumeInBackground } from '../../src/entries/index.js';
import { answers, charged, idle, lost } from '../support/server.js';
import { DAY, HOUR, MINUTE, newWorld, pay, SECOND, test } from '../support/world.js';

const DECLINE = answers(402, { error: 'declined' });
const UNSURE = { effect: 'unknown', reason: 'refused-after-ambiguity' };
const NONE = { type: 'rejected', effect: 'none' };
const ACCEPTED = answers(202, '', { location: '/jobs/1' });
const RUNNING = idle(answers(200, { status: 'running' }));

describe("accepted: 'poll'", () => {
  const options = { namespace: 'ann', accepted: 'poll', limits: { inProgressMs: SECOND } } as const;

  async function accepted() {
    const { world, tab, once } = newWorld().open(options);
    expect((await world.end(tab, pay(once), lost(), DECLINE)).outcome).toMatchObject(UNSURE);
    await world.clock.advance(MINUTE);
    world.server.plays(charged(ACCEPTED));
    world.server.otherwise = RUNNING;
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
    world.server.otherwise = undefined;
    return { world, tab, once };
  }

  test('a decline from before a 202 no longer counts, because the accepted work may have charged', async () => {
    const { world, tab, once } = await accepted();
    // A log-out removes the link, so the next press sends the request again.
    await world.run(clear(once));
    await world.clock.advance(2 * MINUTE);
    expect((await world.end(tab, pay(once), DECLINE)).outcome).toMatchObject({ ...UNSURE, retryAt: world.clock.now() + 2 * MINUTE });
  });

  test('a decline from before a 202 no longer counts, even if the page was closed while it polled the link', async ({ world }) => {
    const { tab, once } = world.open(options);
    expect((await world.end(tab, pay(once), lost(), DECLINE)).outcome).toMatchObject(UNSURE);
    const other = world.open(options);
    world.server.otherwise = (arrival, server) => {
      if (arrival.method === 'GET') tab.kill();
      return RUNNING(arrival, server);
    };
    world.server.plays(charged(ACCEPTED));
    void pay(once);
    await world.clock.advance(2 * MINUTE);
    world.server.otherwise = undefined;
    await world.run(clear(other.once));
    expect((await world.end(other.tab, pay(other.once), DECLINE)).outcome).toMatchObject(UNSURE);
  });

  test('accepted work that failed is none at once, whatever the clock says', async () => {
    const { world, tab, once } = await accepted();
    world.server.charged.clear();
    world.clock.jump(HOUR);
    expect((await world.end(tab, pay(once), idle(answers(200, { status: 'failed' })))).outcome).toMatchObject(NONE);
  });
});

describe('an outbox', () => {
  /** A payment that goes on in the background without its page: its answer was lost, then it was declined. */
  async function agreed() {
    const { world, tab, once } = newWorld().open({ namespace: 'ann' });
    expect((await world.end(tab, pay(once, { background: { untilMs: world.clock.now() + DAY } }), lost(), DECLINE)).outcome).toMatchObject(UNSURE);
    tab.kill();
    /** A worker that begins now. */
    const worker = () => {
      const once = world.open({ namespace: 'ann' }).once;
      return async () => {
        world.server.plays(DECLINE);
        const { open } = await world.run(resumeInBackground(once));
        return { open, state: world.record()?.state };
      };
    };
    return { world, worker };
  }

  test.each([
    ['has just begun', 10 * MINUTE, 0, 0],
    ['saw the clock set forward', 0, MINUTE, HOUR],
  ])('whose worker %s does not trust the time on the clock; two minutes later, the refusal proves none', async (_, before, seen, jump) => {
    const { world, worker } = await agreed();
    await world.clock.advance(before);
    const goOn = worker();
    await world.clock.advance(seen);
    world.clock.jump(jump);
    expect(await goOn()).toEqual({ open: 1, state: 'pending' });
    await world.clock.advance(2 * MINUTE);
    expect(await goOn()).toEqual({ open: 0, state: 'retired' });
  });

  test('starts the two minutes again after an attempt whose end is unknown', async () => {
    const { world, worker } = await agreed();
    const goOn = worker();
    await world.clock.advance(MINUTE);
    world.server.plays(lost());
    expect(await goOn()).toEqual({ open: 1, state: 'pending' });
    await world.clock.advance(MINUTE);
    expect(await goOn()).toEqual({ open: 1, state: 'pending' });
    await world.clock.advance(MINUTE);
    expect(await goOn()).toEqual({ open: 0, state: 'retired' });
  });
});
