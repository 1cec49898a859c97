'use server';
import { formAction } from 'oncefetch/form';
import { bank, book, onceFor, said } from '../../../shop/payments';
import { userHere } from '../user';

const payOnce = formAction(async () => onceFor(await userHere()), {
  operation: (form) => ['pay', form.get('cart') as string], // a hidden field that the server rendered
  effect: ({ key }, form) => bank(key, form.get('cart') as string, String(form.get('card'))),
  tell: async ({ value }, form) => {
    const [user, cart] = [await userHere(), form.get('cart') as string];
    if (value) await book(user, cart, value);
    return said(user, cart);
  },
});

export async function pay(...args: Parameters<typeof payOnce>): ReturnType<typeof payOnce> {
  return payOnce(...args); // a redirect belongs here
}
