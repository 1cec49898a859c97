// ---- api.ts: a module constant, made before anybody logs in
import ky from 'ky';
import { clear, createOnce, outcomeOf, type PendingOperation, resumeOne, settle } from 'oncefetch';
import { withOnce } from 'oncefetch/ky';
import { useOperation, usePending } from 'oncefetch/react';
import { useState } from 'react';

type Cart = { id: string; total: number };
type Receipt = { id: string };
declare const session: { userId: string };
export const once = createOnce({ namespace: () => session.userId });
export const api = withOnce(ky.create({ prefix: '/api' }), once);

// ---- Checkout.tsx: happy path, declined, unknown, edited cart
type View = { s: 'form'; problem?: string } | { s: 'unsure' } | { s: 'paid'; receipt: Receipt };
export function Checkout({ cart }: { cart: Cart }) {
  const [view, set] = useState<View>({ s: 'form' });
  const payment = useOperation(once, ['pay', cart.id]);
  async function pay(card: string) {
    try {
      const receipt = await api.post('payments', { json: { cart, card }, once: { operation: payment.name, meta: { total: cart.total } } }).json<Receipt>();
      set({ s: 'paid', receipt });
    } catch (error) {
      switch (outcomeOf(error)?.effect) {
        case 'none':
          return set({ s: 'form', problem: error instanceof Error ? error.message : '' }); // declined or offline: nothing happened, a corrected form gets a new key
        case 'unknown':
          return set({ s: 'unsure' }); // timeout, 401 after a timeout, edited cart: all the same screen
        default:
          throw error; // a bug
      }
    }
  }
  const busy = payment.state.phase === 'sending' || payment.state.phase === 'waiting';
  return (
    <form action={() => pay('tok')}>
      <button type="submit" disabled={busy}>
        {payment.state.phase === 'waiting' && payment.state.why === 'in-progress' ? 'Your bank is working on it' : 'Pay'}
      </button>
      {view.s === 'unsure' && (
        <button type="button" onClick={() => void resumeOne(once, payment.name).then(() => location.reload())}>
          Check my payment
        </button>
      )}
    </form>
  );
}
// ---- Banner.tsx: after a reload, on any page
export function Banner() {
  const [last] = usePending(once, { prefix: ['pay'] });
  return last ? (
    <p role="status">
      Your payment of {String((last.meta as { total: number }).total)} is still being confirmed{' '}
      <button type="button" onClick={() => void check(last)}>
        Check
      </button>
    </p>
  ) : null;
}
async function check(p: PendingOperation) {
  const order = await api.get(`orders/by-cart/${String(p.name[1])}`).json<{ state: 'paid' | 'cancelled' | 'processing' }>();
  if (order.state !== 'processing') await settle(once, p.name, order.state === 'paid' ? 'done' : 'none');
}
// ---- logout.ts
export async function logOut() {
  const { kept } = await clear(once);
  return kept.length ? 'A payment is still being confirmed; we will show it when you log in again.' : 'Bye';
}
