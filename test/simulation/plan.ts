/** What people and their devices do: drawn beforehand, as data, so that a failing plan can be shrunk. */
import type { Random } from './random.js';

/** Expected numbers per operation, unless said otherwise; absent means never. */
export interface Workload {
  /** Operations: names that somebody presses a button for. */
  readonly operations: number;
  /** How long the world is kept busy, ms. */
  readonly spanMs: number;
  /** Presses of one button, besides those that an answer calls for. */
  readonly presses: number;
  /** Time between two of them, ms. */
  readonly gapMs: number;
  /** Two presses in one tick. */
  readonly double?: number;
  /** A press with another payload than the one before. */
  readonly changed?: number;
  /** … with the payload that it had before it was edited. */
  readonly changedBack?: number;
  /** Whether people press again after an answer: the cure of every doubt. */
  readonly insistent?: number;
  readonly abort?: number;
  readonly resume?: number;
  readonly forget?: number;
  readonly forgetAnyway?: number;
  readonly settle?: number;
  readonly list?: number;
  readonly logOut?: number;
  readonly restart?: number;
  readonly die?: number;
  readonly close?: number;
  readonly freeze?: number;
  readonly freezeMsMax?: number;
  readonly clockJump?: number;
  readonly clockJumpMsMax?: number;
  readonly offline?: number;
  readonly evict?: number;
  readonly full?: number;
  readonly powerLoss?: number;
  readonly serverRestart?: number;
  /** Somebody, or a start of the app, goes through all that is pending. */
  readonly resumeAll?: number;
  /** The guest logs in, for good. */
  readonly logIn?: number;
  /** The app settles an operation with what is not so. */
  readonly lie?: number;
  /** A log-out drops what is unsettled, too. */
  readonly logOutForget?: number;
  /** Somebody does it by other means. */
  readonly elsewhere?: number;
  /** A clock is a month and more off, for a moment. */
  readonly clockSlip?: number;
  /** Every other call's client is closed. */
  readonly closeOther?: number;
}

interface At {
  /** True time, ms. */
  readonly at: number;
}

interface On extends At {
  /** Of a context; of the device that it is on. */
  readonly slot: number;
}

interface For extends On {
  readonly ms: number;
}

interface About extends On {
  readonly name: number;
}

/** Each kind of action, with what it takes. */
interface Kinds {
  press: About & {
    readonly payload: number;
    readonly double?: boolean;
    readonly abortMs?: number;
    readonly totalMs?: number;
    /** The context dies at this await from here on: twice its number, plus one for right behind it. */
    readonly dieAt?: number;
  };
  resume: About;
  'resume-all': On & { readonly concurrency: number; readonly takes: number; readonly abortMs?: number };
  settle: About & { readonly lie?: boolean };
  elsewhere: About;
  forget: About & { readonly anyway: boolean };
  list: On;
  'log-out': On & { readonly to: number; readonly forget?: boolean };
  'log-in': On;
  restart: On;
  die: On;
  close: On;
  freeze: For;
  'clock-jump': For;
  'clock-slip': For & { readonly days: number };
  'close-other': On;
  offline: For;
  full: For;
  deaf: For;
  evict: On;
  'power-loss': On;
  'server-restart': At;
}

export type Deed<D extends keyof Kinds> = Kinds[D] & { readonly do: D };
export type Action = { [D in keyof Kinds]: Deed<D> }[keyof Kinds];
export type DoWhat = keyof Kinds;

/** Most of one operation's presses come from one place; the others are what this is about. */
const ELSEWHERE = 0.35;

