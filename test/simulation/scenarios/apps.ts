/** Scenarios about apps: hooks that fail, options that differ, log-outs, and untrue `settle` calls. */
import type { OnceOptions } from '../../../src/option-types.js';
import { HONEST, WORDED } from '../families.js';
import type { Random } from '../random.js';
import type { ClientOptions, Scenario } from '../scenario.js';
import { anyDevices, family, HOOKS, LIFE, NETWORK, PEOPLE, processes, READ_BY_SDK, SERVER, STORE, tabs } from './parts.js';

export const asked: Scenario = {
  name: 'asked',
  says: 'reconcile hangs, throws, or answers late, with any Response, in the session of whoever is logged in by then',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: {
      reconciles: true,
      hooks: random.chance(0.3),
      keep: { request: random.chance(0.5) },
      limits: random.chance(0.5) ? { totalMs: 40_000, attemptMs: 15_000, attempts: 2 } : undefined,
      whenChanged: random.pick(['same-key', 'refuse'] as const),
    },
    faults: { ...NETWORK, ...SERVER, ...LIFE, ...HOOKS, killed: 0.003, responseLost: 0.25 },
    workload: { ...PEOPLE, logOut: 0.6, resume: 0.2, resumeAll: 0.1 },
  }),
};

export const keyStrategies: Scenario = {
  name: 'key-strategies',
  says: 'the key strategy of the app is slow, throws, or never answers; records may be lost',
  options: (random) => ({
    ...anyDevices(random),
    server: { ...family(random), declined: random.pick([0.1, 0.4]) },
    client: { keys: 'derived', limits: random.chance(0.5) ? { totalMs: 20_000 } : undefined, reconciles: random.chance(0.3) },
    faults: { ...NETWORK, ...SERVER, keyDelays: 0.2, keyThrows: 0.05, keyHangs: 0.05 },
    workload: { ...PEOPLE, evict: 0.1, changed: 0.4, presses: 2.5, logOut: 0.1 },
  }),
};

const others = (random: Random): Partial<OnceOptions> => ({
  whenBusy: random.pick(['join', 'reject'] as const),
  whenChanged: random.pick(['same-key', 'refuse'] as const),
  keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk', false] as const) },
  limits: random.chance(0.5) ? { attempts: 1 } : { totalMs: 60_000 },
});

export const twoClients: Scenario = {
  name: 'two-clients',
  says: 'two clients with different options over one store make calls under one name; one of the clients is closed',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: {
      other: others(random),
      whenBusy: random.pick(['join', 'reject'] as const),
      keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk'] as const) },
      reconciles: random.chance(0.3),
    },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
    workload: { ...PEOPLE, gapMs: 5000, presses: 2.5, forget: 0.05, settle: 0.05, closeOther: 0.05 },
  }),
};

export const byContent: Scenario = {
  name: 'by-content',
  says: 'calls with once: true, so the same content is the same operation',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: { byContent: true, keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk'] as const) }, reconciles: random.chance(0.3) },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.005 },
    workload: { ...PEOPLE, forget: 0.1, settle: 0.1 },
  }),
};

export const again: Scenario = {
  name: 'again',
  says: "a name takes effect again, with repeat: 'always' or 'if-changed'; forms are edited, and edited back",
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: { repeat: random.pick(['if-changed', 'if-changed', 'always'] as const), reconciles: random.chance(0.2) },
    faults: { ...NETWORK, ...SERVER },
    workload: { ...PEOPLE, presses: 4, changed: 0.3, changedBack: 0.3, gapMs: 5000, forget: 0.03 },
  }),
};

export const byHand: Scenario = {
  name: 'by-hand',
  says: 'people forget, settle and log out while a call drives the operation; some settle with something untrue',
  options: (random) => ({
    devices: random.chance(0.5) ? processes(random) : tabs(random, { locks: random.chance(0.5) }),
    server: { ...family(random), workMs: [5, 10_000] },
    client: { keep: { request: random.chance(0.5) }, reconciles: random.chance(0.3), repeat: random.pick(['never', 'never', 'if-changed', 'always'] as const) },
    faults: { ...NETWORK, ...SERVER },
    workload: { ...PEOPLE, gapMs: 2000, presses: 2, forget: 0.3, forgetAnyway: 0.1, settle: 0.3, lie: 0.1, logOut: 0.15, logOutForget: 0.1 },
  }),
};

export const outbox: Scenario = {
  name: 'outbox',
  says: 'workers beside the pages go on with operations that have a consent, until it ends, when they start and at any later moment',
  options: (random) => ({
    ...(random.chance(0.3) ? { devices: processes(random) } : { devices: tabs(random, { locks: random.chance(0.8) }) }),
    server: family(random),
    client: { consentMs: random.pick([5000, 60_000, 3_600_000]), keep: { request: random.chance(0.3) }, reconciles: random.chance(0.3) },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.01 },
    workload: { ...PEOPLE, resumeAll: 1, logOut: 0.15, settle: 0.1, die: 0.3 },
  }),
};

