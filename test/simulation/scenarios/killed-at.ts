/** A context dies at its n-th await, for every n: the seed is n. Then the customer presses the button again, in the other context and in a new one. */
import { GENERIC } from '../../../src/dialects/generic.js';
import { answer } from '../answers.js';
import type { ContextKind } from '../context.js';
import { FAMILIES, type ServerOptions } from '../families.js';
import type { Fate, ScriptedCopy } from '../network.js';
import type { Action, Deed } from '../plan.js';
import type { Scenario } from '../scenario.js';

const MINUTE = 60_000;

const wire = (end: Fate['end'], copy: Partial<ScriptedCopy> = {}): Fate => ({ refused: false, copies: [{ delayMs: 20, ...copy }], end, answerMs: 20 });
/** What can become of one call of the transport. */
const fate = {
  /** The effect happens; the client sees an error. */
  answerLost: wire('lost'),
  /** The effect happens; the client hears nothing. */
  silent: wire('silent'),
  /** Something in front of the key layer answers. */
  front: (status: number): Fate => wire('whole', { front: answer(status, { code: 'in_front' }, {}) }),
} as const;

const press = (at: number, slot: number, more: Partial<Deed<'press'>> = {}): Action => ({ do: 'press', at, slot, name: 0, payload: 1, ...more });

const scenario = (name: string, kind: ContextKind, sends: readonly Fate[], server: Partial<ServerOptions> = {}): Scenario => ({
  name: `killed-at-${name}`,
  says: 'a context dies right before or right after the await that the seed counts',
  options: (_, seed) => ({
    devices: [{ locks: kind === 'tab', atomic: true, driftPpm: 0, skewMs: 0, slots: [kind, kind] }],
    server: { ...(FAMILIES['409-retry-after'] as ServerOptions), declined: 0, workMs: [20, 20], ...server },
    client: { dialect: GENERIC, keep: { request: true } },
    faults: {},
    workload: { operations: 1, spanMs: 0, presses: 1, gapMs: 0 },
    plan: [press(0, 0, { dieAt: seed }), press(2 * MINUTE, 1), press(4 * MINUTE, 0, { payload: 2 }), press(6 * MINUTE, 1)],
    script: (_op, n) => sends[n],
  }),
});

export const killedAt: readonly Scenario[] = [
  scenario('tab-fine', 'tab', []),
  scenario('tab-lost-then-401', 'tab', [fate.answerLost, fate.front(401)]),
  scenario('tab-503-then-declined', 'tab', [fate.front(503), fate.front(402)]),
  scenario('process-lost', 'process', [fate.answerLost, fate.silent]),
  scenario('process-declined', 'process', [], { declined: 0.5, keepsRefusals: false }),
];
