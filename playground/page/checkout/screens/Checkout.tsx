/** The payment of one cart. The state of the operation decides which screen is shown, whichever page or tab started the payment. */
import type { OperationState } from 'oncefetch';
import { useOperation } from 'oncefetch/react';
import { useActionState } from 'react';
import type { Cart } from '../shop/cart.ts';
import { once } from '../shop/client.ts';
import { check, type Problem, pay } from '../shop/pay.ts';
import { Paid } from './Paid.tsx';
import { PayForm } from './PayForm.tsx';
import { Status } from './Status.tsx';
import { Unsure } from './Unsure.tsx';

export function Checkout({ cart, onAnother }: { cart: Cart; onAnother: () => void }) {
  const { state } = useOperation(once, ['pay', cart.id]);
  const [problem, act] = useActionState(
    async (_: Problem, form: FormData): Promise<Problem> => (form.has('check') ? check(cart.id) : pay(cart, String(form.get('card')))),
    '',
  );
  const busy = state.phase === 'sending' || state.phase === 'waiting';
  const paid = state.phase === 'settled' && state.outcome.effect === 'done';
  return (
    <section aria-labelledby="payment">
      <h2 id="payment">Payment</h2>
      <Status>
        {paid ? <Paid cart={cart} /> : busy ? progressOf(state) : state.phase === 'unsettled' ? <Unsure cart={cart} pending={state.pending} /> : problem}
      </Status>
      {paid ? (
        <button type="button" onClick={onAnother}>
          Shop again
        </button>
      ) : (
        <PayForm cart={cart} action={act} busy={busy} unsure={state.phase === 'unsettled'} />
      )}
    </section>
  );
}

const WAITS = {
  backoff: 'No answer yet. Asking again.',
  'retry-after': 'The shop is busy. Asking again in a moment.',
  'in-progress': 'Your bank is working on it.',
  offline: 'You are offline. It goes on with the network.',
  'another-context': 'Another tab is paying this cart.',
} as const;

const progressOf = (state: OperationState): string => (state.phase === 'waiting' ? WAITS[state.why] : 'Paying…');
