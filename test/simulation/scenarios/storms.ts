/** Each kind of trouble by itself, and all of it at once, on every kind of device. */
import { FAMILIES, HONEST, type ServerOptions, WORDED } from '../families.js';
import { KEYLESS } from '../requests.js';
import type { Scenario } from '../scenario.js';
import { anyDevices, family, HOOKS, LIFE, machines, NETWORK, PEOPLE, processes, READ_BY_SDK, SERVER, STORE, tabs } from './parts.js';

export const checkout: Scenario = {
  name: 'checkout',
  says: 'tabs of one device on a bad network, in front of each family of servers',
  options: (random) => ({ devices: tabs(random), server: family(random), client: {}, faults: { ...NETWORK, ...SERVER }, workload: PEOPLE }),
};

export const killed: Scenario = {
  name: 'killed',
  says: 'contexts die and freeze at any await',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: { keep: { request: random.chance(0.5) } },
    faults: { ...NETWORK, ...LIFE, killed: 0.04 },
    workload: PEOPLE,
  }),
};

export const silentCopies: Scenario = {
  name: 'silent-copies',
  says: 'one call of the transport sends two or three copies to the server, as Chromium does',
  options: (random) => ({ devices: tabs(random), server: family(random), client: {}, faults: { ...NETWORK, ...SERVER, duplicated: 0.3 }, workload: PEOPLE }),
};

export const backend: Scenario = {
  name: 'backend',
  says: 'processes and machines without locks race on one database',
  options: (random) => {
    const shared = random.chance(0.5);
    return {
      devices: shared ? machines(random) : processes(random),
      sharedStore: shared,
      server: family(random),
      client: { followsRedirects: random.chance(0.3), keep: { request: random.chance(0.5) }, reconciles: random.chance(0.3) },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.005 },
      workload: { ...PEOPLE, gapMs: 3000, presses: 2.5 },
    };
  },
};

export const brokenStores: Scenario = {
  name: 'broken-stores',
  says: 'reads and commits of stores fail or hang, records are torn, and stores are full',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: { durability: random.chance(0.5) ? 'required' : 'best-effort' },
    faults: { ...NETWORK, ...SERVER, ...STORE },
    workload: { ...PEOPLE, full: 0.06, forget: 0.05, forgetAnyway: 0.05 },
  }),
};

export const powerLoss: Scenario = {
  name: 'power-loss',
  says: 'the machine loses power, and with it every write that was not on the disk yet',
  options: (random) => ({
    devices: random.chance(0.5) ? tabs(random) : processes(random),
    server: family(random),
    client: { keep: { request: random.chance(0.5) } },
    faults: { ...NETWORK, ...SERVER },
    workload: { ...PEOPLE, powerLoss: 0.3, offline: 0.2 },
  }),
};

export const verbs: Scenario = {
  name: 'verbs',
  says: 'people and apps forget, settle, resume, list and log out between calls',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: {
      keep: { request: random.chance(0.5) },
      reconciles: random.chance(0.3),
      hooks: random.chance(0.5),
      around: random.of('around').chance(0.3),
      repeat: random.pick(['never', 'never', 'if-changed', 'always'] as const),
    },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003, hookDelays: 0.2, hookThrows: 0.02, hookHangs: 0.01 },
    workload: { ...PEOPLE, forget: 0.15, forgetAnyway: 0.08, settle: 0.15, resume: 0.2, logOut: 0.2, close: 0.05 },
  }),
};

export const clocks: Scenario = {
  name: 'clocks',
  says: 'clocks jump and drift, laptops sleep for days, and the key window ends',
  options: (random) => {
    const windowMs = random.pick([600_000, 3_600_000]);
    return {
      devices: tabs(random, { driftPpm: random.int(-200, 200) }),
      server: { ...family(random), windowMs },
      client: { limits: { keyWindowMs: windowMs }, keep: { request: random.chance(0.5) }, reconciles: random.chance(0.5), hooks: random.chance(0.5) },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003, frozen: 0.02, frozenMsMax: 2 * windowMs, hookDelays: 0.3 },
      workload: {
        ...PEOPLE,
        spanMs: 3 * windowMs,
        gapMs: windowMs / 3,
        presses: 2.5,
        clockJump: 0.2,
        clockJumpMsMax: 3 * windowMs,
        freeze: 0.2,
        freezeMsMax: 3 * windowMs,
      },
    };
  },
};

export const givenKeys: Scenario = {
  name: 'given-keys',
  says: "keys that are not random: derived, or the caller's own; their records may be lost",
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: { keys: random.pick(['derived', 'literal'] as const), reconciles: random.chance(0.5) },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01 },
    workload: { ...PEOPLE, evict: 0.1, forget: 0.05 },
  }),
};

export const raceWithoutLocks: Scenario = {
  name: 'race-without-locks',
  says: 'tabs without Web Locks over a store without atomic update',
  options: (random) => ({
    devices: tabs(random, { locks: false, atomic: false }),
    server: family(random),
    client: {},
    faults: { ...NETWORK, ...SERVER },
    workload: { ...PEOPLE, gapMs: 300, presses: 3 },
  }),
};

export const form: Scenario = {
  name: 'form',
  says: 'people edit the form after every unknown outcome',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: {
      whenChanged: random.pick(['same-key', 'same-key', 'refuse'] as const),
      reconciles: random.chance(0.3),
      repeat: random.pick(['never', 'if-changed'] as const),
    },
    faults: { ...NETWORK, ...SERVER },
    workload: { ...PEOPLE, changed: 0.7, presses: 2.5, gapMs: 8000 },
  }),
};

