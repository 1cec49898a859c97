/** Drives one scheme through every fault, with oncefetch over real HTTP, and asks its database what happened. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, createOnce, memoryStore, type Once, type OnceOptions, outcomeOf, type Reconcile } from 'oncefetch';
import type { Opened, Server } from './database.js';
import { type Judge, judge } from './judge.js';
import type { Edits, Turns } from './parts.js';
import { startServer } from './process.js';
import { FAULTS, type Fault, openWire } from './wire.js';

export interface Order {
  /** For example `o-17`. It is in every request, so that the wire knows the operation. */
  readonly id: string;
  readonly amount: number;
}

/** What a client gets from the test. */
export interface Setting {
  readonly api: string;
  /** The package's `createOnce`, with waits that are short enough for a test. */
  readonly createOnce: (options: OnceOptions) => Once;
}

/** Returns the function that the customer's button calls. */
export type Client = (setting: Setting) => (order: Order) => Promise<unknown>;

export interface Scheme {
  readonly server: Server;
  readonly client: Client;
  /** Faults that no client can survive at this server. They are left out. */
  readonly spared?: readonly Fault[];
  /** At least this many presses must end with the effect `none`. */
  readonly refuses?: number;
}

export type Services = Pick<Opened, 'postgres' | 'redis'>;

export interface Report {
  readonly scheme: string;
  readonly operations: number;
  /** Presses of the button. */
  readonly presses: number;
  /** Presses that ended with the effect `none`. */
  readonly refused: number;
  readonly requests: number;
  readonly met: Readonly<Record<Fault, number>>;
  readonly deaths: number;
  readonly effects: number;
  /** Operations with more than one effect. */
  readonly doubled: readonly string[];
  /** Operations without an effect. */
  readonly lost: readonly string[];
  /** Outcomes that the database contradicts. */
  readonly lies: readonly string[];
  /** Operations that did not end, although the button was pressed `pressesMax` times. */
  readonly stuck: readonly string[];
  readonly seconds: number;
}

const ATTEMPT_MS = 250;
const LIMITS = { attempts: 5, attemptMs: ATTEMPT_MS, totalMs: 5000, inProgressMs: 2500 };
/** Without faults no attempt should time out, however busy the machine is. */
const PATIENT = { ...LIMITS, attemptMs: 20_000, totalMs: 20_000 };
const RETRY = { minDelayMs: 20, maxDelayMs: 250, budget: false } as const;
const AT_A_TIME = 20;
const PRESSES_MAX = 40;
const PAUSE_MS = 25;

/** Options of a run. */
export interface Run {
  readonly operations?: number;
  readonly seed?: number;
  /** Changes to the server's source. */
  readonly edits?: Edits;
  /** How often the button of an operation is pressed at most. */
  readonly pressesMax?: number;
  /** The faults that the first requests of the operations meet, one after the other. */
  readonly plan?: readonly Fault[] | undefined;
  /** Without faults on the wire, and with one operation at a time. */
  readonly calm?: boolean;
  /** The run ends when it has shown this, or when an operation is stuck. */
  readonly endsAt?: Turns | undefined;
}

interface Course {
  readonly judge: Judge;
  readonly pay: (order: Order) => Promise<unknown>;
  readonly pressesMax: number;
  /** No more presses are made. */
  over: boolean;
  readonly shown: Set<Turns>;
  presses: number;
  refused: number;
  seconds: number;
  /** The operations that are done, or were given up. */
  readonly ended: string[];
  readonly lies: string[];
  readonly stuck: string[];
}

/** Presses until the operation is done, as a customer would, and compares every outcome with the database. */
async function operate(course: Course, order: Order): Promise<void> {
  for (let press = 1; press <= course.pressesMax && !course.over; press++) {
    course.presses++;
    const outcome = outcomeOf(await course.pay(order).catch((error: unknown) => error));
    const effect = outcome?.effect;
    if (effect === 'done' || effect === 'none') {
      const effects = await course.judge.effectsOf(order.id);
      const expected = effect === 'done' ? 1 : 0;
      if (effects.some((count) => count > 1)) course.shown.add('doubles');
      if (effects.some((count) => count !== expected)) {
        course.shown.add('lies');
        course.lies.push(`${order.id} is ${JSON.stringify(outcome)}, with ${effects} effects`);
      }
    }
    if (effect === 'none') course.refused++;
    if (effect === 'done') return void course.ended.push(order.id);
    await sleep(PAUSE_MS * press);
  }
  if (course.over) return;
  course.ended.push(order.id);
  course.shown.add('sticks');
  course.stuck.push(`${order.id} was not done after ${course.pressesMax} presses`);
}

