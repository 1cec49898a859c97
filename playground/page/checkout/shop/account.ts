/** Log-in and log-out, and what they do with unsettled payments. */

import { clear, move } from 'oncefetch';
import { giveCart } from './cart.ts';
import { once } from './client.ts';
import { session, type User } from './session.ts';

/** The guests whose payments still have to move to a user. Kept in `localStorage` until the move succeeds. */
const placeOf = (user: string): string => `shop.moving.${user}`;
const guestsOf = (user: string): readonly string[] => JSON.parse(localStorage.getItem(placeOf(user)) ?? '[]') as string[];
const save = (user: string, guests: readonly string[]): void => localStorage.setItem(placeOf(user), JSON.stringify(guests));

/** Logs a user in. The cart and the unsettled payments of the guest move to the user. */
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
 * Shows the checkout only after the guest's unsettled payments have moved, because pressing Pay before that would start
 * a second payment. Every tab does this when it starts, because a page may have been closed in the middle of the move.
 */
export async function arrive(): Promise<void> {
  const user = session.id;
  for (const guest of guestsOf(user)) {
    // If the store fails, the checkout stays closed. `move` moves payments to the current user, so each try first checks
    // that the user is still the same.
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

/** Clears what can be read while the session still exists, but keeps the keys of unsettled payments. Returns what to tell the user. */
export async function logOut(): Promise<string> {
  const kept = await clear(once).then(
    ({ kept }) => kept.length,
    () => undefined,
  );
  // Done even if the store failed, so that the next person at this device is not in this session.
  session.become();
  session.arrive();
  if (kept === undefined) return 'You are logged out, but this device could not be cleared.';
  return kept > 0 ? 'A payment is still being confirmed. We will show it when you log in again.' : 'You are logged out.';
}

session.follow(arrive);
