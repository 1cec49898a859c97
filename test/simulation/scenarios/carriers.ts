/**
 * Keys that are not sent in a header, and calls without a name whose work goes on behind a 202. In a file of its own, which `pairs.ts` does not draw from: a
 * pair takes its server from one scenario and its dialect from the other.
 */
import type { Dialect } from '../../../src/core/dialect.js';
import { fields } from '../../../src/dialects/fields.js';
import { dialectFor } from '../client.js';
import { FAMILIES, HONEST, type ServerOptions } from '../families.js';
import type { ClientOptions, Scenario } from '../scenario.js';
import { anyDevices, family, HOOKS, LIFE, NETWORK, PEOPLE, SERVER, tabs } from './parts.js';

export const keyPlaces: Scenario = {
  name: 'key-places',
  says: 'calls with and without a name send keys in headers, JSON bodies and queries; some of the work goes on behind a 202',
  options: (random) => {
    const way = random.pick(['named', 'named', 'by-content', 'unnamed'] as const);
    const polls = random.chance(0.3);
    const bytes = way === 'named' && !polls && random.chance(0.3);
    const known = polls ? (FAMILIES[random.pick(['accepts', 'accepts, common words', 'accepts, surely'])] as ServerOptions) : family(random, HONEST);
    const server = { ...known, ...(bytes && { comparesBytes: true }) };
    const carrier = random.pick(['header:Idempotency-Key', 'body:idempotency_key', 'body:idempotency_key', 'query:key']);
    const named: ClientOptions = {
      keys: random.pick(['random', 'random', 'derived', 'literal'] as const),
      picks: random.chance(0.3),
      consentMs: random.pick([undefined, undefined, 3_600_000]),
      whenChanged: random.pick([undefined, 'same-key', 'refuse'] as const),
    };
    return {
      ...(way === 'unnamed' ? { devices: tabs(random, { locks: random.chance(0.7) }) } : anyDevices(random)),
      server,
      client: {
        ...(way === 'named' ? named : { unnamed: way === 'unnamed', byContent: way === 'by-content' }),
        dialect: { ...(dialectFor(server, random) as Dialect), carrier, carry: fields },
        accepted: polls ? 'poll' : undefined,
        bodies: random.pick([undefined, 'bytes', way === 'unnamed' ? undefined : 'stream'] as const),
        reconciles: random.chance(0.3),
        hooks: random.chance(0.3),
        around: random.chance(0.3),
        keep: { request: random.chance(0.5), response: random.pick(['memory', 'disk'] as const) },
      },
      faults: { ...NETWORK, ...SERVER, ...HOOKS, ...(random.chance(0.5) && LIFE) },
      workload: {
        ...PEOPLE,
        gapMs: 5000,
        presses: 2.5,
        changed: 0.3,
        changedBack: 0.2,
        resumeAll: 0.1,
        ...(way === 'unnamed' ? { resume: 0, logOut: 0.2 } : { settle: 0.05, logOut: 0.05 }),
      },
    };
  },
};
