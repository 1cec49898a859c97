/** A `run` whose function makes calls of the client. In a file of its own, which `pairs.ts` does not draw from: a pair takes the server of one scenario. */
import type { Random } from '../random.js';
import type { Scenario, WorldOptions } from '../scenario.js';
import { family, LIFE, machines, NETWORK, PEOPLE, processes, SERVER, tabs } from './parts.js';

type Devices = Pick<WorldOptions, 'devices' | 'sharedStore'>;

const servers = (random: Random): Devices => (random.chance(0.3) ? { devices: machines(random), sharedStore: true } : { devices: processes(random) });

export const runCalls: Scenario = {
  name: 'run-calls',
  says: 'the function of a run() makes calls under names of their own; processes sleep and are killed meanwhile, and users log out and in',
  options: (random) => ({
    ...servers(random),
    server: family(random),
    client: { runs: 'calls', sure: random.chance(0.5), reconciles: random.chance(0.2) },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003, declines: 0.2, interrupted: 0.1 },
    workload: { ...PEOPLE, operations: 30, presses: 2, gapMs: 15_000, logOut: 0.1 },
  }),
};

export const runCallsTakenOver: Scenario = {
  name: 'run-calls-taken-over',
  says: 'a process sleeps in the function of a run(), which another one takes over and is told that the card was declined',
  options: (random) => ({
    ...servers(random),
    server: { ...family(random), declined: 0 },
    client: { runs: 'calls', sure: true },
    faults: { responseLost: 0.03, requestLost: 0.03, killed: 0.001, declines: 0.6, interrupted: 0.4 },
    // If nobody presses again at once, a function that was asleep finds what the other one has left.
    workload: { ...PEOPLE, operations: 30, presses: 1.2, insistent: 0.1, changed: 0, double: 0, abort: 0, freeze: 0, restart: 0, die: 0 },
  }),
};

export const runCallsInPages: Scenario = {
  name: 'run-calls-in-pages',
  says: 'the function of a run() makes calls under names of their own in tabs, under child keys if a guest may log in meanwhile',
  options: (random) => {
    const guests = random.chance(0.5);
    return {
      devices: tabs(random),
      guests,
      // Elsewhere the run of the guest is not repeated for the user.
      server: { ...family(random), keepsErrors: false, ...(guests && { anyAccount: true }) },
      // Under a child key, another payload would be a mismatch, and a 500 that the server keeps would stay the answer.
      client: {
        runs: 'calls',
        reconciles: random.chance(0.2) && (guests ? 'by-key' : true),
        ...((guests || random.chance(0.2)) && { childKeys: true, whenChanged: 'refuse' }),
      },
      faults: { ...NETWORK, ...SERVER, killed: 0.005, interrupted: 0.15 },
      workload: { ...PEOPLE, presses: 2, gapMs: 15_000, freeze: 0, ...(guests ? { logIn: 0.1 } : { logOut: 0.1 }) },
    };
  },
};
