import { outcomeOf } from 'oncefetch';
import { useOperation } from 'oncefetch/react';
import { type ClientActionFunctionArgs, useFetcher, useLoaderData } from 'react-router';
import { mustLogIn, once, told } from '../../../shop/once';
import type { loader } from './action';

export { action, loader } from './action'; // without script the form is sent to this route, and is the same payment

export async function clientAction({ request }: ClientActionFunctionArgs) {
  const form = await request.formData();
  const call = once.fetch('/api/payments', { method: 'POST', body: form, once: ['pay', form.get('cart') as string] });
  const answer: unknown = await call.catch((error: unknown) => error);
  if (mustLogIn(answer)) throw new Response(null, { status: 401 });
  if (!outcomeOf(answer)) throw answer; // a bug; what became of the payment is in the state
  return null;
}

export default function Page() {
  const { cart, said } = useLoaderData<typeof loader>();
  const { state } = useOperation(once, ['pay', cart]);
  const fetcher = useFetcher();
  return (
    <fetcher.Form method="post">
      <input type="hidden" name="cart" value={cart} />
      <input name="card" aria-label="Card" defaultValue="4242424242424242" />
      <button type="submit">Pay</button>
      <p role="status">{told(state, said)}</p>
    </fetcher.Form>
  );
}
