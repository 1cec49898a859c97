/** A process that is itself a server: a file for its database, a log-in, and a bank that takes its time. */
import { createOnce, memoryStore, outcomeOf } from 'oncefetch';
import { accountOf, listen } from '../support/listening.js';
import { show } from '../support/stage.js';

export const file = ':memory:';
const failed = new Set<string>();
/** Whether the card is good; it throws once for a card `fails-once`. */
export async function askTheBank(body: string, key: string, signal: AbortSignal): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  signal.throwIfAborted();
  const { card } = JSON.parse(body) as { card?: string };
  if (card === 'fails-once' && !failed.has(key)) {
    failed.add(key);
    throw new Error('the bank does not answer');
  }
  return card !== 'declined';
}
export { accountOf, createOnce, listen, memoryStore, outcomeOf, show };
