/** Several servers for one operation, and a next release of the app that speaks to them in other ways. */
import type { Dialect } from '../../../src/core/dialect.js';
import { dialectFor } from '../client.js';
import { FAMILIES, HONEST, type ServerOptions, WORDED } from '../families.js';
import type { Random } from '../random.js';
import { type Endpoint, endpoint } from '../requests.js';
import type { ClientOptions, Scenario } from '../scenario.js';
import { anyDevices, family, LIFE, NETWORK, PEOPLE, processes, SERVER, tabs } from './parts.js';

const HEADERS = ['idempotency-key', 'x-request-id'];
const WINDOWS = [600_000, 3_600_000, 86_400_000];

const anyServer = (random: Random, families: readonly string[]): ServerOptions => ({
  ...family(random, families),
  windowMs: random.pick(WINDOWS),
  anyAccount: random.chance(0.5),
});

/** Two servers behind one origin, sometimes another origin of the second server, and sometimes an address of a server that knows no keys. */
function anyPlaces(random: Random, families: readonly string[]): readonly Endpoint[] {
  const [one, other] = [anyServer(random, families), anyServer(random, families)];
  const knowsNone = { ...(FAMILIES['no support'] as ServerOptions) };
  return [
    endpoint('https://shop.example/pay', { headers: HEADERS, server: one }),
    endpoint('https://shop.example/v2/pay', { headers: HEADERS, server: random.chance(0.7) ? other : one }),
    ...(random.chance(0.5) ? [endpoint('https://eu.shop.example/pay', { headers: HEADERS, server: other })] : []),
    ...(random.chance(0.3) ? [endpoint('https://shop.example/legacy', { headers: [], server: knowsNone })] : []),
  ];
}

/** What a release of the app knows of each server: its name, the header for the key, the key window, and whether a key counts for the whole origin. */
function speaking(random: Random, places: readonly Endpoint[]): ClientOptions['dialect'] {
  const spoken = new Map<string, Dialect | 'none'>();
  const known = new Map<ServerOptions | undefined, Dialect>();
  for (const { url, headers, server } of places) {
    const dialect = known.get(server) ?? {
      ...(dialectFor(server as ServerOptions, random) as Dialect),
      // Two releases may use different names for one server, but one name always means one server.
      name: `bank-${known.size}-${random.int(1, 2)}`,
      carrier: `header:${random.pick(HEADERS)}`,
      windowMs: random.chance(0.7) ? (server as ServerOptions).windowMs : 300_000,
      scope: random.pick(['origin', 'endpoint'] as const),
    };
    known.set(server, dialect);
    spoken.set(url, headers.length ? dialect : 'none');
  }
  return ({ url }) => spoken.get(url) as Dialect;
}

const anyRelease = (random: Random, places: readonly Endpoint[]): ClientOptions => ({
  endpoints: places,
  dialect: speaking(random, places),
  limits: random.chance(0.3) ? { keyWindowMs: Math.min(...places.map(({ server }) => (server as ServerOptions).windowMs)) / random.pick([1, 4]) } : undefined,
  reconciles: random.pick([false, true, 'by-key'] as const),
  hooks: random.chance(0.2),
  reads: random.chance(0.2),
  keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk', false] as const) },
  whenChanged: random.pick([undefined, 'same-key', 'refuse'] as const),
  whenBusy: random.pick(['join', 'reject'] as const),
});

export const servers: Scenario = {
  name: 'servers',
  says: 'calls of one name go to several servers behind one origin, and each release of the app speaks to them in another way',
  options: (random) => {
    const guests = random.chance(0.3);
    const queues = random.chance(0.3);
    const places = anyPlaces(random, queues ? ['accepts, surely'] : [...HONEST, ...WORDED]);
    const derives = !guests && random.chance(0.3);
    // A key that the app gives does not find an unsettled operation under another key, so only the first release gives keys. An operation that is to
    // take effect again, or is forgotten, needs a random key: a given key would be the same again, and only the first server of the operation knows
    // it.
    const release = (keys: readonly NonNullable<ClientOptions['keys']>[]): ClientOptions => ({
      ...anyRelease(random, places),
      accepted: queues ? random.pick([undefined, 'settle', 'poll'] as const) : undefined,
      ...(derives ? { keys: random.pick(keys) } : { repeat: random.pick(['never', 'never', 'if-changed', 'always'] as const) }),
    });
    return {
      ...(guests ? { devices: random.chance(0.5) ? tabs(random) : processes(random) } : anyDevices(random)),
      guests,
      server: places[0]?.server as ServerOptions,
      client: release(['random', 'derived', 'literal']),
      laterClient: random.chance(0.6) ? release(['random', 'derived']) : undefined,
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
      workload: {
        ...PEOPLE,
        spanMs: random.pick([600_000, 3_600_000]),
        changed: random.pick([0.2, 0.5]),
        restart: 0.3,
        resumeAll: 0.15,
        ...(guests ? { logIn: 0.2 } : derives ? { settle: 0.05 } : { logOut: 0.15, forget: 0.05, settle: 0.05 }),
      },
    };
  },
};
