/**
 * Goal: while a function given to `run` has not ended, although its call has, other processes and tabs don't take "there was no effect" for a proof either:
 * the function may still charge, beside the charge of another one under the next key. When it has ended, they may. Method: two contexts share a store; in the
 * first one, a function that ignores its signal charges after its call has ended. With a lock manager, as tabs, and with leases, as processes.
 */
import { describe, expect, test } from 'vitest';
import { type Attempt, clear, move, type Once, run, settle } from '../../src/entries/index.js';
import { charging, slow as endsWhen } from '../support/slow-function.js';
import { MINUTE, NAME, newWorld, rest, SECOND, watched } from '../support/world.js';

const ONE = { limits: { attempts: 1, attemptMs: 300 } } as const;

describe.each([
  ['tabs with locks', { locks: true }],
  ['tabs without locks', { locks: false }],
  ['processes', { locks: false, server: true }],
])('%s', (_, kind) => {
  function scene(namespace: () => string = () => 'ann') {
    const { world, tab, once } = newWorld().open({ namespace }, kind);
    const second = tab.once({ namespace });
    const other = world.tab(kind);
    const otherOnce = other.once({ namespace });
    const call = (at: Once, effect: (attempt: Attempt) => unknown) =>
      world.end(at === once || at === second ? tab : other, watched(run(at, NAME, effect, ONE)) as Promise<never>);
    return { world, once, second, other, otherOnce, call, ...charging(world), none: (at: Once) => world.run(settle(at, NAME, 'none')) };
  }

  test("settle with 'none' is refused elsewhere, so that nothing is charged under another key", async () => {
    const { once, otherOnce, charges, charge, slow, call, wake, none } = scene();
    expect((await call(once, slow)).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
    await expect(none(otherOnce)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    expect((await call(otherOnce, charge)).outcome).toMatchObject({ effect: 'done' });
    await wake();
    expect(charges).toHaveLength(2);
    expect(new Set(charges).size).toBe(1);
  });

  test('another context goes on with the key at once', async () => {
    const { world, once, otherOnce, charge, slow, call } = scene();
    await call(once, slow);
    const since = world.clock.now();
    expect((await call(otherOnce, charge)).outcome).toMatchObject({ effect: 'done' });
    expect(world.clock.now() - since).toBeLessThan(SECOND);
  });

  test('also after minutes, and when the function has ended, it is accepted everywhere at once', async () => {
    const { world, once, otherOnce, slow, call, wake, none } = scene();
    await call(once, slow);
    await world.clock.advance(2 * MINUTE);
    await expect(none(otherOnce)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await expect(none(once)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await wake();
    await none(otherOnce);
  });

  test('of two functions of one key, the last one to end counts', async () => {
    const { once, otherOnce, slow, call, wake, none } = scene();
    const other = endsWhen();
    await call(once, slow);
    await call(once, other.effect);
    await other.end();
    await expect(none(otherOnce)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await wake();
    await none(otherOnce);
  });

  test('of two functions, of which the first one ends during the second call, and the second one within it: none runs any more', async () => {
    const { once, otherOnce, slow, call, wake, none } = scene();
    await call(once, slow);
    const failing = async () => {
      await wake();
      throw new Error('no answer');
    };
    expect((await call(once, failing)).outcome).toMatchObject({ effect: 'unknown' });
    await rest();
    await none(otherOnce);
  });

  test('of two functions, which two clients of one page or process called, too', async () => {
    const { once, second, otherOnce, slow, call, wake, none } = scene();
    await call(once, slow);
    await call(second, slow);
    await expect(none(otherOnce)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await wake();
    await none(otherOnce);
  });

  test('after a log-out, too', async () => {
    const { world, once, otherOnce, slow, call, none } = scene();
    const end = call(once, slow);
    await rest();
    await world.run(clear(otherOnce));
    await end;
    await expect(none(otherOnce)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  });

  test("after a log-in, the user's call goes on with the guest's key at once, and 'none' is refused", async () => {
    const { world, once, other, slow, charge, call, charges, wake } = scene();
    await call(once, slow);
    const user = other.once({ namespace: 'bob' });
    await world.run(move(user, 'ann'));
    await world.refusesNone(user);
    const since = world.clock.now();
    expect((await call(user, charge)).outcome).toMatchObject({ effect: 'done' });
    expect(world.clock.now() - since).toBeLessThan(SECOND);
    await wake();
    expect(new Set(charges).size).toBe(1);
  });
});
