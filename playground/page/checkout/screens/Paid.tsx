/** The receipt. The page asks the shop for it, because it may have been another page that got the answer. */
import { Suspense, use, useState } from 'react';
import { type Cart, euros, totalOf } from '../shop/cart.ts';
import { orderOf, type Receipt } from '../shop/orders.ts';

export function Paid({ cart }: { cart: Cart }) {
  const [receipt] = useState(() =>
    orderOf(cart.id).then(
      ({ charges }) => charges[0],
      () => undefined,
    ),
  );
  return (
    <Suspense fallback="Paid. Thank you!">
      <Says cart={cart} receipt={receipt} />
    </Suspense>
  );
}

function Says({ cart, receipt }: { cart: Cart; receipt: Promise<Receipt | undefined> }) {
  const paid = use(receipt);
  if (!paid) return 'Paid. Thank you!';
  return (
    <p className="paid">
      Paid {euros(paid.amount)}. Thank you! Receipt no. {paid.id}.{paid.amount !== totalOf(cart) && ' This is the cart as it was before you changed it.'}
    </p>
  );
}
