import { type ActionFunctionArgs, Form, useActionData, useLoaderData } from 'react-router';
import { payOnce } from '../pay-once.server';
import type { loader } from './action';

export { loader } from './action';

export const action = ({ request }: ActionFunctionArgs) => payOnce(request);

export default function Page() {
  const { cart, said } = useLoaderData<typeof loader>();
  const told = useActionData<typeof action>();
  return (
    <Form method="post">
      <input type="hidden" name="cart" value={cart} />
      <input name="card" aria-label="Card" defaultValue="4242424242424242" />
      <button type="submit">Pay</button>
      <p role="status">{told?.said ?? said}</p>
    </Form>
  );
}
