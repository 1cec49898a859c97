/** Log in and out: what becomes of payments that are still open. */

import { clear, move } from 'oncefetch';
import { giveCart } from './cart.ts';
import { once } from './client.ts';
import { session, type User } from './session.ts';

/** Whose payments come along to whom, until they have. */
const MOVING = 'shop.moving';

/** A guest's open payments and cart come along. */
export async function logIn(user: User): Promise<void> {
  const before = session.user;
  if (session.isGuest) {
    giveCart(before.id, user.id);
    localStorage.setItem(MOVING, JSON.stringify([before.id, user.id]));
  }
  session.become(user);
  await arrive();
}

/**
 * Lets the user in once what the guest had open has come along: a press before that would be a payment of its own. In each tab, and
 * at each start, because a page may have been closed in the middle of it.
 */
export async function arrive(): Promise<void> {
  const [guest, user] = JSON.parse(localStorage.getItem(MOVING) ?? '[]') as string[];
  if (guest && user === session.id) {
    // Where the store fails, nobody is let in.
    while (
      !(await move(once, guest).then(
        () => true,
        () => false,
      ))
    )
      await new Promise((resolve) => setTimeout(resolve, 1000));
    localStorage.removeItem(MOVING);
  }
  session.arrive();
}

/** Clears what can be read, while the session is still there; keeps the keys of what is open. What to tell the user. */
export async function logOut(): Promise<string> {
  const { kept } = await clear(once);
  session.become();
  session.arrive();
  return kept.length > 0 ? 'A payment is still being confirmed. We will show it when you log in again.' : 'You are logged out.';
}

session.follow(arrive);
