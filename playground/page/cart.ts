/** The customer and the cart. All tabs of this browser share them, as they share the session of a shop. */

const PRICE_CENTS = 2100;

export interface Cart {
  readonly id: string;
  readonly quantity: number;
  /** Whether a lane has begun to pay the cart. */
  readonly started: boolean;
}

export interface Order {
  readonly cart: string;
  /** Cents. */
  readonly amount: number;
  /** What a payment provider gives for a card: a real shop keeps a token here, never a card number. */
  readonly card: string;
}

/** Test numbers of a payment provider. */
export const CARDS = { works: '4242424242424242', declined: '4000000000000002' } as const;

const CUSTOMER = 'playground.customer';
const CART = 'playground.cart';

const shortId = (): string => crypto.randomUUID().slice(0, 6);

/** The customer's id, which is the namespace of the operations. */
export function customer(): string {
  const known = localStorage.getItem(CUSTOMER) ?? `customer-${shortId()}`;
  localStorage.setItem(CUSTOMER, known);
  return known;
}

export const amountOf = ({ quantity }: Pick<Cart, 'quantity'>): number => quantity * PRICE_CENTS;

export const euros = (cents: number): string => `€${(cents / 100).toFixed(2)}`;

/** Whether this browser opens the page for the first time. */
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
