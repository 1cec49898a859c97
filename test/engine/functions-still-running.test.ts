/**
 * Goal: while a function given to `run` has not ended, although its time was over and its signal aborted, nothing counts as a proof that there is no effect:
 * the function may still make its call under this key, beside the call of another one under the next key. Method: a function that ignores its signal and
 * charges after the call has ended; the test counts charges.
 */
import { expect, test } from 'vitest';
import { type Attempt, type OnceOptions, type RunOptions, run, settle, type Verdict } from '../../src/entries/index.js';
import { answers, charged } from '../support/server.js';
import { charging } from '../support/slow-function.js';
import { MINUTE, NAME, newWorld, ONE, pay, watched } from '../support/world.js';

const declined = () => Response.json({ code: 'card_declined' }, { status: 402 });

function scene(options: OnceOptions = {}) {
  const { world, tab, once } = newWorld().open({ namespace: 'ann', ...options });
  const call = (effect: (attempt: Attempt) => unknown, more: RunOptions<unknown> = ONE) =>
    world.end(tab, watched(run(once, NAME, effect, more)) as Promise<never>);
  return { world, once, call, ...charging(world), none: () => world.run(settle(once, NAME, 'none')) };
}

test("settle with 'none' is refused, and accepted once the function has ended", async () => {
  const { charges, charge, slow, call, wake, none } = scene();
  expect((await call(slow)).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
  await expect(none()).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  await wake();
  expect((await call(charge)).outcome).toMatchObject({ effect: 'done' });
  // The server knows the key of both.
  expect(new Set(charges).size).toBe(1);
});

test("settle with 'none' is accepted after a function that has ended late, with or without an error", async () => {
  const { slow, call, wake, none } = scene();
  const failing = async (attempt: Attempt) => {
    await slow(attempt);
    throw new Error('declined');
  };
  await call(failing);
  await wake();
  await none();
  await call(async () => 'ch_2');
});

test('settle with done is accepted', async () => {
  const { once, world, slow, call, wake } = scene();
  await call(slow);
  await world.run(settle(once, NAME, 'done'));
  await wake();
});

test("a reconcile that says 'none' does not count", async () => {
  const { charges, slow, call, wake } = scene({ reconcile: async () => 'none' });
  const end = await call((attempt) => (attempt.attempt === 1 ? slow(attempt) : declined()), { limits: { attempts: 2 } });
  expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
  await wake();
  expect(charges).toHaveLength(1);
});

test.each<[string, (attempt: Attempt) => unknown, Verdict | undefined]>([
  ['a Response', declined, undefined],
  ['the word of verdict', () => Promise.reject(new Error('declined')), 'rejected'],
])('a refusal by %s that comes again after two minutes proves nothing', async (_, refuse, said) => {
  const { world, charges, slow, call, wake } = scene();
  const verdict = (end: object) => ('error' in end ? said : undefined);
  await call((attempt) => (attempt.attempt === 1 ? slow(attempt) : refuse(attempt)), { limits: { attempts: 2 }, verdict });
  await world.clock.advance(3 * MINUTE);
  expect((await call(refuse, { ...ONE, verdict })).outcome).toMatchObject({ effect: 'unknown' });
  await wake();
  expect(charges).toHaveLength(1);
});

test('while it runs, an answer that it is done counts', async () => {
  const { charge, slow, call } = scene();
  await call(slow);
  expect((await call(charge)).outcome).toMatchObject({ effect: 'done' });
});

test('while it runs, a refusal that the server repeats for the key counts: the function would get the same', async () => {
  const { slow, call } = scene();
  await call(slow);
  const repeated = () => Response.json({ code: 'card_declined' }, { status: 402, headers: { 'idempotent-replayed': 'true' } });
  expect((await call(repeated)).outcome).toMatchObject({ effect: 'none' });
});

test('a refusal from before its end is not the first of the two that prove that there is no effect', async () => {
  const { world, slow, call, wake } = scene();
  await call(slow);
  await call(declined);
  await world.clock.advance(3 * MINUTE);
  await wake();
  expect((await call(declined)).outcome).toMatchObject({ effect: 'unknown' });
});

test('while it runs, the refusal of a call under another name proves nothing: it may make that call anew, and go on', async () => {
  const { world, once, call, slow, charge, charges, wake } = scene();
  const check = { operation: ['check', 'c1'] };
  world.server.plays(answers(402, { code: 'declined' }, { 'idempotent-replayed': 'true' }));
  const end = await call((attempt) => (attempt.attempt === 1 ? slow(attempt) : pay(once, check)), { limits: { attempts: 2 } });
  expect(end).toMatchObject({ status: 402, outcome: { effect: 'unknown' } });
  await wake();
  world.server.plays(charged(answers(201)));
  const checked = async (attempt: Attempt) => {
    await pay(once, check);
    return charge(attempt);
  };
  expect((await call(checked)).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(charges).size).toBe(1);
});
