/** What people and devices do. The plan is drawn beforehand, as data, so that a failing plan can be shrunk. */
import type { Random } from './random.js';

/** Expected numbers per operation, unless noted otherwise; absent means never. */
export interface Workload {
  /** The number of operations. Each has a name, and a button that customers press. */
  readonly operations: number;
  /** How long people and devices act, ms. */
  readonly spanMs: number;
  /** Presses of one button, not counting presses in reaction to an answer. */
  readonly presses: number;
  /** Time between two presses, ms. */
  readonly gapMs: number;
  /** Two presses in one tick. */
  readonly double?: number;
  /** The chance that a press has a new payload. */
  readonly changed?: number;
  /** The chance that a press goes back to the payload before the edit. */
  readonly changedBack?: number;
  /** The chance that people press again after an answer, which resolves every unknown outcome. */
  readonly insistent?: number;
  /** The chance that an aborted press is made again at once, as by a page that is rendered twice. */
  readonly impatient?: number;
  readonly abort?: number;
  readonly resume?: number;
  readonly forget?: number;
  readonly forgetAnyway?: number;
  readonly settle?: number;
  readonly list?: number;
  readonly logOut?: number;
  /** The chance that a log-out makes the user a guest again, with another cart. */
  readonly guestAgain?: number;
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
  /** The app resumes everything that is pending. */
  readonly resumeAll?: number;
  /** The guest logs in, and stays logged in. */
  readonly logIn?: number;
  /** The app settles an operation with something untrue. */
  readonly lie?: number;
  /** The app settles an operation with what its server knows at that moment, although requests may be on their way. */
  readonly settleSoon?: number;
  /** The chance that a call may take an hour. */
  readonly patient?: number;
  /** The clock of the store that all machines share is set. */
  readonly storeClock?: number;
  readonly storeClockMsMax?: number;
  /** A log-out that also forgets unsettled operations. */
  readonly logOutForget?: number;
  /** The operation is done by other means, such as at the counter. */
  readonly elsewhere?: number;
  /** A clock is more than a month ahead for a moment. */
  readonly clockSlip?: number;
  /** The second client of a context is closed. */
  readonly closeOther?: number;
}

interface At {
  /** True time, ms. */
  readonly at: number;
}

interface On extends At {
  /** The slot of a context, which also names the device that it runs on. */
  readonly slot: number;
}

interface For extends On {
  readonly ms: number;
}

interface About extends On {
  readonly name: number;
}

/** Each kind of action, with its parameters. */
interface Kinds {
  press: About & {
    readonly payload: number;
    readonly double?: boolean;
    readonly abortMs?: number;
    readonly totalMs?: number;
    /** The context dies at this await, counted from this press: twice its number, plus one to die right after it. */
    readonly dieAt?: number;
  };
  resume: About;
  'resume-all': On & { readonly concurrency: number; readonly takes: number; readonly abortMs?: number };
  settle: About & { readonly lie?: boolean; readonly soon?: boolean };
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
  'store-clock': At & { readonly ms: number };
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

/** The chance that an action comes from a random slot instead of the operation's usual one. Actions from several places are the point of these worlds. */
const ELSEWHERE = 0.35;
const PATIENT_MS = 3_600_000;

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
    const patient = random.chance(w.patient ?? 0) ? { totalMs: PATIENT_MS } : {};
    actions.push({ do: 'press', at, slot: slot(), name, payload, double, ...(abortMs === undefined ? {} : { abortMs }), ...patient });
    const later = (): number => at + random.exponential(w.gapMs);
    if (random.chance(w.resume ?? 0)) actions.push({ do: 'resume', at: later(), slot: slot(), name });
    if (random.chance(w.settle ?? 0)) actions.push({ do: 'settle', at: later(), slot: slot(), name });
    if (random.chance(w.forget ?? 0)) actions.push({ do: 'forget', at: later(), slot: slot(), name, anyway: false });
    if (random.chance(w.forgetAnyway ?? 0)) actions.push({ do: 'forget', at: later(), slot: slot(), name, anyway: true });
    if (random.chance(w.lie ?? 0)) actions.push({ do: 'settle', at: later(), slot: slot(), name, lie: true });
    if (random.chance(w.settleSoon ?? 0)) actions.push({ do: 'settle', at: later(), slot: slot(), name, soon: true });
    if (random.chance(w.elsewhere ?? 0)) actions.push({ do: 'elsewhere', at: later(), slot: slot(), name });
    at += random.exponential(w.gapMs);
  }
  return actions;
}

/** What happens to devices, and to a whole session, at an average rate per operation. */
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
  some(w.logOut, (at, slot) => ({ do: 'log-out', at, slot, to: w.guestAgain && random.chance(w.guestAgain) ? 2 : random.int(0, 1) }));
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
  some(w.storeClock, (at) => ({ do: 'store-clock', at, ms: long(w.storeClockMsMax ?? 600_000) * (random.chance(0.3) ? 1 : -1) }));
  some(w.closeOther, (at, slot) => ({ do: 'close-other', at, slot }));
  return actions;
}

export function planOf(random: Random, slots: number, workload: Workload): Action[] {
  const actions: Action[] = [];
  for (let name = 0; name < workload.operations; name++) actions.push(...story(random.of('story', name), name, slots, workload));
  actions.push(...befall(random.of('befall'), slots, workload));
  return actions.sort((a, b) => a.at - b.at);
}

/** One action in one line, as a failure prints it. */
export const printAction = ({ at, do: what, ...more }: Action): string =>
  `${String(at).padStart(9)}  ${what} ${Object.entries(more)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`;
