/** Scenarios in which records are swept: months pass, or clocks are months off. */
import { type Action, planOf } from '../plan.js';
import type { Scenario } from '../scenario.js';
import { family, LIFE, machines, NETWORK, PEOPLE, processes, SERVER, tabs } from './parts.js';

const DAY = 86_400_000;

export const wrongMonth: Scenario = {
  name: 'wrong-month',
  says: 'the clock of one machine, or of one page for a moment, is more than a month ahead while it sweeps',
  options: (random) => {
    const shared = random.chance(0.5);
    const devices = shared ? machines(random) : random.chance(0.5) ? tabs(random) : processes(random);
    return {
      devices: shared ? devices.map((device, index) => (index === 0 ? { ...device, skewMs: 40 * DAY } : device)) : devices,
      sharedStore: shared,
      server: family(random),
      client: { reconciles: random.chance(0.3), keep: { request: random.chance(0.5) } },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
      workload: { ...PEOPLE, gapMs: 60_000, clockSlip: shared ? 0 : 0.1, resumeAll: 0.05 },
    };
  },
};

/** A busy time, and a month later a busy minute, in which old and new operations are pressed, settled and swept. */
export const monthLater: Scenario = {
  name: 'month-later',
  says: 'after a month, one context sweeps an operation in the same second in which another one presses, settles or resumes it',
  options: (random) => {
    const devices = random.chance(0.5) ? tabs(random) : processes(random);
    const slots = devices.flatMap((device) => device.slots).length;
    const first = planOf(random.of('first'), slots, { ...PEOPLE, insistent: 0 });
    const later = planOf(random.of('later'), slots, { ...PEOPLE, operations: 40, spanMs: 60_000, settle: 0.5, resume: 0.1, restart: 0.3 });
    const plan = [...first, ...later.map((action): Action => ({ ...action, at: action.at + random.int(30, 31) * DAY }))];
    return {
      devices,
      server: { ...family(random), windowMs: 100 * DAY },
      client: { reconciles: random.chance(0.3), keep: { request: random.chance(0.5) }, limits: { keyWindowMs: 100 * DAY } },
      faults: { ...NETWORK, ...SERVER, responseLost: 0.5, requestLost: 0.3, storeSlow: 0.2 },
      workload: PEOPLE,
      plan: plan.sort((a, b) => a.at - b.at),
    };
  },
};

export const months: Scenario = {
  name: 'months',
  says: 'operations stay unsettled for months while others settle and sweep, in a slow store',
  options: (random) => ({
    devices: random.chance(0.5) ? tabs(random) : processes(random),
    server: { ...family(random), windowMs: 100 * DAY },
    client: {
      reconciles: random.chance(0.3),
      keep: { request: random.chance(0.5), forMs: 20 * DAY },
      limits: { keyWindowMs: 100 * DAY },
      repeat: random.pick(['never', 'if-changed'] as const),
    },
    faults: { ...NETWORK, ...SERVER, responseLost: 0.3, storeSlow: 0.1 },
    workload: { ...PEOPLE, operations: 30, spanMs: 90 * DAY, gapMs: 20 * DAY, presses: 3, resumeAll: 0.2, restart: 0.2, freeze: 0.2, freezeMsMax: 40 * DAY },
  }),
};
