/** The customer and the cart. Shared by all tabs of this browser, as a shop's session is. */

const PRICE_CENTS = 2100;

export interface Cart {
  readonly id: string;
  readonly quantity: number;
  /** Some lane has begun to pay it. */
  readonly started: boolean;
}

export interface Order {
  readonly cart: string;
  /** Cents. */
  readonly amount: number;
  /** What a payment provider gives for a card: a real shop keeps a token here, never a card number. */
  readonly card: string;
}

/** A provider's numbers for trying things out. */
export const CARDS = { works: '4242424242424242', declined: '4000000000000002' } as const;

const CUSTOMER = 'playground.customer';
const CART = 'playground.cart';

const shortId = (): string => crypto.randomUUID().slice(0, 6);

/** Whose operations these are. */
export function customer(): string {
  const known = localStorage.getItem(CUSTOMER) ?? `customer-${shortId()}`;
  localStorage.setItem(CUSTOMER, known);
  return known;
}

export const amountOf = ({ quantity }: Pick<Cart, 'quantity'>): number => quantity * PRICE_CENTS;

export const euros = (cents: number): string => `€${(cents / 100).toFixed(2)}`;

/** Whether this browser has been here before. */
export const isNewcomer = (): boolean => localStorage.getItem(CART) === null;

export function loadCart(): Cart {
  const stored = localStorage.getItem(CART);
  return stored === null ? newCart() : (JSON.parse(stored) as Cart);
}

export function saveCart(cart: Cart): Cart {
  localStorage.setItem(CART, JSON.stringify(cart));
  return cart;
}

export const newCart = (): Cart => saveCart({ id: `cart-${shortId()}`, quantity: 2, started: false });

/** Calls back when another tab changes the cart. */
export const onCartOfOtherTab = (changed: (cart: Cart) => void): void =>
  addEventListener('storage', ({ key, newValue }) => {
    if (key === CART && newValue !== null) changed(JSON.parse(newValue) as Cart);
  });
