import type { Random } from '../random.js';
import type { Scenario, WorldOptions } from '../scenario.js';
import { FAMILIES, HONEST, type ServerOptions } from '../servers.js';

export const family = (random: Random, names: readonly string[] = HONEST): ServerOptions => FAMILIES[random.pick(names)] as ServerOptions;

export const tabs = (random: Random): WorldOptions['devices'] => [{ locks: true, atomic: true, driftPpm: 0, skewMs: 0, slots: Array.from({ length: random.int(1, 3) }, () => 'tab' as const) }];

/** A shop on a bad train: everything that a network can do, to people who press again. */
export const checkout: Scenario = {
  name: 'checkout',
  says: 'tabs of one device on a bad network, in front of each family of servers',
  options: (random) => ({
    devices: tabs(random),
    server: family(random),
    client: {},
    faults: { requestLost: 0.08, responseLost: 0.1, delayed: 0.08, reordered: 0.05, truncated: 0.04, stalled: 0.02, frontRefuses: 0.05, frontKnows: 0.1, frontBreaks: 0.05, frontBreaksAfter: 0.03, declines: 0.05, crashesBefore: 0.02, crashesAfter: 0.02, dies: 0.01 },
    workload: { operations: 25, spanMs: 600_000, presses: 1.6, gapMs: 20_000, double: 0.15, changed: 0.2, insistent: 0.6, abort: 0.05, restart: 0.1 },
  }),
};
