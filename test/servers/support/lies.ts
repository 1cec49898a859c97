/** The lies of docs/schemes/servers-that-lie.md, as servers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { answer } from './http.js';
import type { Lie } from './liar.js';

/** How long slow servers work, ms. */
export const WORK_MS = 300;
export const OTHER = 'k-other';

/**
 * A server that looks for the key before it works and stores the key only afterwards. The work lasts until this many
 * requests have arrived.
 */
export const racingWith = (requests: number): Lie => {
  let came = 0;
  return async (asked, ledger) => {
    came++;
    const known = ledger.knows(asked);
    do await sleep(2 * WORK_MS);
    while (came < requests);
    return known ? ledger.replay(asked) : ledger.execute(asked);
  };
};
export const racing = racingWith(1);
export const forgets: Lie = async (asked, ledger) => {
  const told = ledger.honest(asked);
  setTimeout(() => ledger.forget(asked), 50);
  return told;
};
export const mismatches: Lie = (asked, ledger) =>
  ledger.knows(asked) ? answer(422, { title: 'Idempotency-Key is already used', detail: 'another payload' }) : ledger.execute(asked);
export const anothersAnswer: Lie = (asked, ledger) => {
  const other = { ...asked, key: OTHER, body: '{"order":"o-other"}' };
  if (!ledger.knows(other)) ledger.execute(other);
  return ledger.replay(other);
};
export const changesStatus: Lie = (asked, ledger) => (ledger.knows(asked) ? { ...ledger.replay(asked), headers: {}, status: 200 } : ledger.execute(asked));
export const becomesRefusal: Lie = (asked, ledger) => (ledger.knows(asked) ? answer(410, { title: 'Gone' }) : ledger.execute(asked));
export const storesFault: Lie = (asked, ledger) => {
  if (!ledger.knows(asked)) ledger.execute(asked);
  return answer(500, { title: 'It broke' }, { 'idempotent-replayed': 'true' });
};
export const faults: Lie = (asked, ledger) => {
  if (!ledger.knows(asked)) ledger.execute(asked);
  return answer(500, { title: 'It broke' });
};
export const busy: Lie = (asked, ledger) => {
  if (!ledger.knows(asked)) ledger.execute(asked);
  return answer(409, { title: 'A request is outstanding for this Idempotency-Key' });
};
/** A server that ignores keys. */
export const ignores: Lie = (asked, ledger) => ledger.execute(asked);
export const ignoresAndSaysSo: Lie = (asked, ledger) => ({ ...ledger.execute(asked), status: 503, headers: { 'idempotency-status': 'ignored' } });
