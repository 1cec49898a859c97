/** Scenarios in which parts of an app that know nothing of each other act on one operation. */
import { dialectFor } from '../client.js';
import type { ClientOptions, Scenario, WorldOptions } from '../scenario.js';
import { anyDevices, family, LIFE, machines, NETWORK, PEOPLE, processes, READ_BY_SDK, SERVER, STORE, tabs } from './parts.js';

type Devices = WorldOptions['devices'];

export const comeAndGo: Scenario = {
  name: 'come-and-go',
  says: 'a guest logs in, logs out and logs in again as the same or another user, while pages of the earlier session go on and one user may still be moved or cleared',
  options: (random) => ({
    devices: [{ ...(tabs(random, { locks: random.chance(0.8) })[0] as Devices[number]), slots: ['tab', 'tab', 'tab'] }],
    guests: true,
    logInLagMs: random.pick([0, 100, 60_000]),
    server: { ...family(random), workMs: [5, 20_000], anyAccount: random.chance(0.5) },
    client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.2), unnamed: random.chance(0.2) },
    faults: { ...NETWORK, ...SERVER, killed: 0.005, frozen: 0.005, frozenMsMax: 120_000 },
    workload: {
      ...PEOPLE,
      operations: 10,
      resume: 0,
      freeze: 0,
      presses: 4,
      gapMs: 8000,
      insistent: 0.4,
      logIn: 0.4,
      logOut: 0.4,
      guestAgain: 0.3,
      resumeAll: 0.1,
    },
  }),
};

export const strangers: Scenario = {
  name: 'strangers',
  says: 'two clients of one page or process, each with options and features of its own, share a store that fails, and settle, forget and log out what the other one drives',
  options: (random) => {
    const shared = random.chance(0.3);
    // In every other world many die in mid-request, and the app says "none" while that request may still arrive.
    const dying = random.of('dying').chance(0.5);
    const server = { ...family(random), workMs: [5, dying ? 400 : random.pick([400, 20_000])] as const };
    const own = (name: string): Pick<ClientOptions, 'limits' | 'dialect' | 'durability' | 'whenBusy' | 'whenChanged'> => ({
      limits: { attemptMs: random.of(name).pick(dying ? [5000, 100_000] : [25_000, 30_000, 100_000]), attempts: random.of(name).pick([1, 2, 5]) },
      dialect: dialectFor(server, random.of(name, 'dialect')),
      durability: random.of(name).pick(['required', 'best-effort', 'best-effort'] as const),
      whenBusy: random.of(name, 'busy').pick(['join', 'join', 'reject'] as const),
      whenChanged: random.of(name, 'changed').pick(['same-key', 'refuse'] as const),
    });
    const again = random.pick(['never', 'never', 'if-changed', 'always'] as const);
    return {
      devices: random.chance(0.5) ? tabs(random, { locks: random.chance(0.8) }) : shared ? machines(random) : processes(random),
      sharedStore: shared,
      server,
      client: { ...own('one'), apart: true, other: { ...own('other'), repeat: again }, keep: { request: random.chance(0.5) }, reconciles: random.chance(0.3) },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.005, ...(dying && { requestLost: 0.4 }), ...(random.chance(0.4) && { ...STORE, torn: 0 }) },
      workload: {
        ...PEOPLE,
        presses: 3,
        gapMs: 6000,
        forget: 0.1,
        settle: 0.2,
        settleSoon: random.pick([0, 0.3]),
        logOut: 0.1,
        resumeAll: 0.1,
        closeOther: 0.02,
        ...(dying && { gapMs: 20_000, settleSoon: 1, restart: 1.5 }),
      },
    };
  },
};

export const mixed: Scenario = {
  name: 'mixed',
  says: 'under one name, one part of the app calls fetch, another one run; forms are edited from the one to the other and back',
  options: (random) => ({
    ...anyDevices(random),
    server: { ...family(random, READ_BY_SDK), workMs: [5, random.pick([400, 20_000])] },
    client: {
      runs: random.pick(['value', 'response', 'function'] as const),
      mixes: true,
      keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk'] as const) },
      repeat: random.pick(['never', 'never', 'if-changed', 'always'] as const),
      reconciles: random.chance(0.3),
    },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
    workload: { ...PEOPLE, gapMs: 5000, presses: 3, changed: 0.4, changedBack: 0.4, forget: 0.05, settle: 0.05, resumeAll: 0.1 },
  }),
};
