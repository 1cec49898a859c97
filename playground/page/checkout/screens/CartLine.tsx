import { BAGS_MAX, type Cart, euros, totalOf } from '../shop/cart.ts';

export function CartLine({ cart, setBags }: { cart: Cart; setBags: (bags: number) => void }) {
  return (
    <section aria-labelledby="cart">
      <h2 id="cart">Your cart</h2>
      <label>
        Bags of coffee
        <input
          type="number"
          min={1}
          max={BAGS_MAX}
          inputMode="numeric"
          autoComplete="off"
          value={cart.bags}
          onChange={({ target }) => target.checkValidity() && target.value !== '' && setBags(target.valueAsNumber)}
        />
      </label>
      <p>
        Total <strong>{euros(totalOf(cart))}</strong>
      </p>
    </section>
  );
}
