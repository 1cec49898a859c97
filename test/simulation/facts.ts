/** What happens in a world, as checkers see it. */
import type { Outcome } from '../../src/core/outcome.js';
import type { OnceRecord } from '../../src/core/record.js';
import type { OperationState } from '../../src/engine/shown-state.js';
import type { Endpoint } from './requests.js';

/** One call of a client by the app: a press on a button, or a `resume`. */
export interface Call {
  readonly id: number;
  readonly op: OpFacts;
  readonly verb: 'fetch' | 'run' | 'resume';
  readonly context: string;
  /** The user in whose session the call began. The guest counts as a user. */
  readonly user: string;
  readonly payload: number;
  readonly begunAt: number;
  /** How long it may take by its own limits, ms. */
  readonly limitMs: number;
  /** By how much the device's clock had been set back, in all, when the call began, ms. */
  readonly setBackMs: number;
  /** How often. */
  readonly setsBack: number;
  readonly repeat: 'never' | 'if-changed' | 'always';
  /** How long each of its attempts may take, ms. */
  readonly attemptMs: number;
  /** Its client has durability 'required'. */
  readonly required: boolean;
  /** The caller agreed that the operation goes on without the page until this time, by the device's clock. */
  readonly untilMs?: number | undefined;
  /** The call goes on in the background with what was agreed to; nobody pressed a button. */
  readonly inBackground?: boolean | undefined;
  /** The function of a `run` makes the call: the call that the function belongs to, and the key that the function was given. */
  readonly within?: { readonly call: Call; readonly key: KeyFacts } | undefined;
  told: Told | undefined;
  /** The context died, so nobody waits for the call any more. */
  dead: boolean;
  /** When it died. */
  diedAt: number;
}

