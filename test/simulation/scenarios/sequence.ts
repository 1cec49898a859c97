/** Deterministic sequences: what people do, what the wire makes of each send, and what it must come to. */
import { GENERIC } from '../../../src/dialects/generic.js';
import { answer } from '../answers.js';
import type { Call, OpFacts } from '../facts.js';
import { FAMILIES, type ServerOptions } from '../families.js';
import type { Fate, ScriptedCopy } from '../network.js';
import type { Action, Deed } from '../plan.js';
import type { ClientOptions, Scenario, WorldOptions } from '../scenario.js';
import type { World } from '../world.js';

export const SECOND = 1000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

const wire = (end: Fate['end'], copies: readonly ScriptedCopy[], more: Partial<Fate> = {}): Fate => ({ refused: false, copies, end, answerMs: 20, ...more });

/** Fates of one send. */
export const fate = {
  fine: wire('whole', [{ delayMs: 20 }]),
  /** The effect is there; the client sees an error. */
  answerLost: wire('lost', [{ delayMs: 20 }]),
  /** The effect is there; the client hears nothing. */
  silent: wire('silent', [{ delayMs: 20 }]),
  neverArrives: wire('lost', []),
  arrivesAfter: (ms: number): Fate => wire('whole', [{ delayMs: ms }]),
  /** Somebody in front of the key layer answers. */
  front: (status: number, headers: Readonly<Record<string, string>> = {}): Fate =>
    wire('whole', [{ delayMs: 20, front: answer(status, { code: 'in_front' }, headers) }]),
  /** The server dies at work on it, and its lock stays for a while. */
  kills: wire('lost', [{ delayMs: 20, dies: true }]),
  /** Node followed a redirect behind the effect to a host that refuses. */
  refusedBehind: wire('lost', [{ delayMs: 20 }], { code: 'ECONNREFUSED' }),
  refused: wire('lost', [], { refused: true }),
} as const;

export interface Sequence {
  /** The number of the attack in the list that this design answers. */
  readonly attack: string;
  readonly says: string;
  readonly devices?: WorldOptions['devices'];
  readonly sharedStore?: boolean;
  readonly server?: Partial<ServerOptions>;
  readonly client?: ClientOptions;
  readonly laterClient?: ClientOptions;
  readonly plan: readonly Action[];
  /** Of the first operation's sends, in order; what follows is fine. */
  readonly sends?: readonly Fate[];
  /** Effects of the first operation, when all is over. */
  readonly effects: number;
  /** What its calls were told, in the order in which they began: an outcome's type, or a code. */
  readonly told: readonly (string | undefined)[];
  /** Calls of the transport before the calm. */
  readonly sent?: number;
}

const SOUND = { locks: true, atomic: true, driftPpm: 0, skewMs: 0 };
export const oneTab: WorldOptions['devices'] = [{ ...SOUND, slots: ['tab'] }];
export const twoTabs: WorldOptions['devices'] = [{ ...SOUND, slots: ['tab', 'tab'] }];
export const twoProcesses: WorldOptions['devices'] = [{ ...SOUND, locks: false, slots: ['process', 'process'] }];

/** Words for what a call was told. */
function wordFor({ told, dead }: Call, wanted: string | undefined): string {
  if (dead) return 'dead';
  if (!told) return 'nothing';
  return wanted === told.code ? (told.code ?? '') : (told.outcome?.type ?? 'aborted');
}

function comesTo({ effects, told, sent }: Sequence, world: World): string | undefined {
  const op = [...world.books.ops.values()][0] as OpFacts;
  const had = [...op.keys.values()].reduce((sum, key) => sum + key.effects.length, 0);
  if (had !== effects) return `${had} effects, not ${effects}`;
  const heard = told.map((wanted, index) => wordFor(op.calls[index] as Call, wanted));
  if (heard.join() !== told.join()) return `its calls were told: ${heard.join(', ')}, not: ${told.join(', ')}`;
  const calm = op.calls[told.length]?.begunAt ?? Number.POSITIVE_INFINITY;
  const sends = [...op.keys.values()].flatMap((key) => key.sends).filter(({ at }) => at < calm).length;
  return sent === undefined || sent === sends ? undefined : `${sends} sends, not ${sent}`;
}

export const sequence = (s: Sequence): Scenario => ({
  name: `attack-${s.attack}`,
  says: s.says,
  options: () => ({
    devices: s.devices ?? oneTab,
    sharedStore: s.sharedStore,
    server: { ...(FAMILIES['409-retry-after'] as ServerOptions), declined: 0, workMs: [20, 20], ...s.server },
    client: { dialect: GENERIC, ...s.client },
    laterClient: s.laterClient,
    faults: {},
    workload: { operations: 1, spanMs: 0, presses: 1, gapMs: 0 },
    plan: s.plan,
    script: (op, n) => (op.name[1] === 0 ? (s.sends?.[n] ?? fate.fine) : undefined),
  }),
  comesTo: (world) => comesTo(s, world),
});

export const press = (at: number, slot = 0, more: Partial<Deed<'press'>> = {}): Action => ({
  do: 'press',
  at,
  slot,
  name: 0,
  payload: 1,
  ...more,
});
