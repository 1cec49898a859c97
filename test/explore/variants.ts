/** The variants: small worlds to explore. */
import { derived } from '../../src/core/derived.js';
import { GENERIC } from '../../src/dialects/generic.js';
import type { KeyStrategy, OnceOptions } from '../../src/option-types.js';
import type { ContextKind } from '../simulation/context.js';
import { FAMILIES, type ServerOptions } from '../simulation/families.js';
import type { Deed, LogIn, Pause, Press, Wake } from './app.js';
import type { ExploredContext } from './context.js';
import type { Fault } from './faults.js';
import type { ExploredWorld } from './world.js';

export interface Variant {
  readonly name: string;
  readonly says: string;
  readonly contexts: readonly ContextKind[];
  readonly locks: boolean;
  readonly atomic: boolean;
  readonly server: ServerOptions;
  /** What happened before the exploration begins, without faults. */
  readonly before?: readonly (Press | Pause)[];
  readonly agenda: readonly (Press | Pause | Wake | LogIn)[];
  readonly repeat?: 'never' | 'if-changed' | 'always';
  /** @default a random one */
  readonly key?: KeyStrategy;
  readonly faults: readonly Fault[];
  readonly deeds: readonly Deed[];
  /** Presses have a consent for this long, ms. */
  readonly consentMs?: number;
  /** The customer begins as a guest. */
  readonly guest?: boolean;
  /** Messages may be held back. @default true */
  readonly late?: boolean;
  /** A client may send a settled key again to get the answer. */
  readonly replays?: boolean;
  readonly client?: (world: ExploredWorld, context: ExploredContext) => OnceOptions;
}

const DAY_MS = 24 * 3_600_000;

const NETWORK: readonly Fault[] = [
  'requestLost',
  'responseLost',
  'truncated',
  'copied',
  'frontRefuses',
  'frontBreaks',
  'frontBreaksAfter',
  'declines',
  'crashesBefore',
  'dies',
];
const STORE: readonly Fault[] = ['lookFails', 'commitFails', 'failAfterCommit', 'storeHangs'];
const DEEDS: readonly Deed[] = ['crash', 'abort', 'log-out', 'settle', 'forget', 'forget anyway', 'clear', 'close', 'freeze'];
/** The deeds for unnamed operations, which cannot be settled or forgotten by name. */
const NAMELESS: readonly Deed[] = ['crash', 'abort', 'log-out', 'clear', 'close', 'freeze', 'resume'];
/**
 * On a store that is not atomic, a late writer undoes what another one wrote. So nothing is done by hand at the same time, and no context
 * sleeps in between.
 */
const NOT_BY_HAND: readonly Deed[] = ['crash', 'abort', 'log-out', 'close'];

const FAMILY = FAMILIES['409-retry-after'] as ServerOptions;
const server = (more: Partial<ServerOptions>): ServerOptions => ({ ...FAMILY, declined: 0, ...more });

const press = (slot: number, payload: number, more: Omit<Press, 'slot' | 'payload'> = {}): Press => ({ slot, payload, ...more });

/** Limits with which the same loops are run fewer times. */
const LIMITS: OnceOptions = { dialect: { ...GENERIC, perAccount: false }, limits: { attempts: 2, inProgressMs: 1500 } };

/**
 * A call that waits for a lease reads the record again and again. With a shorter lease it reads fewer times. The ratio of `attemptMs` and
 * `leaseMs` is the default's.
 */
const SHORT_LEASES: OnceOptions = { ...LIMITS, limits: { ...LIMITS.limits, attemptMs: 6000, leaseMs: 3000 } };

const TAB: Variant = {
  name: 'one tab',
  says: 'one tab with Web Locks; the customer presses twice',
  contexts: ['tab'],
  locks: true,
  atomic: true,
  server: server({}),
  agenda: [press(0, 1), press(0, 1)],
  faults: [...NETWORK, ...STORE],
  deeds: DEEDS,
  client: () => LIMITS,
};

const two = (more: Partial<Variant>): Partial<Variant> => ({ contexts: ['tab', 'tab'], agenda: [press(0, 1), press(1, 1)], ...more });

const of = (name: string, says: string, more: Partial<Variant>): Variant => ({ ...TAB, ...more, name, says });

