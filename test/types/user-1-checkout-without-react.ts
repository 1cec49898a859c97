// The checkout of user-1-checkout.tsx, without its components.
import ky from 'ky';
import { clear, createOnce, type Operation, operation, outcomeOf, type PendingOperation, pending, resumeOne, settle } from 'oncefetch';
import { withOnce } from 'oncefetch/ky';

// ---- api.ts: a module constant, made before anybody logs in
type Cart = { id: string; total: number };
type Receipt = { id: string };
declare const session: { userId: string };
export const once = createOnce({ namespace: () => session.userId });
export const api = withOnce(ky.create({ prefix: '/api' }), once);

// ---- checkout.ts: happy path, declined, unknown, edited cart
type View = { s: 'form'; problem?: string } | { s: 'unsure' } | { s: 'paid'; receipt: Receipt };
export function checkout(cart: Cart, set: (view: View) => void) {
  const payment: Operation = operation(once, ['pay', cart.id]);
  async function pay(card: string) {
    try {
      const receipt = await api.post('payments', { json: { cart, card }, once: { operation: payment.name, meta: { total: cart.total } } }).json<Receipt>();
      set({ s: 'paid', receipt });
    } catch (error) {
      switch (outcomeOf(error)?.effect) {
        case 'none': // declined or offline: nothing happened, a corrected form gets a new key
          return set({ s: 'form', problem: error instanceof Error ? error.message : '' });
        case 'unknown': // timeout, 401 after a timeout, edited cart: all the same screen
          return set({ s: 'unsure' });
        default: // a bug
          throw error;
      }
    }
  }
  const busy = () => payment.state.phase === 'sending' || payment.state.phase === 'waiting';
  const label = () => (payment.state.phase === 'waiting' && payment.state.why === 'in-progress' ? 'Your bank is working on it' : 'Pay');
  const stop = payment.subscribe(() => void [busy(), label()]);
  return { pay, stop, recheck: () => resumeOne(once, payment.name).then(() => location.reload()) };
}

// ---- banner.ts: after a reload, on any page
export async function banner() {
  const [last] = await pending(once, { prefix: ['pay'] });
  return last ? `Your payment of ${String((last.meta as { total: number }).total)} is still being confirmed` : undefined;
}
export async function check(p: PendingOperation) {
  const order = await api.get(`orders/by-cart/${String(p.name[1])}`).json<{ state: 'paid' | 'cancelled' | 'processing' }>();
  if (order.state !== 'processing') await settle(once, p.name, order.state === 'paid' ? 'done' : 'none');
}

// ---- logout.ts
export async function logOut() {
  const { kept } = await clear(once);
  return kept.length ? 'A payment is still being confirmed; we will show it when you log in again.' : 'Bye';
}
