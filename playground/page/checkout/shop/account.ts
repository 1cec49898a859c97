/** Log in and out: what becomes of payments that are still open. */

import { clear, move } from 'oncefetch';
import { giveCart } from './cart.ts';
import { once } from './client.ts';
import { session, type User } from './session.ts';

/** A guest's open payments and cart come along. */
export async function logIn(user: User): Promise<void> {
  const before = session.user;
  const guest = session.isGuest;
  session.become(user);
  if (guest) {
    giveCart(before.id, user.id);
    await move(once, before.id);
  }
  session.changed();
}

/** Clears what can be read, while the session is still there; keeps the keys of what is open. What to tell the user. */
export async function logOut(): Promise<string> {
  const { kept } = await clear(once);
  session.become();
  session.changed();
  return kept.length > 0 ? 'A payment is still being confirmed. We will show it when you log in again.' : 'You are logged out.';
}
