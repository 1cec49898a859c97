import { charge } from '../../../../shop/payments';
import { userIfAny } from '../../user';

export async function POST(request: Request): Promise<Response> {
  const user = await userIfAny();
  if (!user) return new Response(null, { status: 401 });
  const form = await request.formData();
  return charge(user, form.get('cart') as string, String(form.get('card')));
}
