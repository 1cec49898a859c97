/** The cart of each user, as a shop's server would keep it. */
import { useState } from 'react';

export interface Cart {
  readonly id: string;
  readonly bags: number;
}

const PRICE_CENTS = 2100;
export const BAGS_MAX = 9;
export const totalOf = ({ bags }: Cart): number => bags * PRICE_CENTS;
export const euros = (cents: number): string => `€${(cents / 100).toFixed(2)}`;

const placeOf = (user: string): string => `shop.cart.${user}`;
const newCart = (): Cart => ({ id: `cart-${crypto.randomUUID().slice(0, 8)}`, bags: 2 });

function load(user: string): Cart {
  const stored = localStorage.getItem(placeOf(user));
  return stored === null ? save(user, newCart()) : (JSON.parse(stored) as Cart);
}

function save(user: string, cart: Cart): Cart {
  localStorage.setItem(placeOf(user), JSON.stringify(cart));
  return cart;
}

/** The cart of a guest becomes the user's cart, unless the user has left a cart here. */
export function giveCart(guest: string, user: string): void {
  if (localStorage.getItem(placeOf(user)) === null) save(user, load(guest));
  localStorage.removeItem(placeOf(guest));
}

/** An edited cart keeps its id, because it is the same purchase. Only "Shop again" makes another cart. */
export function useCart(user: string): { cart: Cart; setBags: (bags: number) => void; startAnother: () => void } {
  const [cart, show] = useState(() => load(user));
  return { cart, setBags: (bags) => show(save(user, { ...cart, bags })), startAnother: () => show(save(user, newCart())) };
}