function story(random: Random, name: number, slots: number, w: Workload): Action[] {
  const actions: Action[] = [];
  const home = random.int(0, slots - 1);
  let at = Math.floor(random.next() * w.spanMs);
  let payload = 1;
  const slot = (): number => (random.chance(ELSEWHERE) ? random.int(0, slots - 1) : home);
  const presses = 1 + Math.min(5, random.exponential(w.presses) - 1);
  for (let i = 0; i < presses; i++) {
    if (i > 0 && payload > 1 && random.chance(w.changedBack ?? 0)) payload--;
    else if (i > 0 && random.chance(w.changed ?? 0)) payload++;
    const double = random.chance(w.double ?? 0);
    const abortMs = random.chance(w.abort ?? 0) ? random.int(0, random.chance(0.5) ? 50 : 40_000) : undefined;
    actions.push({ do: 'press', at, slot: slot(), name, payload, double, ...(abortMs === undefined ? {} : { abortMs }) });
    const later = (): number => at + random.exponential(w.gapMs);
    if (random.chance(w.resume ?? 0)) actions.push({ do: 'resume', at: later(), slot: slot(), name });
    if (random.chance(w.settle ?? 0)) actions.push({ do: 'settle', at: later(), slot: slot(), name });
    if (random.chance(w.forget ?? 0)) actions.push({ do: 'forget', at: later(), slot: slot(), name, anyway: false });
    if (random.chance(w.forgetAnyway ?? 0)) actions.push({ do: 'forget', at: later(), slot: slot(), name, anyway: true });
    if (random.chance(w.lie ?? 0)) actions.push({ do: 'settle', at: later(), slot: slot(), name, lie: true });
    if (random.chance(w.elsewhere ?? 0)) actions.push({ do: 'elsewhere', at: later(), slot: slot(), name });
    at += random.exponential(w.gapMs);
  }
  return actions;
}

/** Things that befall devices, so many per operation on average. */
function befall(random: Random, slots: number, w: Workload): Action[] {
  const actions: Action[] = [];
  const some = (expected: number | undefined, make: (at: number, slot: number) => Action): void => {
    const all = (expected ?? 0) * w.operations;
    const count = Math.floor(all) + (random.chance(all % 1) ? 1 : 0);
    for (let i = 0; i < count; i++) actions.push(make(Math.floor(random.next() * w.spanMs * 1.2), random.int(0, slots - 1)));
  };
  const long = (max: number): number => Math.ceil(max ** (0.4 + 0.6 * random.next()));
  some(w.list, (at, slot) => ({ do: 'list', at, slot }));
  some(w.restart, (at, slot) => ({ do: 'restart', at, slot }));
  some(w.die, (at, slot) => ({ do: 'die', at, slot }));
  some(w.close, (at, slot) => ({ do: 'close', at, slot }));
  some(w.freeze, (at, slot) => ({ do: 'freeze', at, slot, ms: long(w.freezeMsMax ?? 600_000) }));
  some(w.logOut, (at, slot) => ({ do: 'log-out', at, slot, to: random.int(0, 1) }));
  some(w.clockJump, (at, slot) => ({ do: 'clock-jump', at, slot, ms: long(w.clockJumpMsMax ?? 3_600_000) * (random.chance(0.5) ? -1 : 1) }));
  some(w.offline, (at, slot) => ({ do: 'offline', at, slot, ms: long(120_000) }));
  some(w.full, (at, slot) => ({ do: 'full', at, slot, ms: long(120_000) }));
  some(w.evict, (at, slot) => ({ do: 'evict', at, slot }));
  some(w.powerLoss, (at, slot) => ({ do: 'power-loss', at, slot }));
  some(w.serverRestart, (at) => ({ do: 'server-restart', at }));
  some(w.resumeAll, (at, slot) => ({
    do: 'resume-all',
    at,
    slot,
    concurrency: random.int(1, 4),
    takes: random.chance(0.15) ? random.int(1, 3) : Number.POSITIVE_INFINITY,
    ...(random.chance(0.15) ? { abortMs: random.int(0, 60_000) } : {}),
  }));
  some(w.logIn, (at, slot) => ({ do: 'log-in', at, slot }));
  some(w.logOutForget, (at, slot) => ({ do: 'log-out', at, slot, to: random.int(0, 1), forget: true }));
  some(w.clockSlip, (at, slot) => ({ do: 'clock-slip', at, slot, days: random.int(31, 60), ms: long(20_000) }));
  some(w.closeOther, (at, slot) => ({ do: 'close-other', at, slot }));
  return actions;
}

export function planOf(random: Random, slots: number, workload: Workload): Action[] {
  const actions: Action[] = [];
  for (let name = 0; name < workload.operations; name++) actions.push(...story(random.of('story', name), name, slots, workload));
  actions.push(...befall(random.of('befall'), slots, workload));
  return actions.sort((a, b) => a.at - b.at);
}

/** One line, for whoever reads a shrunk plan. */
export const printAction = ({ at, do: what, ...more }: Action): string =>
  `${String(at).padStart(9)}  ${what} ${Object.entries(more)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`;