/** Runs the operations, some at a time. Resolves when all have ended, or when the run has shown `endsAt` or a stuck operation, which could block others. */
async function operateAll(course: Course, orders: readonly Order[], atATime: number, endsAt: Turns | undefined): Promise<void> {
  const started = performance.now();
  const next = orders.values();
  const isShown = (): boolean => endsAt !== undefined && (course.shown.has(endsAt) || course.shown.has('sticks'));
  const work = async (end: () => void): Promise<void> => {
    for (const order of next) {
      await operate(course, order);
      if (isShown()) end();
    }
  };
  await new Promise<void>((end, fail) => void Promise.all(Array.from({ length: atATime }, () => work(end))).then(() => end(), fail));
  course.over = true;
  course.seconds = (performance.now() - started) / 1000;
  // Give requests that the wire held back the time to arrive.
  if (!isShown()) await sleep(2 * ATTEMPT_MS);
}

async function reportOf(
  course: Course,
): Promise<Pick<Report, 'operations' | 'presses' | 'refused' | 'effects' | 'doubled' | 'lost' | 'lies' | 'stuck' | 'seconds'>> {
  const effects = await course.judge.all();
  const { presses, refused, seconds, ended, lies, stuck } = course;
  return {
    operations: ended.length,
    presses,
    refused,
    effects: effects.flatMap((counts) => [...counts.values()]).reduce((sum, count) => sum + count, 0),
    doubled: ended.filter((id) => effects.some((counts) => (counts.get(id) ?? 0) > 1)),
    lost: ended.filter((id) => effects.some((counts) => !counts.has(id))),
    lies,
    stuck,
    seconds,
  };
}

/** Turns a look-up that fails or breaks off into `unknown`, as an app would. Otherwise oncefetch would report the failure. */
const patient =
  (reconcile: Reconcile): Reconcile =>
  async (question) => {
    try {
      const told = await reconcile(question);
      if (told instanceof Response) await told.clone().arrayBuffer();
      return told;
    } catch {
      return 'unknown';
    }
  };

export async function runScheme(name: string, { server, client, spared = [] }: Scheme, services: Services, run: Run = {}): Promise<Report> {
  const { operations = 200, seed = 1, edits = [], pressesMax = PRESSES_MAX, plan, calm = false, endsAt } = run;
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-scheme-'));
  const opened = { ...services, file: join(folder, 'ledger.db'), schema: `${name.replaceAll('-', '_')}_${randomUUID().slice(0, 8)}` };
  const child = startServer(name, opened, edits);
  // When the server has its port, its tables exist.
  await child.port();
  const wire = await openWire({ port: child.port, seed, lateMs: ATTEMPT_MS + 100, spared: calm ? FAULTS : spared, plan });
  const clients: Once[] = [];
  const setting: Setting = {
    api: wire.origin,
    createOnce: (options) => {
      const reconcile = options.reconcile && patient(options.reconcile);
      const once = createOnce({ store: memoryStore(), limits: calm ? PATIENT : LIMITS, retry: RETRY, ...options, ...(reconcile && { reconcile }) });
      clients.push(once);
      return once;
    },
  };
  const counts = { presses: 0, refused: 0, seconds: 0, ended: [], lies: [], stuck: [] };
  const course: Course = { judge: await judge(server, opened), pay: client(setting), pressesMax, over: false, shown: new Set(), ...counts };
  try {
    const orders = Array.from({ length: operations }, (_, index) => ({ id: `o-${index}`, amount: 100 + index }));
    await operateAll(course, orders, calm ? 1 : AT_A_TIME, endsAt);
    const report = await reportOf(course);
    const requests = Object.values(wire.met).reduce((sum, count) => sum + count, 0);
    return { scheme: name, ...report, requests, met: wire.met, deaths: child.deaths };
  } finally {
    course.over = true;
    for (const once of clients) await close(once);
    await wire.close();
    await child.stop();
    await course.judge.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
