/** Parts of scenarios: devices, servers, and sets of faults for networks, servers, stores, hooks and contexts. */
import type { DeviceOptions } from '../device.js';
import { FAMILIES, HONEST, type ServerOptions } from '../families.js';
import type { FaultRates } from '../faults.js';
import type { Workload } from '../plan.js';
import type { Random } from '../random.js';
import type { WorldOptions } from '../scenario.js';

type Devices = WorldOptions['devices'];

const SOUND: DeviceOptions = { locks: true, atomic: true, driftPpm: 0, skewMs: 0 };

/** Tabs of one browser. */
export const tabs = (random: Random, how: Partial<DeviceOptions> = {}): Devices => [
  { ...SOUND, ...how, slots: Array.from({ length: random.int(1, 3) }, () => 'tab' as const) },
];

/** Processes of one machine. They share a file, but no lock manager. */
export const processes = (random: Random, how: Partial<DeviceOptions> = {}): Devices => [
  { ...SOUND, locks: false, ...how, slots: Array.from({ length: random.int(2, 3) }, () => 'process' as const) },
];

/** Machines in front of one database: each has a clock of its own. */
export const machines = (random: Random): Devices =>
  Array.from({ length: random.int(2, 3) }, () => ({
    ...SOUND,
    locks: false,
    driftPpm: random.int(-100, 100),
    skewMs: random.int(-240_000, 240_000),
    slots: ['process'] as const,
  }));

export const anyDevices = (random: Random): Pick<WorldOptions, 'devices' | 'sharedStore'> => {
  const kind = random.int(0, 3);
  if (kind === 0) return { devices: processes(random) };
  return kind === 1 ? { devices: machines(random), sharedStore: true } : { devices: tabs(random) };
};

export const family = (random: Random, names: readonly string[] = HONEST): ServerOptions => FAMILIES[random.pick(names)] as ServerOptions;

/** Families of servers whose answers the SDK in `run` can read. */
export const READ_BY_SDK = ['409-retry-after', '409-retry-after, refusals not kept', '409 bare, no marker', 'another payload replays'];

/** The network of a train ride. Browsers repeat a request unseen when a connection turns out to be dead. */
export const NETWORK: FaultRates = {
  duplicated: 0.08,
  requestLost: 0.06,
  responseLost: 0.1,
  delayed: 0.08,
  reordered: 0.05,
  truncated: 0.04,
  stalled: 0.02,
  connectionRefused: 0.03,
};

/** Faults in front of a server's key layer, and behind it. */
export const SERVER: FaultRates = {
  frontRefuses: 0.05,
  frontKnows: 0.1,
  frontBreaks: 0.05,
  frontBreaksAfter: 0.03,
  loginPage: 0.01,
  redirected: 0.01,
  declines: 0.06,
  crashesBefore: 0.02,
  crashesAfter: 0.02,
  dies: 0.01,
};

export const STORE: FaultRates = { lookFails: 0.03, commitFails: 0.03, failAfterCommit: 0.03, storeHangs: 0.02, torn: 0.002 };

/** Hooks of the app fail in every way in which code can fail. */
export const HOOKS: FaultRates = {
  hookDelays: 0.2,
  hookThrows: 0.02,
  hookHangs: 0.01,
  reconcileDelays: 0.3,
  reconcileThrows: 0.1,
  reconcileHangs: 0.1,
  reconcileResponds: 0.5,
  reconcileRefused: 0.15,
};

export const LIFE: FaultRates = { killed: 0.015, frozen: 0.01, frozenMsMax: 120_000 };

/** People who want to pay. Most of them press again until they know the outcome. */
export const PEOPLE: Workload = {
  operations: 20,
  spanMs: 600_000,
  presses: 1.6,
  gapMs: 20_000,
  double: 0.12,
  changed: 0.2,
  insistent: 0.6,
  abort: 0.06,
  resume: 0.06,
  list: 0.1,
  restart: 0.1,
  die: 0.05,
  offline: 0.05,
  freeze: 0.05,
  serverRestart: 0.02,
};
