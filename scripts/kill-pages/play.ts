/**
 * The game in one browser: customers press Pay, their pages are reloaded, closed or crashed at random moments, and they come back
 * and press again. The network and the server also fail. Afterwards the ledger is compared with what the customers were told.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Shop, startShop } from '../../playground/start-shop.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { calm, chargesOf, injectFaults, keysOf } from '../kill-games.ts';
import { type EngineName, startTabs, type Tab, type Tabs } from '../tabs.ts';
import type { Order, Told } from './page.ts';

export const KINDS = ['reload', 'close', 'crash'] as const;
export type Kind = (typeof KINDS)[number];

export interface Game {
  readonly engine: EngineName;
  readonly kills: number;
  readonly seed: number;
  /** Plays with fetch alone, to show that the judge finds duplicates. */
  readonly plain?: boolean | undefined;
}

export interface Score {
  readonly engine: EngineName;
  readonly kind: Kind;
  carts: number;
  kills: number;
  effects: number;
  duplicates: number;
  /** Carts that were not charged although the customer was told "paid", and operations that the browser forgot. */
  lost: number;
  readonly violations: string[];
}

const CHARGE_MS = 120;
/** Long enough to cover everything from before the record is stored until after the answer is read. */
const MOMENT_MS_MAX = 350;
const KILLS_OF_A_CART_MAX = 3;
const PRESSES_MAX = 5;
const TOLD_MS_MAX = 30_000;
const GOOD_CARD = '4242424242424242';
const DECLINED_CARD = '4000000000000002';

interface Cart {
  readonly order: Order;
  readonly score: Score;
  readonly told: Told[];
}

/** Plays one game. Resolves to `undefined` if that browser is missing. */
export async function play(game: Game): Promise<readonly Score[] | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-kill-pages-'));
  let shop: Shop | undefined;
  let tabs: Tabs | undefined;
  try {
    await buildPage(folder);
    shop = await startShop({ public: folder, 'charge-ms': CHARGE_MS, 'retry-after': 0 });
    tabs = await startTabs(game.engine);
    return tabs && (await new Player(game, shop, tabs).play());
  } finally {
    await tabs?.stop();
    await shop?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the page into a folder that the shop serves. */
export async function buildPage(folder: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    outfile: join(folder, 'page.js'),
    logLevel: 'error',
  });
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>a shop</title><script type="module" src="/page.js"></script>');
}

class Player {
  readonly #game: Game;
  readonly #shop: Shop;
  readonly #tabs: Tabs;
  readonly #random: () => number;
  readonly #carts: Cart[] = [];

  constructor(game: Game, shop: Shop, tabs: Tabs) {
    this.#game = game;
    this.#shop = shop;
    this.#tabs = tabs;
    this.#random = seededRandom(game.seed);
  }

