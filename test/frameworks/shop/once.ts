/** The browser's client. Browser and server code both import it. */
import { createOnce, namespace, type OperationState } from 'oncefetch';

export const once = createOnce({ namespace: () => /(?:^|; )user=(\w+)/.exec(document.cookie)?.[1] ?? '' });

/** Whether the session is over. `answer`: what the call gave or threw. */
export const mustLogIn = (answer: unknown): boolean => namespace(once) === undefined || (answer instanceof Response && answer.status === 401);

/** What the customer is told about a payment that this browser sent. `said`: what the server knew when it rendered the page. */
export function told(state: OperationState, said: string): string {
  if (said.startsWith('Paid')) return said;
  if (state.phase === 'sending' || state.phase === 'waiting') return 'Paying…';
  if (state.phase === 'unsettled' && state.pending.expiresAt <= Date.now()) return 'We cannot tell whether you have paid. Please write to us.';
  if (state.phase === 'unsettled') return 'Not sure yet. Pay again: you will be charged once.';
  if (state.phase !== 'settled') return said;
  return state.outcome.effect === 'done' ? 'Paid.' : 'Not paid. Nothing was charged.';
}
