/** Scenarios that combine features which elsewhere have a scenario each. */
import { FAMILIES, HONEST, type ServerOptions, WORDED } from '../families.js';
import type { ClientOptions, Scenario } from '../scenario.js';
import { anyDevices, family, HOOKS, LIFE, machines, NETWORK, PEOPLE, processes, SERVER, STORE, tabs } from './parts.js';

export const fleet: Scenario = {
  name: 'fleet',
  says: 'machines and processes with leases; their apps derive keys, poll, reconcile, use hooks, settle, log out and log in',
  options: (random) => {
    const shared = random.chance(0.5);
    const guests = random.chance(0.4);
    const polls = random.chance(0.3);
    // With guests, keys are random: a key that is derived for a guest would differ after the log-in, unless the app derives it from the cart's owner.
    const keys = guests ? 'random' : random.pick(['random', 'derived', 'literal'] as const);
    const server = polls ? (FAMILIES['accepts'] as ServerOptions) : family(random, [...HONEST, ...WORDED]);
    return {
      devices: shared ? machines(random) : processes(random),
      sharedStore: shared,
      guests,
      server: { ...server, ...(guests && { anyAccount: random.chance(0.5) }) },
      client: {
        keys,
        repeat: keys === 'random' ? random.of('repeat').pick(['never', 'never', 'if-changed', 'always'] as const) : undefined,
        accepted: polls ? 'poll' : undefined,
        reconciles: random.chance(0.5),
        hooks: random.chance(0.5),
        around: random.of('around').chance(0.3),
        reads: !polls && random.chance(0.2),
        keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk', false] as const) },
        whenBusy: random.pick(['join', 'reject'] as const),
        consentMs: !guests && random.chance(0.3) ? random.pick([5000, 3_600_000]) : undefined,
        limits: random.pick([undefined, { attempts: 1 }, { totalMs: 60_000, attemptMs: 25_000 }]),
      },
      faults: { ...NETWORK, ...SERVER, ...LIFE, ...HOOKS, keyDelays: 0.2, keyThrows: 0.02, killed: 0.003 },
      workload: {
        ...PEOPLE,
        gapMs: random.pick([2000, 8000]),
        presses: 2.5,
        resumeAll: 0.2,
        clockJump: random.pick([0, 0.1]),
        clockJumpMsMax: 600_000,
        ...(guests ? { logIn: 0.2 } : { logOut: 0.1, logOutForget: 0.1, forget: 0.1, settle: 0.2 }),
      },
    };
  },
};

export const callsBack: Scenario = {
  name: 'calls-back',
  says: 'hooks of the app use the client in the middle of a call, and wait for that: they press, list, resume, forget, settle, log out and close',
  options: (random) => {
    const client: ClientOptions = {
      keys: random.pick(['random', 'random', 'derived'] as const),
      hooks: true,
      around: random.of('around').chance(0.3),
      reads: random.chance(0.3),
      reconciles: random.chance(0.6),
      whenBusy: random.pick(['join', 'reject'] as const),
      keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk'] as const) },
      other: random.chance(0.4) ? { whenBusy: random.pick(['join', 'reject'] as const), limits: { attempts: 2 } } : undefined,
    };
    return {
      ...anyDevices(random),
      server: family(random),
      client,
      faults: { ...NETWORK, ...SERVER, ...HOOKS, callsBack: 0.15, keyDelays: 0.1, torn: 0.003, ...(random.chance(0.3) && LIFE) },
      workload: { ...PEOPLE, gapMs: 5000, resumeAll: 0.1 },
    };
  },
};

export const nameless: Scenario = {
  name: 'nameless',
  says: 'tabs with and without locks make calls without a name, through log-outs, power losses and failing stores',
  options: (random) => {
    const guests = random.chance(0.3);
    return {
      devices: tabs(random, { locks: random.chance(0.5) }),
      guests,
      server: { ...family(random), ...(guests && { anyAccount: random.chance(0.5) }) },
      client: {
        unnamed: true,
        keep: { request: random.chance(0.5) },
        hooks: random.chance(0.3),
        durability: random.pick(['required', 'best-effort'] as const),
      },
      faults: { ...NETWORK, ...SERVER, ...LIFE, hookDelays: 0.2, killed: 0.005, ...(random.chance(0.5) && { ...STORE, torn: 0.01 }) },
      workload: { ...PEOPLE, resume: 0, gapMs: 5000, resumeAll: 0.1, ...(guests ? { logIn: 0.2 } : { logOut: 0.3 }) },
    };
  },
};

export const resumedNameless: Scenario = {
  name: 'resumed-nameless',
  says: 'tabs with and without locks resume everything that is pending while equal calls without a name are made, aborted and made again at once',
  options: (random) => ({
    devices: tabs(random, { locks: random.chance(0.7) }),
    server: family(random),
    client: {
      unnamed: true,
      keep: { request: random.chance(0.85) },
      reconciles: random.chance(0.3),
      whenBusy: random.of('busy').pick(['join', 'join', 'reject'] as const),
      other: random.of('other').chance(0.3) ? { limits: { totalMs: 20_000, attemptMs: 8000 } } : undefined,
    },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01, lookFails: 0.005, lockHangs: random.of('locks').pick([0, 0, 0.01]) },
    workload: { ...PEOPLE, insistent: 0.2, impatient: 0.7, abort: 0.3, restart: 0.3, resumeAll: 0.8 },
  }),
};

export const picked: Scenario = {
  name: 'picked',
  says: 'bodies contain the time of the press, which the fingerprint leaves out; forms are edited and edited back; servers compare bytes or do not',
  options: (random) => ({
    ...anyDevices(random),
    server: { ...family(random), comparesBytes: random.chance(0.5) },
    client: {
      picks: true,
      keys: random.pick(['random', 'random', 'derived'] as const),
      reconciles: random.chance(0.3),
      repeat: random.pick(['never', 'never', 'if-changed', 'always'] as const),
      whenChanged: random.pick([undefined, undefined, 'refuse'] as const),
      keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk'] as const) },
    },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
    workload: { ...PEOPLE, gapMs: 5000, presses: 2.5, changed: 0.4, changedBack: 0.3, resumeAll: 0.1, settle: 0.05, logOut: 0.05 },
  }),
};
