import { said } from '../../../shop/payments';
import { pay } from '../actions';
import { userHere } from '../user';

export default async function Page({ searchParams }: { searchParams: Promise<{ cart: string }> }) {
  const { cart } = await searchParams;
  return (
    <form action={pay}>
      <input type="hidden" name="cart" value={cart} />
      <input name="card" aria-label="Card" defaultValue="4242424242424242" />
      <button type="submit">Pay</button>
      <p role="status">{await said(await userHere(), cart)}</p>
    </form>
  );
}
