/** The page that is closed, reloaded and crashed. It has one button, which the script presses from outside. */
import { createOnce, insecureOrigins, operation as operationOf, outcomeOf, settle } from 'oncefetch';

/** What the customer is told. */
export interface Told {
  readonly effect: 'done' | 'none' | 'unknown' | 'nothing';
  readonly type: string;
  readonly key: string | undefined;
  /** The charge on the receipt, if there is one. */
  readonly charge: number | undefined;
}

export interface Order {
  readonly cart: string;
  readonly amount: number;
  readonly card: string;
}

export interface KillPage {
  /** Presses Pay; the result appears in `told`. `plain`: with fetch alone, for comparison. */
  press(order: Order, plain: boolean): void;
  told: Told | undefined;
  /** Whether the page came out of the back-forward cache. */
  restored: boolean;
  /** Blocks the page for `ms`, starting just after this call returns: no script and no timer runs, and the page keeps its locks. */
  hang(ms: number): void;
  /** The current phase of the operation. */
  phase(cart: string): string;
  /** Settles the operation as `none`. Resolves to `settled`, or to the code of the error. */
  settleAsNone(cart: string): Promise<string>;
  /** What the browser's store still knows about a cart, without a request. */
  knows(cart: string): Promise<'settled' | 'unsettled' | 'nothing'>;
}

const once = createOnce({
  namespace: 'customer',
  use: [insecureOrigins()],
  retry: { minDelayMs: 20, maxDelayMs: 200 },
  limits: { attempts: 20, attemptMs: 4000, totalMs: 25_000 },
});

const request = (order: Order) => ({ method: 'POST', headers: { 'content-type': 'application/json', 'x-lane': 'oncefetch' }, body: JSON.stringify(order) });

/** Pays as a page without oncefetch would: it takes anything but a success for "did not happen". */
async function payPlainly(order: Order): Promise<Told> {
  const response = await fetch('/api/payments', request(order)).catch(() => undefined);
  return { effect: response?.ok ? 'done' : 'none', type: String(response?.status), key: undefined, charge: undefined };
}

async function pay(order: Order): Promise<Told> {
  try {
    const response = await once.fetch('/api/payments', { ...request(order), once: ['pay', order.cart] });
    const outcome = outcomeOf(response);
    const body = (await response.json().catch(() => ({}))) as { id?: number };
    return { effect: outcome?.effect ?? 'nothing', type: outcome?.type ?? String(response.status), key: outcome?.key, charge: body.id };
  } catch (error) {
    const outcome = outcomeOf(error);
    return { effect: outcome?.effect ?? 'nothing', type: (error as { code?: string }).code ?? String(error), key: outcome?.key, charge: undefined };
  }
}

const page: KillPage = {
  press(order, plain) {
    page.told = undefined;
    void (plain ? payPlainly : pay)(order).then((told) => {
      page.told = told;
    });
  },
  told: undefined,
  restored: false,
  hang(ms) {
    setTimeout(() => {
      const end = performance.now() + ms;
      while (performance.now() < end);
    }, 50);
  },
  phase: (cart) => operationOf(once, ['pay', cart]).state.phase,
  settleAsNone: (cart) =>
    settle(once, ['pay', cart], 'none').then(
      () => 'settled',
      (error) => error.code,
    ),
  async knows(cart) {
    const operation = operationOf(once, ['pay', cart]);
    for (let n = 0; n < 400; n++) {
      const { phase } = operation.state;
      if (phase === 'settled') return 'settled';
      if (phase === 'unsettled') return 'unsettled';
      if (phase === 'idle') return 'nothing';
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`the store gave no state for ${cart}`);
  },
};

addEventListener('pageshow', ({ persisted }) => {
  page.restored = persisted;
});

Object.assign(globalThis, { page });
