/** Requests to the shop's server, except payments. Faults never affect them. */

export type LaneName = 'plain fetch' | 'oncefetch';
export const LANES: readonly LaneName[] = ['plain fetch', 'oncefetch'];

/** The counts of one lane. `server/ledger.ts` says what each one means. */
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
  /** 1 for the first charge of its cart, 2 for the first duplicate. */
  readonly nth: number;
}

/** One cart: what its customer was told in the end, and how often it was charged. */
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
  /** How many more requests will meet the fault; `null`: all of them. */
  readonly times: number | null;
}

/** The shop's receipt of a payment. */
export interface Receipt {
  readonly id: number;
  readonly amount: number;
}

/** What the customer was told in the end; `failed`: left after a failure; `gave-up`: left without an answer; `null`: still trying. */
export type Ended = 'done' | 'gave-up' | 'failed' | 'refused' | null;

async function call<T>(path: string, init?: RequestInit): Promise<T> {
  // A browser uses different connections for requests with and without credentials. So these requests never warm up a
  // connection on which a payment is then sent.
  const response = await fetch(path, { ...init, credentials: 'omit' });
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  return (await response.json()) as T;
}

const post = <T>(path: string, body: unknown = {}): Promise<T> => call(path, { method: 'POST', body: JSON.stringify(body), keepalive: true });

export const readLedger = (): Promise<Ledger> => call('/api/ledger');

const CALM_LOOKS_MAX = 20;

/** Empties the shop as soon as it is idle, so that no late charge follows. */
export async function reset(): Promise<void> {
  for (let looks = 0; looks < CALM_LOOKS_MAX; looks++) {
    if ((await call<{ busy: number }>('/api/health')).busy === 0) break;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  await post('/api/reset');
}

export const readFaults = async (): Promise<readonly ArmedFault[]> => (await call<{ armed: readonly ArmedFault[] }>('/api/faults')).armed;

/** Sets a fault for the next `times` requests of each lane, or for all of them. With `undefined` as the fault, the network works. */
export async function arm(fault: string | undefined, times: number | undefined, ms: number): Promise<void> {
  await call('/api/faults', { method: 'DELETE' });
  if (fault !== undefined) await Promise.all(LANES.map((lane) => post('/api/faults', { lane, fault, times, ms })));
}

/** Asks the order page for the receipt of a cart after an answer was lost; `undefined` if there is no charge or the server is down. */
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

/**
 * Tells the ledger that a customer wants a cart, and later what the customer was told. Sends these messages in order,
 * and repeats them while the server is down.
 */
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