type Way = 'fetch' | 'run' | 'by-content' | 'unnamed';

/** Options that are drawn independently of all others. */
function anyOptions(random: Random): ClientOptions {
  return {
    keep: { request: random.chance(0.4), response: random.pick(['memory', 'disk', false] as const) },
    whenBusy: random.pick(['join', 'join', 'reject'] as const),
    reconciles: random.chance(0.3),
    hooks: random.chance(0.2),
    around: random.of('around').chance(0.2),
    reads: random.chance(0.2),
  };
}

export const watched: Scenario = {
  name: 'watched',
  says: 'pages show each operation while other tabs, log-outs, sleep and people change its state',
  options: (random) => {
    const guests = random.chance(0.2);
    // A browser with service workers has Web Locks.
    const consentMs = random.pick([undefined, undefined, 5000, 3_600_000]);
    return {
      devices: tabs(random, { locks: consentMs !== undefined || random.chance(0.7) }),
      screens: true,
      guests,
      server: { ...family(random, [...HONEST, ...WORDED]), ...(guests && { anyAccount: random.chance(0.7) }) },
      client: {
        ...anyOptions(random),
        ...(consentMs === undefined ? random.chance(0.5) && { other: others(random) } : { whenBusy: 'join', consentMs }),
        repeat: random.pick(['never', 'never', 'if-changed', 'always'] as const),
        whenChanged: random.pick(['same-key', 'refuse'] as const),
      },
      faults: { ...NETWORK, ...SERVER, ...HOOKS, ...(random.chance(0.3) && LIFE), ...(!guests && random.chance(0.2) && STORE) },
      workload: {
        ...PEOPLE,
        operations: 8,
        freeze: 0.3,
        resumeAll: 0.1,
        closeOther: 0.05,
        clockJump: random.pick([0, 0.1]),
        ...(guests ? { logIn: 0.2 } : { logOut: 0.3, logOutForget: 0.1, forget: 0.1, forgetAnyway: 0.05, settle: 0.1 }),
      },
    };
  },
};

/** Options that stay the same over all releases of an app, because its records and its server depend on them. */
function anyApp(random: Random, way: Way): ClientOptions {
  const named = way === 'fetch' || way === 'run';
  // Keys that aren't random can lead back to an earlier request with another payload, and the app with the SDK does not recognise a mismatch.
  const keys = way === 'fetch' ? random.pick(['random', 'random', 'random', 'derived', 'literal'] as const) : 'random';
  return {
    runs: way === 'run' ? random.pick(['value', 'response', 'function'] as const) : undefined,
    byContent: way === 'by-content',
    unnamed: way === 'unnamed',
    picks: way === 'fetch' && random.of('picks').chance(0.2),
    keys,
    repeat: named && keys === 'random' ? random.pick(['never', 'never', 'if-changed', 'always'] as const) : undefined,
    consentMs: way === 'fetch' && random.chance(0.2) ? random.pick([5000, 3_600_000]) : undefined,
    whenChanged: random.pick([undefined, 'same-key', 'refuse'] as const),
    durability: random.pick(['required', 'best-effort', 'best-effort'] as const),
    followsRedirects: random.chance(0.3),
    limits: random.pick([undefined, way === 'run' ? undefined : { attempts: 1 }, { totalMs: 60_000, attemptMs: 25_000 }]),
    other: random.chance(0.3) ? { whenBusy: 'reject', keep: { request: random.chance(0.5), response: 'disk' } } : undefined,
  };
}

export const crossed: Scenario = {
  name: 'crossed',
  says: 'every option of a client is drawn independently, and drawn again for the next release of its app',
  options: (random) => {
    const way = random.pick(['fetch', 'fetch', 'run', 'run', 'by-content', 'unnamed'] as const);
    // An unnamed operation cannot be settled or forgotten by name.
    const byName = way === 'unnamed' ? {} : { forget: 0.05, settle: 0.05, resumeAll: 0.2 };
    const app = anyApp(random, way);
    return {
      ...(way === 'unnamed' ? { devices: tabs(random) } : anyDevices(random)),
      server: family(random, way === 'run' ? READ_BY_SDK : [...HONEST, ...WORDED]),
      client: { ...anyOptions(random), ...app },
      laterClient: random.chance(0.5) ? { ...anyOptions(random), ...app } : undefined,
      faults: { ...NETWORK, ...SERVER, ...LIFE, ...HOOKS, ...(way !== 'unnamed' && random.chance(0.2) ? STORE : {}), killed: 0.005 },
      workload: { ...PEOPLE, gapMs: random.pick([3000, 20_000]), logOut: 0.1, ...byName },
    };
  },
};
