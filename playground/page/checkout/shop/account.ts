/** Log in and out: what becomes of payments that are still open. */

import { clear, move } from 'oncefetch';
import { giveCart } from './cart.ts';
import { once } from './client.ts';
import { session, type User } from './session.ts';

/** The guests whose payments are to come along to a user, until they have. */
const placeOf = (user: string): string => `shop.moving.${user}`;
const guestsOf = (user: string): readonly string[] => JSON.parse(localStorage.getItem(placeOf(user)) ?? '[]') as string[];
const save = (user: string, guests: readonly string[]): void => localStorage.setItem(placeOf(user), JSON.stringify(guests));

/** A guest's open payments and cart come along. */
export async function logIn(user: User): Promise<void> {
  const before = session.user;
  if (session.isGuest) {
    giveCart(before.id, user.id);
    save(user.id, [...guestsOf(user.id), before.id]);
  }
  session.become(user);
  await arrive();
}

/**
 * Lets the user in once what the guest had open has come along: a press before that would be a payment of its own. In each tab, and
 * at each start, because a page may have been closed in the middle of it.
 */
export async function arrive(): Promise<void> {
  const user = session.id;
  for (const guest of guestsOf(user)) {
    // Where the store fails, nobody is let in. `move` brings them to whoever is here, who may be somebody else by the next try.
    while (session.id === user && !(await comesAlong(guest))) await new Promise((resolve) => setTimeout(resolve, 1000));
    if (session.id !== user) return;
    save(
      user,
      guestsOf(user).filter((one) => one !== guest),
    );
  }
  session.arrive();
}

const comesAlong = (guest: string): Promise<boolean> =>
  move(once, guest).then(
    () => true,
    () => false,
  );

/** Clears what can be read, while the session is still there; keeps the keys of what is open. What to tell the user. */
export async function logOut(): Promise<string> {
  const kept = await clear(once).then(
    ({ kept }) => kept.length,
    () => undefined,
  );
  // Where the store fails, too: whoever is here next must not be in this session.
  session.become();
  session.arrive();
  if (kept === undefined) return 'You are logged out, but this device could not be cleared.';
  return kept > 0 ? 'A payment is still being confirmed. We will show it when you log in again.' : 'You are logged out.';
}

session.follow(arrive);
