/** What the screen says, whichever client has made the payment. */
import { outcomeOf } from 'oncefetch';

export interface Order {
  readonly id: string;
  readonly total: number;
}

export type View = 'paid' | 'offline' | 'declined' | 'unsure';

/** What to show for an answer, or for a client's error. */
export function viewOf(came: unknown): View {
  const outcome = outcomeOf(came);
  // Nothing was sent, and nothing will be sent.
  if (outcome?.type === 'unsent') return 'offline';
  if (outcome?.effect === 'none') return 'declined';
  if (outcome?.effect === 'unknown') return 'unsure';
  // This also holds for an error: the payment is done, although the client rejected its answer.
  if (outcome?.effect === 'done') return 'paid';
  throw came;
}
