/** What the screen says, whichever client has paid. */
import { outcomeOf } from 'oncefetch';

export interface Order {
  readonly id: string;
  readonly total: number;
}

export type View = 'paid' | 'offline' | 'declined' | 'unsure';

/** What to say for an answer, or for the error of a client. */
export function viewOf(came: unknown): View {
  const outcome = outcomeOf(came);
  // Nothing was sent, and nothing will be sent.
  if (outcome?.type === 'unsent') return 'offline';
  if (outcome?.effect === 'none') return 'declined';
  if (outcome?.effect === 'unknown') return 'unsure';
  // Also for an error: the payment is done, and the client rejected its answer.
  if (outcome?.effect === 'done') return 'paid';
  throw came;
}
