/** Fifty careful lines written by hand: localStorage, a Web Lock, waits with jitter, and knowledge of what a refusal proves. */
import { bodyOf, HEADERS, type Pay, sleep, URL_, type Word } from './lane.ts';

interface Row {
  key: string;
  body: string;
  /** Whether an attempt may have had its effect. */
  ambiguous: boolean;
  at: number;
  done?: boolean;
}

const WINDOW_MS = 24 * 3_600_000;
const TOTAL_MS = 60_000;
const underWay = new Map<string, Promise<Word>>();

const load = (id: string): Row | undefined => {
  try {
    return JSON.parse(localStorage.getItem(id) ?? '') as Row;
  } catch {
    return undefined;
  }
};
const save = (id: string, row: Row | undefined): void => (row ? localStorage.setItem(id, JSON.stringify(row)) : localStorage.removeItem(id));

export const fiftyLines: Pay = (order) => {
  const id = `once:${order.user}:${order.name}`;
  const going = underWay.get(id);
  if (going) return going;
  const drive = () => payOnce(id, bodyOf(order));
  const word = (navigator.locks ? navigator.locks.request(id, drive) : drive()).finally(() => underWay.delete(id));
  underWay.set(id, word);
  return word;
};

async function payOnce(id: string, body: string): Promise<Word> {
  const known = load(id);
  if (known?.done) return 'done';
  if (known && Date.now() - known.at > WINDOW_MS) return 'unknown';
  const row: Row = known ?? { key: crypto.randomUUID(), body, ambiguous: false, at: Date.now() };
  // A payment that may have been made is sent again with its first body.
  if (!row.ambiguous) row.body = body;
  save(id, row);
  const until = Date.now() + TOTAL_MS;
  for (let attempt = 0; attempt < 6 && Date.now() < until; attempt++) {
    if (attempt) await sleep(Math.random() * 500 * 2 ** attempt);
    const before = row.ambiguous;
    row.ambiguous = true;
    save(id, row);
    let response: Response;
    try {
      const headers = { ...HEADERS, 'idempotency-key': row.key };
      response = await fetch(URL_, { method: 'POST', headers, body: row.body, signal: AbortSignal.timeout(30_000) });
      await response.text();
    } catch {
      continue;
    }
    const { status } = response;
    if (response.ok) {
      save(id, { ...row, done: true });
      return 'done';
    }
    if (status === 409 || status === 429) {
      if (status === 409) attempt--;
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000);
      row.ambiguous = before || status === 409;
      save(id, row);
      continue;
    }
    if (status >= 500 || status === 408) continue;
    // A refusal by the key layer, or of the card, proves that nothing happened. After anything else the key is kept.
    if (status === 402 || response.headers.get('idempotent-replayed') === 'true') {
      save(id, undefined);
      return 'none';
    }
    row.ambiguous = before;
    save(id, row);
    return before ? 'unknown' : 'none';
  }
  return 'unknown';
}
