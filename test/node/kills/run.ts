/**
 * Runs processes that share a store and do the same operations against a real HTTP server. One process after another is killed
 * with SIGKILL, and a new one takes its place. The server's ledger is the truth.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startShop } from '../../../playground/start-shop.ts';
import { startPostgres, startRedis } from '../../../scripts/start-services.ts';
import { type Child, script } from '../../support/child.ts';

const PROCESSES = 4;
/** Longest pause between two kills. */
const PAUSE_MS_MAX = 120;
/** The maximum number of unfinished operations. It is high because the operations of a killed process stand still until its lease ends. */
const OPEN_MAX = 1000;
const OPEN_PER_KILL = 8;
/** How long no operation may end before the run fails: several leases of killed processes. */
const STANDSTILL_MS = 60_000;

export type Kind = 'sqlite' | 'redis' | 'postgres' | 'none';

/** The result of a run. */
export interface Figures {
  readonly operations: number;
  readonly kills: number;
  /** Kills of a process that was in the middle of an operation. */
  readonly midway: number;
  /** Operations that a process other than the first resumed. */
  readonly resumed: number;
  readonly charges: number;
  /** Charges beyond the first of each operation. */
  readonly duplicates: number;
  /** Operations without a charge. */
  readonly lost: number;
  readonly pending: number;
}

/** Starts the store's server, or makes its file. */
async function placeOf(kind: Kind): Promise<{ readonly at: string; stop(): unknown }> {
  if (kind === 'redis') {
    const server = await startRedis(['--maxmemory-policy', 'noeviction']);
    return { at: String(server.port), stop: () => server.stop() };
  }
  if (kind === 'postgres') {
    const { postgresMigration } = await import('oncefetch/postgres');
    const server = await startPostgres();
    const client = new pg.Client(server.connection);
    await client.connect();
    await client.query(postgresMigration());
    await client.end();
    return { at: String(server.port), stop: () => server.stop() };
  }
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-kills-'));
  return { at: join(folder, 'once.db'), stop: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What all workers together have reported. */
class Progress {
  readonly open = new Set<string>();
  readonly resumed = new Set<string>();
  operations = 0;

  /** Adds operations until `openMax` are open, and returns the new ones. */
  refill(openMax: number): string[] {
    const more = Array.from({ length: Math.max(0, openMax - this.open.size) }, () => `o${this.operations++}`);
    for (const cart of more) this.open.add(cart);
    return more;
  }

  hear(line: string): void {
    const [word, cart = '', how] = line.split(' ');
    if (word !== 'done') return;
    this.open.delete(cart);
    if (how === 'resumed') this.resumed.add(cart);
  }
}

/** Waits until all operations have ended. @throws Error with the names of open operations if none ends for `STANDSTILL_MS` */
async function allEnded({ open }: Progress): Promise<void> {
  for (let left = open.size, since = Date.now(); open.size > 0; await pause(20)) {
    if (open.size < left) [left, since] = [open.size, Date.now()];
    if (Date.now() - since > STANDSTILL_MS) throw new Error(`no operation ended for ${STANDSTILL_MS} ms; open: ${[...open].slice(0, 10).join(', ')}`);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether the process was killed between the start of an operation and its end. */
const midway = ({ lines }: Child): boolean => {
  const begun = lines.filter((line) => line.startsWith('at ')).length;
  return begun > lines.filter((line) => !line.startsWith('at ')).length;
};

export async function killRun(kind: Kind, kills: number, random: () => number = Math.random): Promise<Figures> {
  const [place, shop, worker] = [await placeOf(kind), await startShop({ 'charge-ms': 10, 'retry-after': 0 }), script(join(import.meta.dirname, 'worker.ts'))];
  const progress = new Progress();
  const openMax = Math.min(OPEN_MAX, kills * OPEN_PER_KILL);
  const children: Child[] = [];
  let over = false;
  const start = (n: number): void => {
    const child = worker.start([kind, place.at, shop.url]);
    children[n] = child;
    child.heard((line) => progress.hear(line));
    child.say(over ? 'over' : [...progress.open].join(' '));
  };
  try {
    progress.refill(openMax);
    for (let n = 0; n < PROCESSES; n++) start(n);
    let hits = 0;
    for (let kill = 0; kill < kills; kill++) {
      const n = Math.floor(random() * PROCESSES);
      const child = children[n] as Child;
      await child.line((line) => line.startsWith('at '));
      await pause(random() * PAUSE_MS_MAX);
      child.process.kill('SIGKILL');
      const how = await child.ended;
      if (how !== 'SIGKILL') throw new Error(`a process ended by itself: ${how}`);
      if (midway(child)) hits++;
      const more = progress.refill(openMax);
      start(n);
      if (more.length > 0) for (const [m, other] of children.entries()) if (m !== n) other.say(more.join(' '));
    }
    if (kind !== 'none') await allEnded(progress);
    over = true;
    for (const child of children) child.say('over');
    const pending = await Promise.all(children.map((child) => child.line((line) => line.startsWith('pending '))));
    await Promise.all(children.map(({ ended }) => ended));
    const made = shop.query<{ made: number }>('SELECT count(*) AS made FROM charges GROUP BY cart').map((row) => row.made);
    const charges = made.reduce((sum, one) => sum + one, 0);
    return {
      operations: progress.operations,
      kills,
      midway: hits,
      resumed: progress.resumed.size,
      charges,
      duplicates: charges - made.length,
      lost: progress.operations - made.length,
      pending: Math.max(...pending.map((line) => Number(line.slice('pending '.length)))),
    };
  } finally {
    for (const child of children) child.process.kill('SIGKILL');
    worker.remove();
    await shop.stop();
    await place.stop();
  }
}