  async play(): Promise<readonly Score[]> {
    const { engine, kills } = this.#game;
    const scores = KINDS.map((kind): Score => ({ engine, kind, carts: 0, kills: 0, effects: 0, duplicates: 0, lost: 0, violations: [] }));
    await injectFaults(this.#shop);
    const all = () => scores.reduce((sum, score) => sum + score.kills, 0);
    for (let n = 0; all() < kills; n++) await this.#serve(n, scores[n % scores.length] as Score, kills - all());
    await calm(this.#shop, 5, 100);
    for (const cart of this.#carts) this.#judge(cart);
    return scores;
  }

  /** One customer with one cart. */
  async #serve(n: number, score: Score, killsLeft: number): Promise<void> {
    const card = this.#random() < 0.1 ? DECLINED_CARD : GOOD_CARD;
    const cart: Cart = { order: { cart: `${this.#game.engine}-${n}`, amount: 100 + n, card }, score, told: [] };
    this.#carts.push(cart);
    score.carts++;
    let tab = await this.#arrive();
    const killsOfIt = Math.min(killsLeft, 1 + Math.floor(this.#random() * KILLS_OF_A_CART_MAX));
    for (let kill = 0; kill < killsOfIt; kill++) {
      // Sometimes an impatient customer presses Pay in a second tab as well.
      const second = this.#random() < 0.3 ? await this.#arrive() : undefined;
      await this.#press(tab, cart.order);
      if (second) await this.#press(second, cart.order);
      await sleep(this.#random() * MOMENT_MS_MAX);
      tab = await this.#kill(tab, score);
      await this.#mustKnow(tab, cart);
      // A crash also ends the second tab.
      if (second && score.kind !== 'crash') {
        cart.told.push(await this.#told(second));
        await second.close();
      }
    }
    for (let presses = 0; presses < PRESSES_MAX; presses++) {
      await this.#press(tab, cart.order);
      const told = await this.#told(tab);
      cart.told.push(told);
      if (told.effect !== 'unknown') break;
    }
    await tab.close();
  }

  async #press(tab: Tab, order: Order): Promise<void> {
    await tab.evaluate(`page.press(${JSON.stringify(order)}, ${this.#game.plain === true})`);
  }

  async #told(tab: Tab): Promise<Told> {
    const deadline = performance.now() + TOLD_MS_MAX;
    while (performance.now() < deadline) {
      const told = await tab.evaluate<Told | null>('page.told ?? null');
      if (told) return told;
      await sleep(20);
    }
    return { effect: 'nothing', type: 'no word', key: undefined, charge: undefined };
  }

  /** Opens the page in a tab. Tries again while the server is restarting. */
  async #arrive(tab?: Tab): Promise<Tab> {
    const url = `${this.#shop.url}/`;
    for (let tries = 0; tries < 100; tries++) {
      try {
        if (tab) await tab.go(url);
        else tab = await this.#tabs.open(url);
        if ((await tab.evaluate<string>('typeof page')) === 'object') return tab;
      } catch {
        // The server is not up yet.
      }
      await sleep(100);
    }
    throw new Error(`${this.#game.engine} could not open the page`);
  }

  async #kill(tab: Tab, score: Score): Promise<Tab> {
    score.kills++;
    if (score.kind === 'reload') {
      await tab.evaluate('page.left = true');
      await tab.reload().catch(() => {});
      // A reload that was interrupted may leave the old page in the tab for a moment.
      const there = await tab.evaluate<boolean>("typeof page === 'object' && !page.left").catch(() => false);
      return there ? tab : this.#arrive(tab);
    }
    if (score.kind === 'close') await tab.close();
    else await this.#tabs.crash();
    return this.#arrive();
  }

  /** If the server has seen the key, the next page must know the operation. */
  async #mustKnow(tab: Tab, { order, score }: Cart): Promise<void> {
    const seen = keysOf(this.#shop, order.cart).length > 0;
    const knows = seen ? await tab.evaluate<string>(`page.knows(${JSON.stringify(order.cart)})`) : 'unsettled';
    // After a refusal the key is used up, so the page need not know anything.
    if (knows !== 'nothing' || order.card === DECLINED_CARD) return;
    score.lost++;
    score.violations.push(`${order.cart}: the server has its key, the browser forgot it`);
  }

  #judge({ order, score, told }: Cart): void {
    const charges = chargesOf(this.#shop, order.cart);
    const keys = keysOf(this.#shop, order.cart);
    const complain = (says: string) => score.violations.push(`${order.cart}: ${says}`);
    score.effects += charges.length;
    if (charges.length > 1) {
      score.duplicates += charges.length - 1;
      complain(`charged ${charges.length} times`);
    }
    // A declined card that is tried again is another payment, under another key.
    if (keys.length > 1 && order.card === GOOD_CARD) complain(`${keys.length} keys`);
    if (told.at(-1)?.effect !== (order.card === DECLINED_CARD ? 'none' : 'done')) complain(`the last word is ${JSON.stringify(told.at(-1))}`);
    for (const { effect, charge } of told) {
      if (effect === 'done' && charges.length === 0) {
        score.lost++;
        complain('told that it is paid, and never charged');
      }
      if (effect === 'none' && charges.length > 0) complain('told that it is not charged, and charged');
      if (typeof charge === 'number' && !charges.some(({ id }) => id === charge)) complain(`a receipt for the charge ${charge}, which is not there`);
    }
  }
}
