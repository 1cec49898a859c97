/** What the shop itself says about a cart. */

export interface Receipt {
  readonly id: number;
  /** Cents. */
  readonly amount: number;
}

export interface Order {
  readonly state: 'paid' | 'processing' | 'open';
  readonly charges: readonly Receipt[];
}

export async function orderOf(cart: string): Promise<Order> {
  const response = await fetch(`/api/orders/by-cart/${encodeURIComponent(cart)}`);
  if (!response.ok) throw new Error(`the order of ${cart}: HTTP ${response.status}`);
  return (await response.json()) as Order;
}
