import { charge } from '../../../../shop/payments';
import { userHere } from '../../user';

export async function POST(request: Request): Promise<Response> {
  const form = await request.formData();
  return charge(await userHere(), form.get('cart') as string, String(form.get('card')));
}
