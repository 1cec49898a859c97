import { type Actions, redirect, type ServerLoad } from '@sveltejs/kit';
import { said } from '../../../../shop/payments';
import { pay, userOf } from '../../pay';

export const load: ServerLoad = async ({ url, cookies }) => {
  const cart = url.searchParams.get('cart') ?? '';
  return { cart, said: await said(userOf(cookies), cart) };
};

export const actions: Actions = {
  default: async (event) => {
    await pay(event);
    redirect(303, event.url); // the page shows the current state, and reloading it sends nothing
  },
};