export const noSupport: Scenario = {
  name: 'no-support',
  says: 'the server ignores keys: outcomes stay true, effects are counted, and a client that knows this sends nothing twice',
  options: (random) => ({
    ...anyDevices(random),
    server: FAMILIES['no support'] as ServerOptions,
    client: random.chance(0.5) ? { dialect: 'none', endpoints: [KEYLESS] } : {},
    faults: { ...NETWORK, ...SERVER },
    workload: PEOPLE,
  }),
};

export const forgetful: Scenario = {
  name: 'forgetful',
  says: 'the server forgets keys before their window ends',
  options: (random) => ({ ...anyDevices(random), server: family(random), client: {}, faults: { ...NETWORK, ...SERVER, forgetsEarly: 0.1 }, workload: PEOPLE }),
};

export const unnamed: Scenario = {
  name: 'unnamed',
  says: 'calls without a name: each is one intended effect, and the next equal call takes up a lost one',
  options: (random) => ({
    devices: tabs(random),
    server: family(random),
    client: { unnamed: true, keep: { request: random.chance(0.5) } },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01 },
    workload: { ...PEOPLE, resume: 0, changed: 0.1, logOut: 0.05 },
  }),
};

export const runs: Scenario = {
  name: 'runs',
  says: 'a provider’s SDK in run() sends requests itself, once under the given key or twice under its child keys, and calls the client in between',
  options: (random) => {
    const runs = random.pick(['value', 'children', 'children'] as const);
    const nests = runs === 'children' && random.chance(0.5);
    return {
      ...anyDevices(random),
      server: family(random, READ_BY_SDK),
      client: { runs, nests, repeat: nests ? 'never' : random.pick(['never', 'if-changed', 'always'] as const), reconciles: random.chance(0.3) },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01, hookThrows: 0.05 },
      // Once the function of a `run` has begun, its later requests are its own: only the function can know whose cookie they bear.
      workload: { ...PEOPLE, logOut: runs === 'value' ? 0.1 : 0, forget: 0.05, settle: 0.05 },
    };
  },
};

export const polling: Scenario = {
  name: 'polling',
  says: 'the server answers 202 and does the work later; the client polls the link until the work has ended',
  options: (random) => ({
    ...anyDevices(random),
    server: FAMILIES['accepts'] as ServerOptions,
    client: { accepted: 'poll', reconciles: random.chance(0.3), keep: { request: random.chance(0.5) } },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.005 },
    workload: PEOPLE,
  }),
};

export const resuming: Scenario = {
  name: 'resuming',
  says: 'an app resumes everything that is pending, a few at a time, and sometimes stops or dies in the middle',
  options: (random) => {
    // On a server, an unnamed call does not take up an earlier one, so the calm could not drive such operations to their end.
    const unnamed = random.chance(0.2);
    return {
      ...(unnamed ? { devices: tabs(random) } : anyDevices(random)),
      server: family(random),
      client: { keep: { request: random.chance(0.85) }, reconciles: random.chance(0.4), unnamed },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01, lookFails: 0.005 },
      workload: { ...PEOPLE, insistent: 0.2, restart: 0.3, resumeAll: 0.8 },
    };
  },
};

export const guests: Scenario = {
  name: 'guests',
  says: 'a guest with unsettled operations logs in; contexts die while the operations are moved',
  options: (random) => ({
    devices: random.chance(0.6) ? tabs(random) : processes(random),
    guests: true,
    server: { ...family(random), anyAccount: random.chance(0.7) },
    client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.3), hooks: random.chance(0.3) },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01, hookDelays: 0.2 },
    workload: { ...PEOPLE, logIn: 0.08, resumeAll: 0.1 },
  }),
};

export const tunnels: Scenario = {
  name: 'tunnels',
  says: 'devices are often offline, so presses wait, or end unsent',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.3), followsRedirects: random.chance(0.3) },
    faults: { ...NETWORK, ...SERVER, connectionRefused: 0.1, killed: 0.003 },
    workload: { ...PEOPLE, offline: 1, abort: 0.15, resumeAll: 0.1 },
  }),
};

export const frozenTabs: Scenario = {
  name: 'frozen-tabs',
  says: 'tabs wait for the lock of a frozen tab, go on without the lock, and meet that tab when it thaws',
  options: (random) => ({
    devices: tabs(random),
    server: family(random),
    client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.3), hooks: random.chance(0.3) },
    faults: { ...NETWORK, ...SERVER, frozen: 0.04, frozenMsMax: 300_000, killed: 0.002, hookDelays: 0.2 },
    workload: { ...PEOPLE, gapMs: 8000, presses: 2.5, freeze: 0.5, close: 0.05 },
  }),
};

export const eviction: Scenario = {
  name: 'eviction',
  says: 'the browser, or its user, clears the storage; keys are random',
  options: (random) => ({ devices: tabs(random), server: family(random), client: {}, faults: { ...NETWORK, ...SERVER }, workload: { ...PEOPLE, evict: 0.1 } }),
};

export const everything: Scenario = {
  name: 'everything',
  says: 'all faults at once',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random, [...HONEST, ...WORDED]),
    client: {
      durability: random.chance(0.5) ? 'required' : 'best-effort',
      reconciles: random.chance(0.3),
      hooks: random.chance(0.3),
      keep: { request: random.chance(0.5) },
      keys: random.pick(['random', 'random', 'random', 'derived', 'literal'] as const),
    },
    faults: { ...NETWORK, ...SERVER, ...STORE, ...LIFE, ...HOOKS },
    workload: { ...PEOPLE, logOut: 0.05, forget: 0.05, settle: 0.05, full: 0.02, clockJump: 0.05, clockJumpMsMax: 600_000 },
  }),
};
