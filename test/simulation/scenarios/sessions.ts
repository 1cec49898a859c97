/** Scenarios in which somebody else removes, moves or settles what a call waits for. */
import type { Scenario, WorldOptions } from '../scenario.js';
import { family, LIFE, machines, NETWORK, PEOPLE, processes, SERVER, tabs } from './parts.js';

type Devices = WorldOptions['devices'];

const HOUR = 3_600_000;

export const waiters: Scenario = {
  name: 'waiters',
  says: 'calls that may take an hour wait for another tab and freeze; meanwhile the record is swept, or a log-out drops it',
  options: (random) => ({
    devices: random.chance(0.5) ? tabs(random) : processes(random),
    server: { ...family(random), workMs: [5, 20_000] },
    client: { keep: { request: random.chance(0.5), forMs: 0 }, reconciles: random.chance(0.2) },
    faults: { ...NETWORK, ...SERVER, killed: 0.003, frozen: 0.01, frozenMsMax: HOUR / 4 },
    workload: {
      ...PEOPLE,
      spanMs: 2 * HOUR,
      presses: 3,
      gapMs: 4000,
      insistent: 0.2,
      patient: 0.5,
      freeze: 1,
      freezeMsMax: HOUR,
      restart: 1,
      logOut: 0.2,
      logOutForget: 0.5,
    },
  }),
};

export const comingIn: Scenario = {
  name: 'coming-in',
  says: 'a guest logs in on one page while calls in the other pages, each of which has a session of its own, go on as the guest',
  options: (random) => ({
    devices: [{ ...(tabs(random)[0] as Devices[number]), slots: ['tab', 'tab', 'tab'] }],
    guests: true,
    logInLagMs: 60_000,
    server: { ...family(random), workMs: [5, 20_000], anyAccount: random.chance(0.5) },
    client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.2) },
    faults: { ...NETWORK, ...SERVER, killed: 0.003 },
    workload: { ...PEOPLE, freeze: 0, presses: 2.5, gapMs: 4000, insistent: 0.4, logIn: 0.1 },
  }),
};

export const emptied: Scenario = {
  name: 'emptied',
  says: "the site's data are deleted while pages stay open that know what they have left open; guests log in, on one page or on all, and log out",
  options: (random) => ({
    devices: [{ ...(tabs(random)[0] as Devices[number]), slots: Array.from({ length: random.int(2, 3) }, () => 'tab' as const) }],
    guests: true,
    logInLagMs: random.pick([0, 60_000]),
    server: { ...family(random), workMs: [5, 20_000], anyAccount: random.chance(0.7) },
    client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.2), limits: random.pick([undefined, { attempts: 1 }]) },
    faults: { ...NETWORK, ...SERVER, responseLost: 0.5 },
    workload: {
      ...PEOPLE,
      // So few that a page remembers all that it has left open.
      operations: 10,
      spanMs: 240_000,
      presses: 4,
      gapMs: 6000,
      insistent: 0.6,
      freeze: 0,
      restart: 0,
      die: 0,
      evict: 1,
      logIn: 1,
      logOut: 0.8,
      guestAgain: 0.4,
    },
  }),
};

export const setClocks: Scenario = {
  name: 'set-clocks',
  says: "the clock of the store that machines share is set by minutes, before and after a guest's log-in, or those of the machines by hours, while work takes long",
  options: (random) => {
    const guests = random.chance(0.5);
    return {
      devices: machines(random),
      sharedStore: true,
      guests,
      server: { ...family(random), anyAccount: !guests },
      client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.2) },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003, responseLost: guests ? 0.5 : 0.1, worksLong: guests ? 0 : 0.2 },
      workload: {
        ...PEOPLE,
        presses: 2.5,
        gapMs: 10_000,
        insistent: 0.8,
        ...(guests ? { logIn: 0.1, storeClock: 0.4, storeClockMsMax: HOUR } : { clockJump: 0.5, clockJumpMsMax: 10 * HOUR }),
      },
    };
  },
};

export const settledSoon: Scenario = {
  name: 'settled-soon',
  says: 'processes die with a request on the wire, others go on, the user logs out, and the app settles with what its server knows at that moment',
  options: (random) => {
    const shared = random.chance(0.5);
    return {
      devices: shared ? machines(random) : processes(random),
      sharedStore: shared,
      server: { ...family(random), workMs: [5, random.pick([20, 20_000])] },
      client: { keep: { request: random.chance(0.5) }, limits: { attemptMs: 100_000, attempts: 1 } },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01, delayed: 0.5, responseLost: 0.5 },
      workload: { ...PEOPLE, presses: 5, gapMs: 12_000, insistent: 0, changed: 0, settleSoon: 0.7, logOut: 0.7, restart: 1.5, freeze: 0 },
    };
  },
};
