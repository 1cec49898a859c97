import type { Cookies } from '@sveltejs/kit';
import { error } from '@sveltejs/kit';
import { charge } from '../../shop/payments';

/** The user of the session. A real shop verifies the cookie. */
export function userOf(cookies: Cookies): string {
  return cookies.get('user') ?? error(401, 'Log in first');
}

/** What a form has sent. */
export async function pay({ request, cookies }: { request: Request; cookies: Cookies }): Promise<Response> {
  const form = await request.formData();
  return charge(userOf(cookies), form.get('cart') as string, String(form.get('card')));
}
