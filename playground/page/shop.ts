/** The shop's server, but for payments: no fault ever touches these requests. */

export type LaneName = 'plain fetch' | 'oncefetch';
export const LANES: readonly LaneName[] = ['plain fetch', 'oncefetch'];

/** Counts of one lane; the server's `ledger.ts` says what each means. */
export interface LaneCounts {
  readonly lane: string;
  readonly wanted: number;
  readonly made: number;
  readonly duplicates: number;
  readonly lost: number;
}

export interface Charge {
  readonly id: number;
  readonly cart: string;
  readonly lane: string;
  readonly amount: number;
  readonly key: string | null;
  readonly at: number;
  /** 2 for the first duplicate of its cart. */
  readonly nth: number;
}

/** One customer's intention: what they were told in the end, and how often they were charged. */
export interface CartFacts {
  readonly lane: string;
  readonly cart: string;
  readonly ended: Ended;
  readonly made: number;
}

export interface Ledger {
  readonly lanes: readonly LaneCounts[];
  readonly carts: readonly CartFacts[];
  readonly rows: readonly Charge[];
}

export interface ArmedFault {
  readonly lane: string;
  readonly fault: string;
  /** How many requests will meet it; `null`: every one. */
  readonly times: number | null;
}

/** What the shop calls a payment that was made. */
export interface Receipt {
  readonly id: number;
  readonly amount: number;
}

/** What the customer was told in the end; `failed`: that it failed, and then they left; `gave-up`: nothing; `null`: still trying. */
export type Ended = 'done' | 'gave-up' | 'failed' | 'refused' | null;

async function call<T>(path: string, init?: RequestInit): Promise<T> {
  // Browsers keep requests with and without credentials on different connections: what the page asks for its own sake
  // must not keep a connection warm that a payment would then find.
  const response = await fetch(path, { ...init, credentials: 'omit' });
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  return (await response.json()) as T;
}

const post = <T>(path: string, body: unknown = {}): Promise<T> => call(path, { method: 'POST', body: JSON.stringify(body), keepalive: true });

export const readLedger = (): Promise<Ledger> => call('/api/ledger');

const CALM_LOOKS_MAX = 20;

/** Empties the shop, as soon as it works on nothing: a charge must not be made behind its back. */
export async function reset(): Promise<void> {
  for (let looks = 0; looks < CALM_LOOKS_MAX; looks++) {
    if ((await call<{ busy: number }>('/api/health')).busy === 0) break;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  await post('/api/reset');
}

export const readFaults = async (): Promise<readonly ArmedFault[]> => (await call<{ armed: readonly ArmedFault[] }>('/api/faults')).armed;

/** The next `times` requests of each lane meet the fault (every one, if absent). `undefined`: the network works. */
export async function arm(fault: string | undefined, times: number | undefined, ms: number): Promise<void> {
  await call('/api/faults', { method: 'DELETE' });
  if (fault !== undefined) await Promise.all(LANES.map((lane) => post('/api/faults', { lane, fault, times, ms })));
}

/** The order page's word on a cart, for an answer that got lost; `undefined` while there is no charge, or no server. */
export async function receiptOf(lane: LaneName, cart: string): Promise<Receipt | undefined> {
  const path = `/api/orders/by-cart/${encodeURIComponent(cart)}?lane=${encodeURIComponent(lane)}`;
  return call<{ charges: readonly Receipt[] }>(path).then(
    ({ charges }) => charges[0],
    () => undefined,
  );
}

const RETRY_MS = 300;
const RETRIES_MAX = 20;
let telling: Promise<void> = Promise.resolve();

/** Tells the ledger what the customer wants, later what the customer was told. In order, and again while the server is down. */
export function intend(lane: LaneName, cart: string, ended: Ended): Promise<void> {
  telling = telling.then(async () => {
    for (let retries = 0; retries < RETRIES_MAX; retries++) {
      const told = await post('/api/intents', { lane, cart, ended }).then(
        () => true,
        () => false,
      );
      if (told) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  });
  return telling;
}
