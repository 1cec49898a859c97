/** The body that every benchmark sends: 200 bytes of JSON. */
export const BODY = JSON.stringify({
  amount: 1999,
  currency: 'eur',
  customer: 'cus_0123456789',
  description: 'order 4711',
  items: [{ sku: 'A-1', qty: 2 }],
  metadata: { channel: 'web', cart: 'c0ffee' },
  note: 'xxxxxxxxxxxxxxxxxx',
});

export const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY } as const;
