import { charge } from '../../../../shop/payments';
import { userHere } from '../../user';

export async function POST(request: Request): Promise<Response> {
  const form = await request.formData();
  return charge(await userHere(), String(form.get('cart')), String(form.get('card')));
}
