/** A shop for one test, on the real server of `test/browser/server`. */
import { test as anyTest } from 'vitest';
import type { Fault, FaultName } from '../../../src/testing/faults.js';
import type { Effect } from '../../../src/testing/model-server.js';
import { createOnce, type Once, type OnceOptions, SOON } from '../realm/lib.js';
import type { Arrival } from '../server/shop.js';

export type { Arrival };

export interface Ledger {
  readonly effects: readonly Effect[];
  readonly arrivals: readonly Arrival[];
}

export class Shop {
  readonly #base = `${location.origin}/site/shop/${crypto.randomUUID()}`;
  /** The URL of payments: a POST here has an effect. */
  readonly url = `${this.#base}/pay`;
  /** A namespace that no other test has. */
  readonly namespace = `customer-${crypto.randomUUID()}`;

  /** The URL of a command to the shop. No fault hits it. */
  at(path: string): string {
    return `${this.#base}/${path}`;
  }

  async #tell(path: string, body: unknown = {}): Promise<unknown> {
    const answer = await fetch(this.at(path), { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Sets the faults of the next calls of fetch, one each, in this order. */
  async meets(...faults: (FaultName | Fault | 'none')[]): Promise<void> {
    await this.#tell('faults', faults);
  }

  /** Holds all answers from now on, after their effects. */
  async hold(): Promise<void> {
    await this.#tell('hold');
  }

  async release(): Promise<void> {
    await this.#tell('release');
  }

  async ledger(): Promise<Ledger> {
    return (await this.#tell('ledger')) as Ledger;
  }

  /** Waits until `count` calls of fetch have arrived. Copies of one call that the browser made by itself count once. */
  async arrived(count: number): Promise<readonly Arrival[]> {
    for (let n = 0; n < 500; n++) {
      const { arrivals } = await this.ledger();
      if (sends(arrivals).length >= count) return arrivals;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`fewer than ${count} requests arrived: ${JSON.stringify(await this.ledger())}`);
  }

  /** The names of this customer's locks. */
  async locks(are: 'held' | 'pending' = 'held'): Promise<string[]> {
    const { [are]: all = [] } = await navigator.locks.query();
    return all.flatMap(({ name = '' }) => (name.includes(this.namespace) ? name : []));
  }

  /** Takes the customer's lock away for a moment, as a browser may do when it freezes the page that holds it. */
  async stealLock(): Promise<string> {
    const [name = ''] = await this.locks();
    await navigator.locks.request(name, { steal: true }, () => {});
    return name;
  }

  /** What must hold in every test: one effect, and one key on all requests. */
  async oneEffect(): Promise<readonly Arrival[]> {
    const { effects, arrivals } = await this.ledger();
    const keys = new Set(arrivals.map(({ key }) => key));
    if (effects.length !== 1 || keys.size !== 1 || keys.has(undefined))
      throw new Error(`not one effect under one key: ${JSON.stringify({ effects, arrivals })}`);
    return arrivals;
  }
}

/** The distinct calls of fetch among the arrivals. */
export const sends = (arrivals: readonly Arrival[]): string[] => [...new Set(arrivals.map(({ send }, n) => send ?? `copy ${n}`))];

/** A client for this shop, with limits that a test can wait for. */
export const client = (shop: Shop, options: OnceOptions = {}): Once => createOnce({ ...SOON, namespace: shop.namespace, ...options });

/** `test` with a shop and a client for it. A test gets only those that it names. */
export const test = anyTest.extend('shop', () => new Shop()).extend('once', ({ shop }) => client(shop));
