/** Drives one scheme through every fault, with oncefetch over real HTTP, and asks its database what happened. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, createOnce, memoryStore, type Once, type OnceOptions, type Outcome, outcomeOf, type Reconcile } from 'oncefetch';
import type { Opened, Server } from './database.js';
import { type Judge, judge } from './judge.js';
import type { Edits } from './parts.js';
import { startServer } from './process.js';
import { type Fault, openWire } from './wire.js';

export interface Order {
  /** `o-17`: also in every request, so that the wire knows whose it is. */
  readonly id: string;
  readonly amount: number;
}

/** What the code of a client finds around it. */
export interface Setting {
  readonly api: string;
  /** oncefetch's own, with waits that are short enough for a test. */
  readonly createOnce: (options: OnceOptions) => Once;
}

/** Makes what a button does. */
export type Client = (setting: Setting) => (order: Order) => Promise<unknown>;

export interface Scheme {
  readonly server: Server;
  readonly client: Client;
  /** Faults that no client could make good. */
  readonly spared?: readonly Fault[];
}

export type Services = Pick<Opened, 'postgres' | 'redis'>;

export interface Report {
  readonly scheme: string;
  readonly operations: number;
  /** Calls of the button. */
  readonly presses: number;
  readonly requests: number;
  readonly met: Readonly<Record<Fault, number>>;
  readonly deaths: number;
  readonly effects: number;
  /** Operations with more than one effect. */
  readonly doubled: readonly string[];
  /** Operations without one. */
  readonly lost: readonly string[];
  /** Outcomes that the database contradicts. */
  readonly lies: readonly string[];
  readonly seconds: number;
}

const ATTEMPT_MS = 250;
const LIMITS = { attempts: 5, attemptMs: ATTEMPT_MS, totalMs: 5000, inProgressMs: 2500 };
const RETRY = { minDelayMs: 20, maxDelayMs: 250, budget: false } as const;
const AT_A_TIME = 20;
const PRESSES_MAX = 40;
const PAUSE_MS = 25;

interface Course {
  readonly judge: Judge;
  readonly pay: (order: Order) => Promise<unknown>;
  readonly lies: string[];
  readonly pressesMax: number;
  presses: number;
}

/** Presses until it is done, as a customer would; holds every word against the database. */
async function operate(course: Course, order: Order): Promise<void> {
  for (let press = 1; press <= course.pressesMax; press++) {
    course.presses++;
    const outcome = outcomeOf(await course.pay(order).catch((error: unknown) => error));
    const effect = outcome?.effect;
    if (effect === 'done' || effect === 'none') {
      const effects = await course.judge.effectsOf(order.id);
      const expected = effect === 'done' ? 1 : 0;
      if (effects.some((count) => count !== expected)) course.lies.push(`${order.id} is ${said(outcome)}, with ${effects} effects`);
    }
    if (effect === 'done') return;
    await sleep(PAUSE_MS * press);
  }
  course.lies.push(`${order.id} was not done after ${course.pressesMax} presses`);
}

const said = (outcome: Outcome | undefined): string => JSON.stringify(outcome);

export async function runScheme(
  name: string,
  { server, client, spared = [] }: Scheme,
  services: Services,
  { operations = 200, seed = 1, edits = [], pressesMax = PRESSES_MAX }: { operations?: number; seed?: number; edits?: Edits; pressesMax?: number } = {},
): Promise<Report> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-scheme-'));
  const opened = { ...services, file: join(folder, 'ledger.db'), schema: `${name.replaceAll('-', '_')}${edits.length > 0 ? `_${Date.now()}` : ''}` };
  const child = startServer(name, opened, edits);
  // With its tables in it.
  await child.port();
  const wire = await openWire({ port: child.port, seed, lateMs: ATTEMPT_MS + 100, spared });
  const clients: Once[] = [];
  const setting: Setting = {
    api: wire.origin,
    createOnce: (options) => {
      // A look-up that fails tells nothing: oncefetch would report it, too.
      const reconcile: Reconcile = (question) => options.reconcile?.(question).catch(() => 'unknown' as const) ?? Promise.resolve('unknown');
      const once = createOnce({ store: memoryStore(), limits: LIMITS, retry: RETRY, ...options, ...(options.reconcile && { reconcile }) });
      clients.push(once);
      return once;
    },
  };
  const course: Course = { judge: await judge(server, opened), pay: client(setting), lies: [], pressesMax, presses: 0 };
  try {
    const orders = Array.from({ length: operations }, (_, index) => ({ id: `o-${index}`, amount: 100 + index }));
    const next = orders.values();
    const worker = async (): Promise<void> => {
      for (const order of next) await operate(course, order);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    // What was held back arrives now.
    await sleep(2 * ATTEMPT_MS);
    const effects = await course.judge.all();
    const ids = orders.map(({ id }) => id);
    return {
      scheme: name,
      operations,
      presses: course.presses,
      requests: Object.values(wire.met).reduce((sum, count) => sum + count, 0),
      met: wire.met,
      deaths: child.deaths,
      effects: effects.flatMap((counts) => [...counts.values()]).reduce((sum, count) => sum + count, 0),
      doubled: ids.filter((id) => effects.some((counts) => (counts.get(id) ?? 0) > 1)),
      lost: ids.filter((id) => effects.some((counts) => !counts.has(id))),
      lies: course.lies,
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    for (const once of clients) await close(once);
    await wire.close();
    await child.stop();
    await course.judge.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