export const VARIANTS: readonly Variant[] = [
  TAB,
  of('edited', 'one tab; the form is edited before the second press', { agenda: [press(0, 1), press(0, 2)] }),
  of('edited back', 'a client that tries once; the form is edited, and edited back', {
    client: () => ({ ...LIMITS, limits: { ...LIMITS.limits, attempts: 1 } }),
    agenda: [press(0, 1), press(0, 2), press(0, 1)],
  }),
  of('two tabs', 'two tabs with Web Locks', two({})),
  of('two tabs, leases', 'two tabs without Web Locks, so with leases', two({ locks: false, client: () => SHORT_LEASES })),
  of(
    'two tabs, not atomic',
    'two tabs without Web Locks on a store that is not atomic among them',
    two({ locks: false, atomic: false, deeds: NOT_BY_HAND, client: () => SHORT_LEASES }),
  ),
  of('a tab that hangs', 'two tabs with Web Locks; the second one goes on without the lock, and drives when the first one has given up', {
    ...two({ deeds: ['crash', 'abort', 'settle', 'forget anyway', 'clear'] }),
    faults: ['responseLost', 'frontRefuses', 'declines', 'dies'],
    client: (_, { id }) => ({
      ...LIMITS,
      limits: id.startsWith('tab 1') ? { attempts: 1, attemptMs: 8000, inProgressMs: 1500 } : { attempts: 2, attemptMs: 5000, inProgressMs: 20_000 },
    }),
  }),
  of('process', 'one process, which can tell that nothing was sent', { contexts: ['process'], locks: false }),
  of('two processes', 'two processes on one store, with leases', two({ contexts: ['process', 'process'], locks: false, client: () => SHORT_LEASES })),
  of('two processes, edited', 'two processes with leases; the second one brings another payload', {
    ...two({ contexts: ['process', 'process'], locks: false, client: () => SHORT_LEASES }),
    agenda: [press(0, 1), press(1, 2)],
  }),
  of('refusals forgotten', 'a server that keeps no refusals for the key', { server: server({ keepsRefusals: false }) }),
  of('held open', 'a server that lets the second copy wait, and keeps no refusals', { server: server({ busy: 'held-open', keepsRefusals: false }) }),
  of('no marks', 'a server that marks no replays', { server: server({ busy: '409', marker: false }) }),
  of('another card', 'a server that marks no replays; three minutes later another card', {
    server: server({ busy: '409', marker: false }),
    agenda: [press(0, 1), { waitMs: 180_000 }, press(0, 2)],
    faults: NETWORK,
    deeds: ['crash', 'freeze'],
  }),
  of('errors kept', 'a server that keeps a 500 for the key', { server: server({ keepsErrors: true, mismatch: 400 }) }),
  of('mismatch replays', 'a server that repeats its first answer to another payload; an edited form', {
    server: server({ mismatch: 'replays', keepsRefusals: false }),
    agenda: [press(0, 1), press(0, 2)],
  }),
  of('endpoints', 'keys count per endpoint; the second press goes to another one', {
    server: server({ scope: ['origin', 'endpoint'] }),
    agenda: [press(0, 1, { path: '/pay/card' }), press(0, 1, { path: '/pay/paypal' })],
  }),
  of('two origins', 'keys count per origin; the second press goes to another one', {
    server: server({ scope: ['origin', 'endpoint'] }),
    agenda: [press(0, 1), press(0, 1, { path: 'https://eu.shop.example/pay' })],
  }),
  of('unnamed', 'requests without a name, in two tabs', { ...two({ deeds: NAMELESS }), agenda: [press(0, 1, { name: null }), press(1, 1, { name: null })] }),
  of('resumes', 'one tab that stores requests and may resume everything that is pending; two operations', {
    deeds: ['crash', 'abort', 'log-out', 'settle', 'clear', 'close', 'freeze', 'resume'],
    client: () => ({ ...LIMITS, keep: { request: true } }),
    agenda: [press(0, 1), press(0, 1, { name: 'tip' })],
  }),
  of('guest', 'a guest who logs in with unsettled operations, in two tabs; keys count for all accounts', {
    ...two({ deeds: ['crash', 'abort', 'settle', 'clear', 'close', 'freeze', 'log-in'] }),
    guest: true,
    server: server({ anyAccount: true }),
  }),
  of('guest, then user', 'a guest who presses, logs in, and presses again', {
    deeds: ['crash', 'abort', 'clear', 'close', 'freeze'],
    guest: true,
    server: server({ anyAccount: true }),
    agenda: [press(0, 1), { logsIn: 0 }, press(0, 1)],
  }),
  of('offline', 'a device that goes offline, and a server that is restarted while it works', {
    deeds: ['crash', 'abort', 'freeze', 'offline', 'long offline', 'server restart'],
  }),
  of('months', 'names that are used again after a month, while another tab sweeps', {
    ...two({ deeds: ['crash', 'freeze', 'clear'] }),
    faults: ['responseLost', ...STORE],
    before: [press(0, 1), { waitMs: 40 * DAY_MS }, press(0, 1, { name: 'tip' }), { waitMs: 8 * DAY_MS }],
    agenda: [press(1, 1, { name: 'gift' }), press(0, 1)],
  }),
  of('one attempt', 'a client that tries once', { client: () => ({ ...LIMITS, limits: { ...LIMITS.limits, attempts: 1 } }) }),
  of('login page', 'something in front answers with a login page, or redirects to one', { faults: ['loginPage', 'redirected', 'responseLost'] }),
  of('polls, edited', 'a server that answers 202 and works later, and answers another payload with the first link; an edited form', {
    server: server({ accepts: true, mismatch: 'replays', keepsRefusals: false }),
    client: () => ({ ...LIMITS, accepted: 'poll' }),
    agenda: [press(0, 1), press(0, 2)],
  }),
  of('polls, changed', 'the same server as in `polls, edited`; a profile that is saved again after a change', {
    server: server({ accepts: true, mismatch: 'replays', keepsRefusals: false }),
    repeat: 'if-changed',
    client: () => ({ ...LIMITS, accepted: 'poll' }),
    agenda: [press(0, 1), press(0, 2)],
  }),
  of('next day', 'the second press comes when the server may have forgotten the key', { agenda: [press(0, 1), { waitMs: 24 * 3_600_000 }, press(0, 1)] }),
  of('derived', 'a derived key at a server that repeats its first answer to another payload; three minutes later, an edited form', {
    key: derived,
    server: server({ mismatch: 'replays', keepsRefusals: false }),
    deeds: ['crash', 'abort', 'clear', 'settle', 'forget'],
    agenda: [press(0, 1), { waitMs: 180_000 }, press(0, 2)],
  }),
  of('if changed', 'a profile that is saved again: as it was, changed, and as it was', {
    repeat: 'if-changed',
    agenda: [press(0, 1), press(0, 1), press(0, 2)],
  }),
  of('always', 'a button that may be pressed again, in two tabs', two({ repeat: 'always' })),
  of('asks', 'an app that can ask its server what became of an operation, in the session of whoever is logged in', {
    deeds: [...DEEDS, 'another user'],
    client: (world, context) => ({ ...LIMITS, reconcile: (question) => world.ask(context, question.key) }),
  }),
  of('worker', 'a tab, and a worker that goes on with operations that have a consent, when it starts and at any later moment', {
    contexts: ['tab', 'tab'],
    consentMs: 10_000,
    deeds: ['crash', 'abort', 'log-out', 'clear', 'close', 'freeze', 'wake', 'offline'],
    agenda: [press(0, 1), { wakes: 1 }, press(0, 1)],
  }),
  of('worker, edited', 'the same as `worker`; the form is edited before the second press, and the worker is woken once more', {
    contexts: ['tab', 'tab'],
    consentMs: 10_000,
    deeds: ['crash', 'abort', 'log-out', 'clear', 'close', 'wake'],
    agenda: [press(0, 1), { wakes: 1 }, press(0, 2), { wakes: 1 }],
  }),
  of(
    'worker, leases',
    'a tab and a worker without Web Locks, and an edited form; fewer kinds of faults, because a call that waits for a lease reads the store often',
    {
      contexts: ['tab', 'tab'],
      locks: false,
      client: () => SHORT_LEASES,
      consentMs: 10_000,
      faults: ['responseLost', 'frontRefuses', 'dies'],
      late: false,
      deeds: ['crash', 'wake'],
      agenda: [press(0, 1), { wakes: 1 }, press(0, 2)],
    },
  ),
  of('two names', 'one tab, two operations', { agenda: [press(0, 1), press(0, 1, { name: 'tip' })] }),
];
