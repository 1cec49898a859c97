/**
 * The floor: what a named call cannot do without, as one plain function without options, joined callers, faults, waits
 * or verdicts. It is a lower bound and no client: its commits may overwrite changes that they have not seen, and nobody
 * reads what they wrote.
 */

/** The name of the floor in results. */
export const LEAST = 'what a named call cannot do without';

/** What the floor uses. */
export interface Ground {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  digest(text: string): string | Promise<string>;
  /** Resolves to the function that releases the lock. */
  lock(name: string): Promise<() => void>;
  /** `begin` is a commit that survives a crash of the machine; `settle` is one that need not. */
  begin(record: FloorRecord): unknown;
  settle(record: FloorRecord): unknown;
}

/** The fields by which a store finds a record. A record has other fields as well. */
export interface FloorRecord {
  readonly id: string;
  readonly ns: string;
  readonly label: string;
  readonly state: 'pending' | 'settled';
  readonly forgetAt: number;
  readonly sum: number;
}

const FORGET_MS = 2_592_000_000;
const ATTEMPT_MS = 30_000;
const ANSWERS_MAX = 32;

/** FNV-1a over the values of a record as JSON. */
export function checksum(record: object): number {
  const text = JSON.stringify(Object.values(record));
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum >>> 0;
}

const sealed = (record: Omit<FloorRecord, 'sum'>): FloorRecord => ({ ...record, sum: checksum(record) });

/** Returns a `fetch` for named requests with a text body. */
export function floor({ fetch, digest, lock, begin, settle }: Ground, base: string) {
  const answers = new Map<string, string>();
  return async (input: string, init: { method: string; headers: Record<string, string>; body: string }, name: readonly unknown[]): Promise<Response> => {
    const label = JSON.stringify(name);
    const locked = lock(label);
    const { href: url, origin } = new URL(input, base);
    const headers = new Headers(init.headers);
    const fingerprinted = (async () => {
      const raw = await digest(init.body);
      return { raw, fingerprint: await digest(`${init.method}\n${url}\n${raw}`) };
    })();
    const [id, { raw, fingerprint }, release] = await Promise.all([digest(`bench\n${label}`), fingerprinted, locked]);
    const key = crypto.randomUUID();
    const now = Date.now();
    const record = { id, ns: 'bench', label, state: 'pending', forgetAt: now + FORGET_MS } as const;
    const facts = { key, carrier: 'header:Idempotency-Key', dialect: 'generic', origin, raw, payloads: [fingerprint], createdAt: now, revision: 1 };
    await begin(sealed({ ...record, ...facts }));
    headers.set('idempotency-key', key);
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), ATTEMPT_MS);
    const response = await fetch(url, { ...init, headers, signal: controller.signal });
    const text = await response.clone().text();
    clearTimeout(timer);
    answers.set(id, text);
    const [oldest] = answers.keys();
    if (answers.size > ANSWERS_MAX && oldest !== undefined) answers.delete(oldest);
    await settle(sealed({ ...record, ...facts, state: 'settled' }));
    release();
    return response;
  };
}
