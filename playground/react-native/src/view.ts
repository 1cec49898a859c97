/** What the screen says, whichever client has paid. */
import { outcomeOf } from 'oncefetch';

export interface Order {
  readonly id: string;
  readonly total: number;
}

export type View = 'paid' | 'offline' | 'declined' | 'unsure';

/** Of an answer, or of what a client has thrown. */
export function viewOf(came: unknown): View {
  const outcome = outcomeOf(came);
  // Nothing was sent, and nothing will be.
  if (outcome?.type === 'unsent') return 'offline';
  if (outcome?.effect === 'none') return 'declined';
  if (outcome?.effect === 'unknown') return 'unsure';
  // An error too: paid, and the client refused what came back.
  if (outcome?.effect === 'done') return 'paid';
  throw came;
}
