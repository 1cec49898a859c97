/** What a snippet runs on: a shop, a page or a server process with its disk, and a screen. */
import { registry } from '../../../src/engine/registry.js';
import type { Once, OnceOptions } from '../../../src/entries/index.js';
import { everything } from '../../../src/everything.js';
import { createOn } from '../../../src/once.js';
import { browserPlatform } from '../../../src/platform/browser/index.js';
import { nodePlatform } from '../../../src/platform/node/index.js';
import type { DeviceClock, Platform, Store, Stored } from '../../../src/ports.js';
import { type MemoryMedium, memoryMedium, memoryStore } from '../../../src/stores/memory.js';
import { openShop, type Shop } from './shop.js';

/** Time runs this much faster on the stage, so that waits of seconds do not make the tests slow. */
const SPEED = 25;
const startedAt = Date.now();
const clock: DeviceClock = {
  now: () => startedAt + (Date.now() - startedAt) * SPEED,
  monotonic: () => performance.now() * SPEED,
  timer: (ms, fire) => {
    const id = setTimeout(fire, ms / SPEED);
    return () => clearTimeout(id);
  },
};

/** What all copies of the package share in one realm. A page without it counts as a new page. */
const REALM = [Symbol.for('oncefetch'), Symbol.for('oncefetch.memory')];

/** `app`: React Native, where `oncefetch` has every feature. */
export type Place = 'page' | 'node' | 'app';

interface Stage {
  readonly place: Place;
  readonly shop: Shop;
  readonly disk: MemoryMedium;
  readonly shown: string[];
  readonly restore: () => void;
}

let stage: Stage | undefined;

const onStage = (): Stage => {
  if (!stage) throw new Error('there is no stage');
  return stage;
};

/** The shop of the snippet that is running. */
export const shop = (): Shop => onStage().shop;

/** What a customer sees. Objects are shown as JSON. */
export const show = (...what: readonly unknown[]): void => {
  onStage().shown.push(what.map((one) => (typeof one === 'object' && one !== null ? JSON.stringify(one) : String(one))).join(' '));
};

export const shown = (): readonly string[] => onStage().shown;

/** The store that a browser would have: it outlives the page, and uses the device's clock. */
function diskStore({ now }: Pick<Platform['clock'], 'now'>): Store {
  const store = memoryStore({ medium: onStage().disk, now });
  return { ...store, kind: 'indexeddb', survives: 'process', shared: 'origin' };
}

function platform(over: Partial<Platform> = {}): Platform {
  const { place } = onStage();
  return { ...(place === 'page' ? browserPlatform() : nodePlatform()), clock, forgets: undefined, ...over };
}

/** What a client has by default in the place where the snippet runs. */
const defaults = (over: Partial<Platform>): Readonly<Record<Place, OnceOptions>> => ({
  page: { store: diskStore(over.clock ?? clock) },
  node: {},
  app: { use: everything() },
});

/** `createOnce` as it is in the place where the snippet runs. */
export const createOnce = (options: OnceOptions = {}, over: Partial<Platform> = {}): Once =>
  createOn(platform(over), { ...defaults(over)[onStage().place], ...options });

/** Simulates a reload: everything in memory is gone, and what is on the disk stays. */
export const reload = (): void => {
  // A page that is gone hears other tabs no more.
  registry().hearing.off?.();
  for (const symbol of REALM) delete (globalThis as { [of: symbol]: unknown })[symbol];
};

/** Simulates a browser that clears what it stored. */
export const evict = (): void => {
  const { disk } = onStage();
  for (const record of disk.scan({ before: Number.POSITIVE_INFINITY, limit: 1000 }).records) disk.set((record as Stored).id, null);
};

/** What is on the disk at the moment. */
export const stored = (): readonly unknown[] => onStage().disk.scan({ before: Number.POSITIVE_INFINITY, limit: 1000 }).records;

export async function enter(place: Place): Promise<void> {
  const shop = await openShop();
  reload();
  const shown: string[] = [];
  stage = { place, shop, disk: memoryMedium(), shown, restore: place === 'page' ? intoPage(shop.origin) : () => {} };
}

export async function leave(): Promise<void> {
  const { shop, restore } = onStage();
  restore();
  await shop.close();
  reload();
  stage = undefined;
}

/** Sets globals that a page has and Node lacks: a location, and a fetch and a Request that resolve relative URLs against it. */
function intoPage(origin: string): () => void {
  const { fetch: ownFetch, Request: OwnRequest } = globalThis;
  const absolute = (input: RequestInfo | URL) => (typeof input === 'string' ? new URL(input, origin) : input);
  const globals: Record<string, unknown> = {
    location: new URL('/checkout', origin),
    fetch: (input: RequestInfo | URL, init?: RequestInit) => ownFetch(absolute(input), init),
    Request: class Request extends OwnRequest {
      constructor(input: RequestInfo | URL, init?: RequestInit) {
        super(absolute(input), init);
      }
    },
  };
  const before = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return () => {
    for (const [name, descriptor] of before)
      descriptor ? Object.defineProperty(globalThis, name, descriptor) : delete (globalThis as Record<string, unknown>)[name];
  };
}