export interface Told {
  readonly at: number;
  /** The context was frozen during the call: without locks, others took its operation for one of a dead context. */
  readonly slept?: boolean;
  readonly by: 'answer' | 'error' | 'event';
  readonly outcome: Outcome | undefined;
  /** The status of the response with which the promise resolved. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly error: unknown;
}

/** One call of the transport, which may put several copies on the wire. */
export interface Send {
  readonly id: number;
  readonly key: KeyFacts;
  /** The user whose cookie it bears. */
  readonly account: string;
  readonly call: Call | undefined;
  readonly context: string;
  readonly payload: number;
  readonly at: number;
  /** The time by the clock that counts for the key window: the store's, or the device's if the record is in memory only. */
  readonly wall: number;
  /** The time by the clock of the device that sent it. */
  readonly deviceWall: number;
  /** The server may have forgotten the key already, whatever the device's clock says. */
  readonly lateByTrueTime: boolean;
  /** The number of the attempt in its call, from 1, as the client's event says. */
  readonly attempt: number;
  /** How long the attempt may take, ms. */
  readonly attemptMs: number;
  /** When the context last thawed. */
  readonly thawedAt: number;
  /** The last hook that its context waited for. */
  readonly hook: { readonly askedAt: number; readonly answeredAt: number };
  /** How many copies this one call put on the wire. */
  readonly copies: number;
  readonly endpoint: Endpoint;
  /** The part of its bytes that the client's `fingerprint` leaves out. */
  readonly stamp?: number | undefined;
  /** The part of the operation that this request is for, if the operation has several effects. */
  readonly part?: string | undefined;
  /** The client knows that this server ignores keys, and sent none. The `key` above is the one in its record. */
  readonly keyless?: boolean | undefined;
  /** The client may send a settled key again to get the answer, because it knows that this server replays it. */
  readonly replays?: boolean | undefined;
  /** The answer that the client got while it was still listening, if any. */
  heard: { readonly layer: Layer; readonly status: number } | undefined;
  /** The client has seen the attempt end, or has given it up. */
  over: boolean;
}

/** The layer that gave the answer. The key layer repeats what it has kept; `front` and `unkept` answers are not kept. */
export type Layer = 'front' | 'unkept' | 'kept' | 'busy' | 'done';

export interface Effect {
  readonly at: number;
  readonly account: string;
  readonly key: KeyFacts;
  readonly payload: number;
  /** The call of the transport whose copy took effect. */
  readonly send: Send;
}

/** How a key's time in the store ended. */
export type KeyEnd = 'settled' | 'rejected' | 'forgotten' | 'removed' | 'replaced' | 'evicted' | 'cleared' | 'lost-with-memory';

export interface KeyFacts {
  readonly key: string;
  readonly op: OpFacts;
  epoch: number;
  readonly bornAt: number;
  /** The context that first stored the key. */
  readonly bornIn: string;
  /** The user to whom the key belongs. A guest's key becomes that of the user who logs in. */
  user: string;
  /** When its record was written last. */
  writtenAt: number;
  /** Until when a record with this key was stored for each user: a `move` that was cut off leaves the guest's, too. */
  readonly storedFor: Map<string, number>;
  readonly random: boolean;
  /** A record with this key, marked as sent, was committed to the shared store. */
  durable: boolean;
  /** The key was only ever in the memory of one context. */
  memoryOnly: boolean;
  pendingInStore: boolean;
  /** A call was told how the key ended. `reportedAt`: since when, if the record says so too. */
  told: boolean;
  reportedAt: number | undefined;
  /** `pending()` listed the key when everything had come to rest. */
  listed: boolean;
  end: KeyEnd | undefined;
  endedAt: number;
  /** The context that ended it. */
  endedIn: string;
  /** A log-out of that context ended the pending record as done. */
  endedAtLogOut: boolean;
  /** The `wishes` of its operation when the key was first stored. */
  readonly wish: number;
  /** The server said that the operation is done, although not under this key. */
  elsewhere: boolean;
  /** The record was removed after its end. */
  swept: boolean;
  /** The record was removed because the only clock at hand said that it was time, and that clock was wrong. */
  sweptByItsClock: boolean;
  /** When a log-out cleared the record while it was pending. */
  clearedAt: number;
  /** The context whose lease holds the record, and until when, by the store's clock. */
  held: { readonly context: string; readonly until: number } | undefined;
  /** A call was told that nobody knows which payload of this key took effect. */
  doubtful: boolean;
  /**
   * As stored in the record, by the clocks of the devices that wrote it: when the server may forget the key, and when the record was last
   * touched and settled.
   */
  windowEndsAt: number;
  touchedAt: number;
  settledAt: number;
  /** When the record may be forgotten, as it was written when the record got its present state. Notes by a sweep do not change it. */
  forgetAt: number;
  /** Half of the record was written, or one bit of it is wrong. */
  damaged: boolean;
  /** Since when the record is damaged, if it is pending and its name can still be read, so that calls with equal content find it. */
  flippedAt: number;
  /** A power loss took away the end of this key, or the page that left it open brought it back. */
  revived: boolean;
  /** When the key, which stayed in use or is not random, was begun anew. */
  rebornAt: number;
  /** When a call was last told that the key had no effect. */
  noneAt: number;
  /** Why the server forgot the key after it had executed it or kept a refusal for it, if that was not the client's fault. */
  forgotten: Apart | undefined;
  /** The app itself said how the key ended. */
  byHand: boolean;
  /** What the app said of the key was not true. */
  lied: boolean;
  /** The other keys of the operation whose records the browser had removed when this key was first stored. */
  readonly evictedBefore: Set<string>;
  /** The browser has removed its record at some time; a page that knew the key may have stored it again. */
  wasEvicted: boolean;
  /** The contexts to which the app's `reconcile` has said that it is done. */
  readonly saidDoneTo: Set<string>;
  /** When the app last told each context that it is over, so that the context drops what it remembers of the key. */
  readonly droppedAt: Map<string, number>;
  /** When each context last read that the key was pending, and marked as sent. */
  readonly seen: Map<string, number>;
  readonly sends: Send[];
  readonly effects: Effect[];
  /** The function of a `run` was given this key, and took effect by calls under names of their own: the keys of those. */
  readonly inner: Set<KeyFacts>;
  /** The first call that was told that the key had no effect and never will. */
  none: { readonly at: number; readonly call: Call | undefined } | undefined;
}

/** The parts that the function of a `run` does one after another: under child keys, or by calls under names of their own. */
export const PARTS = ['charge', 'fee'];

/** Once the customer was charged, the fee is not refused. */
export const isLaterPart = ({ name }: OpFacts, part = String(name[0])): boolean => PARTS.indexOf(part) > 0;

/** Whether a request left under this key since it last began. What left before was refused, and its callers were told so. */
export const wasSent = ({ sends, effects, inner, rebornAt }: KeyFacts): boolean =>
  [...sends, ...(inner.size ? effects : [])].some(({ at }) => !Number.isFinite(rebornAt) || at >= rebornAt);

/** Whether the key took effect with all parts of the operation. */
export const isWhole = ({ effects, op: { parts } }: KeyFacts): boolean =>
  effects.length > 0 && parts.every((part) => effects.some(({ send }) => send.part === part));

/**
 * What the app means by one name in one namespace. An epoch is one intended effect: it ends when the app asks for another one (`forget`,
 * `clear`, `repeat`).
 */
export interface OpFacts {
  readonly user: string;
  readonly label: string;
  readonly name: readonly (string | number)[];
  readonly repeat: 'never' | 'if-changed' | 'always';
  /** The calls have no name: each is an operation of its own, but the next equal call takes up one whose answer was lost. */
  readonly unnamed: boolean;
  /** The parts of the operation, if it has several effects. */
  readonly parts: readonly string[];
  /** The operation is named by its content (`once: true`). */
  readonly byContent: boolean;
  epoch: number;
  readonly keys: Map<string, KeyFacts>;
  readonly calls: Call[];
  /** How often the transport was called so far. */
  sends: number;
  readonly payloads: number[];
  /** How many calls of `forget` with `evenIfUnknown` have not been matched to a commit yet. */
  forgetsAnyway: number;
  /** How often the app asked for the same effect once more, by `forget` or `clear`. */
  wishes: number;
  /** The operation was done by other means: at the counter, on the phone. */
  elsewhere: boolean;
  /** The shared store reported that it did not write a record of this operation. If the store only stays silent, no call may go on without a stored record. */
  refused: boolean;
  /** The stored record is damaged. */
  damaged: boolean;
  /** The cases counted apart that this operation met, each with its epoch. */
  readonly apart: Set<string>;
  /** What the last call in the calm was told, if the operation did not settle. */
  unsettled: string | undefined;
}

/** What the app has a context do by hand. `clear-forget`: a log-out that also forgets unsettled operations. */
export interface ByHand {
  readonly what: 'clear' | 'clear-forget' | 'forget' | 'settle' | 'settle-soon' | 'lie' | 'move';
  readonly since: number;
}

/** Whether any of these deeds is under way. */
export const does = (byHand: readonly ByHand[], ...any: readonly ByHand['what'][]): boolean => byHand.some(({ what }) => any.includes(what));

export interface Commit {
  readonly op: OpFacts;
  /** The user in whose namespace the record lies. */
  readonly user: string;
  readonly context: string;
  readonly before: OnceRecord | undefined;
  readonly after: OnceRecord | undefined;
  /** The record was written to the memory of one context, after the store refused it. */
  readonly memory: boolean;
  /** The time by the store's clock. */
  readonly storeNow: number;
  /** Whether the record before was due to be forgotten: by true time, or only by the clock that its context had to use. */
  readonly expired: 'yes' | 'by-its-clock' | 'no';
  /** What the app has this context do by hand at this moment. */
  readonly byHand: readonly ByHand[];
  /** `moved`: the record now lies in another namespace, under the same key. */
  /** `flipped`: the record is damaged, but its name can still be read. */
  readonly why: 'written' | 'moved' | 'torn' | 'flipped' | 'evicted' | 'power-loss' | 'died';
}

/** What a page shows of an operation once everything has come to rest. */
export interface Shown {
  readonly op: OpFacts;
  readonly context: string;
  readonly state: OperationState;
  /** The record under the operation's name, for the user whose session it is. */
  readonly stored: OnceRecord | undefined;
}

export type Fact =
  | ({ readonly kind: 'commit' } & Commit)
  | { readonly kind: 'called'; readonly call: Call }
  | { readonly kind: 'told'; readonly call: Call | undefined; readonly op: OpFacts; readonly told: Told }
  | { readonly kind: 'sent'; readonly send: Send }
  | { readonly kind: 'effect'; readonly effect: Effect }
  | ({ readonly kind: 'shown' } & Shown);

/** Cases that no client could know of, or that an app asked for. They are counted apart. */
export type Apart =
  | 'evicted-with-random-key'
  /** The storage was cleared, and with it the list of pending operations, whatever the keys are. */
  | 'evicted-from-pending'
  /** The store refused the write, the outcome said `storedIn: 'memory'`, and that memory is lost or belongs to one context only. */
  | 'kept-in-memory-only'
  | 'key-forgotten-early'
  /** The guest's operation had settled before the log-in, and `move` brings only unsettled ones. */
  | 'settled-as-guest'
  | 'no-support'
  /** With `if-changed`: after an attempt with the earlier payload was lost, a browser sent the change twice, unseen. */
  | 'changed-and-resent-unseen'
  /** The app called `settle` with something untrue. */
  | 'the-app-lied'
  /** The record was damaged: no call goes on with it before the app throws it away. */
  | 'record-torn'
  /** Nothing touched the record for 30 days, after which it is forgotten, as documented. */
  | 'left-for-a-month'
  /** The network delayed a copy until the server had forgotten its key. */
  | 'copy-outlived-window'
  /** The device's clock was wrong in a way that no record can show. */
  | 'clock-lied';

export interface Violation {
  readonly checker: string;
  readonly at: number;
  readonly says: string;
  readonly op: string;
}

export interface Checker {
  readonly name: string;
  see?(fact: Fact, ledger: Ledger): void;
  /** Called when all faults are over and everything under way has ended. */
  atRest?(ledger: Ledger): void;
}

export interface Ledger {
  readonly now: () => number;
  readonly ops: Map<string, OpFacts>;
  /** The servers honour keys, or the clients know which of them do not. */
  readonly honours: boolean;
  /** A client may send a settled key again to get the answer, because the server replays it. */
  readonly replays: boolean;
  /** The clients have durability 'required': a record in memory is not enough. */
  readonly required: boolean;
  /** Stores are atomic, and write at the time of the call or not at all. */
  readonly exact: boolean;
  /** Stores are also quick, so that a read shows what was stored at the time of the call. */
  readonly quick: boolean;
  /** The true time by which a call must return. */
  dueAt(call: Call): number;
  /** Whether the context is frozen now. Then it holds its locks, also those of calls that have ended. */
  isFrozen(context: string): boolean;
  violate(checker: string, op: OpFacts | undefined, says: string): void;
  apart(kind: Apart, op: OpFacts): void;
}
