'use server';
import { charge, said } from '../../../shop/payments';
import { userHere } from '../user';

/** What the page says afterwards. `before`: what it said before; the hidden field with the cart names the payment. */
export async function pay(_before: string, form: FormData): Promise<string> {
  const cart = String(form.get('cart'));
  const user = await userHere();
  await charge(user, cart, String(form.get('card')));
  return said(user, cart);
}
