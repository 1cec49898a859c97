/** Compares what the customer was told with the ledger: the one line that the whole page is about. */
import { euros } from '../cart.ts';
import type { Charge } from '../shop.ts';
import type { Seen } from './lane.ts';

export type Tone = 'good' | 'bad' | 'unsure' | 'quiet';

export interface Verdict {
  readonly tone: Tone;
  readonly says: string;
}

const TOLD: Readonly<Record<Seen['is'], string>> = {
  ready: 'nothing',
  paying: 'to wait',
  paid: '“paid”',
  declined: '“declined”',
  refused: '“refused, nothing charged”',
  failed: '“failed, try again”',
  unsent: '“not sent”',
  unsure: '“not sure yet”',
};

/** `charges`: the charges of this lane and cart. `pressed`: whether somebody has pressed Pay for the cart. */
export function verdictOf(seen: Seen, charges: readonly Charge[], pressed: boolean): Verdict {
  const told = TOLD[seen.is];
  const sum = euros(charges.reduce((total, { amount }) => total + amount, 0));
  if (charges.length > 1) return { tone: 'bad', says: `Charged ${charges.length} times, ${sum} in all. The customer was told ${told}.` };
  if (seen.is === 'paying')
    return { tone: 'quiet', says: charges.length === 1 ? 'Charged once so far. The customer is waiting.' : 'Not charged yet. The customer is waiting.' };
  if (charges.length === 1) {
    if (seen.is === 'paid') return { tone: 'good', says: `Charged once, ${sum}, and the customer knows.` };
    if (seen.is === 'unsure') return { tone: 'unsure', says: `Charged once, ${sum}. The customer was told ${told}, which is true.` };
    return { tone: 'bad', says: `Charged once, ${sum}, but the customer was told ${told}.` };
  }
  if (seen.is === 'paid') return { tone: 'bad', says: 'Not charged, but the customer was told “paid”.' };
  if (seen.is === 'unsure') return { tone: 'unsure', says: `Not charged. The customer was told ${told}, which is true.` };
  if (seen.is === 'ready') return { tone: 'quiet', says: pressed ? 'Not charged.' : 'Nothing charged yet.' };
  return { tone: 'good', says: `Not charged. The customer was told ${told}.` };
}
