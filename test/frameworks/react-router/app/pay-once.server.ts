import { type ActionState, formAction } from 'oncefetch/form';
import { bank, book, onceFor, said } from '../../shop/payments';
import { userOf } from './user.server';

/** Pays once with what a form has sent, and returns the state afterwards. */
export async function payOnce(request: Request): Promise<ActionState<string>> {
  const user = userOf(request);
  const action = formAction(onceFor(user), {
    operation: (form) => ['pay', form.get('cart') as string], // a hidden field that the server rendered
    effect: ({ key }, form) => bank(key, form.get('cart') as string, String(form.get('card'))),
    tell: async ({ value }, form) => {
      const cart = form.get('cart') as string;
      if (value) await book(user, cart, value);
      return said(user, cart);
    },
  });
  return action(undefined, await request.formData());
}
