/** Servers that answer in words of their own, and answers of unusual shapes. */
import { defineDialect } from '../../../src/dialects/define.js';
import { inHeader } from '../../../src/dialects/key-location.js';
import { FAMILIES, type ServerOptions, WORDED } from '../families.js';
import type { Scenario } from '../scenario.js';
import { anyDevices, family, LIFE, NETWORK, PEOPLE, SERVER, STORE, tabs } from './parts.js';

export const wordings: Scenario = {
  name: 'wordings',
  says: 'servers use their own words, with a 409, 423, 429 or 202, for a key whose work goes on or is done',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random, WORDED),
    client: { reconciles: random.chance(0.3), keep: { request: random.chance(0.5) }, reads: random.chance(0.3) },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003, duplicated: 0.2, verdictThrows: 0.02, crashesBefore: 0.06 },
    workload: { ...PEOPLE, gapMs: 5000, presses: 2.5 },
  }),
};

const BANK = defineDialect({
  name: 'bank',
  place: inHeader('Idempotency-Key'),
  replays: true,
  answers: [{ status: 409, at: { code: 'ALREADY_PROCESSED' }, means: 'done-elsewhere', resource: 'resource_id' }],
});

export const paidElsewhere: Scenario = {
  name: 'paid-elsewhere',
  says: 'an operation is also paid at the counter; the server mostly notices that when it gets a key that it has never seen',
  options: (random) => ({
    ...anyDevices(random),
    server: family(random),
    client: { dialect: { ...BANK, replays: random.chance(0.7) }, reconciles: random.chance(0.3), keep: { request: random.chance(0.5) } },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
    workload: { ...PEOPLE, presses: 3, elsewhere: 0.3 },
  }),
};

export const polledByAnybody: Scenario = {
  name: 'polled-by-anybody',
  says: 'work behind a 202 fails, and says so in various words; it is polled in the session of whoever is logged in',
  options: (random) => ({
    ...anyDevices(random),
    server: FAMILIES[random.pick(['accepts', 'accepts, common words'])] as ServerOptions,
    client: { accepted: 'poll', reconciles: random.chance(0.6), keep: { request: random.chance(0.5) } },
    faults: {
      ...NETWORK,
      ...SERVER,
      ...LIFE,
      killed: 0.005,
      declines: 0.3,
      reconcileDelays: 0.3,
      reconcileResponds: 0.5,
      // A slow answer makes the client read the record again, to see whether it still drives the operation. That read fails.
      ...(random.of('store').chance(0.3) && { ...STORE, lookFails: 0.3, delayed: 0.3 }),
    },
    workload: { ...PEOPLE, logOut: 0.5, changed: 0.3 },
  }),
};

export const streams: Scenario = {
  name: 'streams',
  says: 'bodies are streams and bytes, and the answer to a success streams line by line for longer than an attempt may take',
  options: (random) => ({
    devices: tabs(random),
    server: { ...family(random), streamsMs: random.pick([2000, 100_000]) },
    client: { bodies: random.pick(['bytes', 'stream'] as const), keep: { request: random.chance(0.5) } },
    faults: { ...NETWORK, ...SERVER },
    workload: PEOPLE,
  }),
};
