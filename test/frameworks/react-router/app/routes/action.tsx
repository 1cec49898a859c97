import { type ActionFunctionArgs, Form, type LoaderFunctionArgs, redirect, useLoaderData } from 'react-router';
import { said } from '../../../shop/payments';
import { pay } from '../pay.server';
import { userOf } from '../user.server';

export async function loader({ request }: LoaderFunctionArgs) {
  const cart = new URL(request.url).searchParams.get('cart') ?? '';
  return { cart, said: await said(userOf(request), cart) };
}

export async function action({ request }: ActionFunctionArgs) {
  await pay(request);
  return redirect(request.url); // the page shows the current state, and reloading it sends nothing
}

export default function Page() {
  const { cart, said } = useLoaderData<typeof loader>();
  return (
    <Form method="post">
      <input type="hidden" name="cart" value={cart} />
      <input name="card" aria-label="Card" defaultValue="4242424242424242" />
      <button type="submit">Pay</button>
      <p role="status">{said}</p>
    </Form>
  );
}
