/**
 * Goal: what is known of a function of `run` that goes on after its call stays known when `move` brings the operation to the user, and is over when the
 * function has ended. Method: functions of the guest and of the user, which end when the test says so, around a `move` on the same page or another one.
 */
import { describe, expect, test } from 'vitest';
import { type Attempt, move, type Once, run, settle } from '../../src/entries/index.js';
import { MINUTE, NAME, newWorld, rest, watched } from '../support/world.js';

const ONE = { limits: { attempts: 1, attemptMs: 300 } } as const;
const BUSY = { code: 'ERR_ONCE_BUSY' };

describe.each([
  ['tabs with locks', { locks: true }],
  ['tabs without locks', { locks: false }],
  ['processes', { locks: false, server: true }],
])('%s', (_, kind) => {
  function scene() {
    const world = newWorld();
    const [one, two] = [world.tab(kind), world.tab(kind)];
    const [guest, user, elsewhere] = [one.once({ namespace: 'guest' }), one.once({ namespace: 'ann' }), two.once({ namespace: 'ann' })];
    const keys: string[] = [];
    const slow = () => {
      let open = (): void => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const effect = ({ key }: Attempt) => {
        keys.push(key);
        return gate;
      };
      const end = async () => {
        open();
        await rest();
      };
      return { effect, end };
    };
    const call = async (at: Once, effect: (attempt: Attempt) => unknown) =>
      (await world.end(at === elsewhere ? two : one, watched(run(at, NAME, effect, ONE)) as Promise<never>)).outcome;
    const none = (at: Once) => world.run(settle(at, NAME, 'none'));
    return { world, guest, user, elsewhere, keys, slow, call, none };
  }

  test.for(['the same page', 'another page'])('move on %s, then its end: none is refused until then, and accepted afterwards', async (where) => {
    const { world, guest, user, elsewhere, slow, call, none } = scene();
    const { effect, end } = slow();
    expect(await call(guest, effect)).toMatchObject({ effect: 'unknown' });
    await world.run(move(where === 'the same page' ? user : elsewhere, 'guest'));
    await expect(none(user)).rejects.toMatchObject(BUSY);
    await expect(none(elsewhere)).rejects.toMatchObject(BUSY);
    await end();
    await world.clock.advance(5 * MINUTE);
    await none(elsewhere);
  });

  test('move on the same page: however long the function goes on, none is refused there', async () => {
    const { world, guest, user, slow, call, none } = scene();
    const { effect, end } = slow();
    await call(guest, effect);
    await world.run(move(user, 'guest'));
    await world.clock.advance(30 * MINUTE);
    await expect(none(user)).rejects.toMatchObject(BUSY);
    await end();
    await none(user);
  });

  test.for([true, false])("the user's function, too: none is refused until both have ended (the guest's last: %s)", async (guestLast) => {
    const { world, guest, user, elsewhere, keys, slow, call, none } = scene();
    const [first, second] = [slow(), slow()];
    await call(guest, first.effect);
    await world.run(move(user, 'guest'));
    expect(await call(user, second.effect)).toMatchObject({ effect: 'unknown' });
    expect(new Set(keys).size).toBe(1);
    await (guestLast ? second : first).end();
    await expect(none(user)).rejects.toMatchObject(BUSY);
    await expect(none(elsewhere)).rejects.toMatchObject(BUSY);
    await (guestLast ? first : second).end();
    // What the move has left in the record is nobody's to give back: it runs out.
    await world.clock.advance(5 * MINUTE);
    await none(elsewhere);
  });
});
