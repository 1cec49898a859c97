'use server';
import { redirect } from 'next/navigation';
import { charge } from '../../shop/payments';
import { userHere } from './user';

export async function pay(form: FormData): Promise<void> {
  const cart = form.get('cart') as string;
  await charge(await userHere(), cart, String(form.get('card')));
  redirect(`/action?cart=${encodeURIComponent(cart)}`); // the page shows the current state, and reloading it sends nothing
}
