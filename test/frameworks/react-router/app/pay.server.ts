import { charge } from '../../shop/payments';
import { userOf } from './user.server';

/** What a form has sent. */
export async function pay(request: Request): Promise<Response> {
  const form = await request.formData();
  return charge(userOf(request), form.get('cart') as string, String(form.get('card')));
}
