/** What happens in a world, as checkers see it. */
import type { Outcome } from '../../src/core/outcome.js';
import type { OnceRecord } from '../../src/core/record.js';
import type { OperationState } from '../../src/engine/observed.js';
import type { Endpoint } from './requests.js';

/** A press on a button: one call of a client by the app. */
export interface Call {
  readonly id: number;
  readonly op: OpFacts;
  readonly verb: 'fetch' | 'run' | 'resume';
  readonly context: string;
  /** Whose session it was begun in; a guest is one of its own. */
  readonly user: string;
  readonly payload: number;
  readonly begunAt: number;
  /** How long it may take by its own limits, ms. */
  readonly limitMs: number;
  /** How far its device's clock had ever been set back by then, ms. */
  readonly setBackMs: number;
  readonly repeat: 'never' | 'if-changed' | 'always';
  /** Its caller agreed that it goes on without the page until then, by the device's clock. */
  readonly untilMs?: number | undefined;
  /** Nobody pressed anything: it goes on with what was agreed to. */
  readonly inBackground?: boolean | undefined;
  told: Told | undefined;
  /** Its context died, so that nobody waits for it any more. */
  dead: boolean;
}

export interface Told {
  readonly at: number;
  readonly by: 'answer' | 'error' | 'event';
  readonly outcome: Outcome | undefined;
  /** Status of the answer that a promise resolved with. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly error: unknown;
}

/** One call of the transport, which may put several copies on the wire. */
export interface Send {
  readonly id: number;
  readonly key: KeyFacts;
  /** Whose cookie it bears. */
  readonly account: string;
  readonly call: Call | undefined;
  readonly context: string;
  readonly payload: number;
  readonly at: number;
  /** By the clock that tells how old its key is: the store's, or the device's where its record is in memory only. */
  readonly wall: number;
  /** By the clock of the device that sent it. */
  readonly deviceWall: number;
  /** The server may have forgotten the key already, whatever the device's clock says. */
  readonly lateByTrueTime: boolean;
  /** Counted from 1 in its drive, as the client's event says. */
  readonly attempt: number;
  /** Its context has been running without a break since then. */
  readonly thawedAt: number;
  /** The last hook that its context waited for. */
  readonly hook: { readonly askedAt: number; readonly answeredAt: number };
  /** Put on the wire by this one call. */
  readonly copies: number;
  readonly endpoint: Endpoint;
  /** What differs in its bytes, and does not count for its client. */
  readonly stamp?: number | undefined;
  /** Which of the effects that its operation has it is about, where that has several. */
  readonly part?: string | undefined;
  /** Its client knows that keys are of no use there, and sent none: the key is that of its record. */
  readonly keyless?: boolean | undefined;
  /** A settled answer may be asked for again: its client knows that this server replays it. */
  readonly replays?: boolean | undefined;
  /** The answer that the client got, if it got one while it still listened. */
  heard: { readonly layer: Layer; readonly status: number } | undefined;
}

/** Who refused, of those who may: the key layer remembers its refusals, the others do not. */
export type Layer = 'front' | 'unkept' | 'kept' | 'busy' | 'done';

export interface Effect {
  readonly at: number;
  readonly account: string;
  readonly key: KeyFacts;
  readonly payload: number;
  /** The call of the transport whose copy had it. */
  readonly send: Send;
}

/** How a key's time in the store ended. */
export type KeyEnd = 'settled' | 'rejected' | 'forgotten' | 'removed' | 'replaced' | 'evicted' | 'cleared' | 'lost-with-memory';

export interface KeyFacts {
  readonly key: string;
  readonly op: OpFacts;
  readonly epoch: number;
  readonly bornAt: number;
  /** The context that stored it first. */
  readonly bornIn: string;
  /** Whose it is: a guest's becomes that of who logs in. */
  user: string;
  readonly random: boolean;
  /** A record with this key, marked as sent, was committed to the shared store. */
  durable: boolean;
  /** It was only ever in the memory of one context. */
  memoryOnly: boolean;
  wasInMemory: boolean;
  pendingInStore: boolean;
  /** Somebody learned how it ended; and when, if that was what the store said, too. */
  told: boolean;
  reportedAt: number | undefined;
  /** `pending()` showed it when everything had come to rest. */
  listed: boolean;
  end: KeyEnd | undefined;
  endedAt: number;
  /** The context that ended it. */
  endedIn: string;
  /** How often the app had, by its birth, asked for the same once more. */
  readonly wish: number;
  /** Its server said that it is done, though not under this key. */
  elsewhere: boolean;
  /** What was left of it was removed after its end. */
  swept: boolean;
  /** … because the only clock that there was said that it was time. */
  sweptByItsClock: boolean;
  /** When a log-out came over it while it was pending. */
  clearedAt: number;
  /** The context that drives it by the lease it took, which lasts so long by the store's clock. */
  held: { readonly context: string; readonly until: number } | undefined;
  /** Somebody was told that nobody knows which of its payloads took effect. */
  doubtful: boolean;
  /** Its record says that it stood for more than one payload, whether they were sent or not. */
  edited: boolean;
  /** As stored: when the server may forget it, and the last stamp; by the clocks of the devices that wrote them. */
  windowEndsAt: number;
  touchedAt: number;
  settledAt: number;
  /** When it may be forgotten, as was said when it got its present state; a sweep's own notes do not change that. */
  forgetAt: number;
  /** Half of its record was written, or a bit of it is another one. */
  damaged: boolean;
  /** Since when that has been so, where whoever looks for its equals finds it. */
  flippedAt: number;
  /** Power was lost and took the end of this key with it. */
  revived: boolean;
  /** When a later generation took up the same key, which is not random. */
  rebornAt: number;
  /** When somebody was last told that it had no effect. */
  noneAt: number;
  /** The server executed it and then forgot it, which was not this client's doing. */
  forgotten: Apart | undefined;
  /** The app said what became of it. */
  byHand: boolean;
  /** What the app said was not true. */
  lied: boolean;
  readonly sends: Send[];
  readonly effects: Effect[];
  /** Somebody was told that it had no effect and never will. */
  none: { readonly at: number; readonly call: Call | undefined } | undefined;
}

/** Whether anything left under it since it was last begun: what left before then was refused, and its callers were told so. */
export const wasSent = ({ sends, rebornAt }: KeyFacts): boolean => sends.some(({ at }) => !Number.isFinite(rebornAt) || at >= rebornAt);

/** Whether it took effect, with all of its parts. */
export const isWhole = ({ effects, op: { parts } }: KeyFacts): boolean =>
  effects.length > 0 && parts.every((part) => effects.some(({ send }) => send.part === part));

/**
 * What the app means by one name in one namespace. An epoch is one intended effect: it ends when somebody who may, asks
 * for another one (`forget`, `clear`, `repeat`).
 */
export interface OpFacts {
  readonly user: string;
  readonly label: string;
  readonly name: readonly (string | number)[];
  readonly repeat: 'never' | 'if-changed' | 'always';
  /** Without a name: each call is an operation of its own, but one whose answer was lost is taken up by the next equal call. */
  readonly unnamed: boolean;
  /** The effects that it has in all, where there are several. */
  readonly parts: readonly string[];
  /** Named by what is sent. */
  readonly byContent: boolean;
  epoch: number;
  readonly keys: Map<string, KeyFacts>;
  readonly calls: Call[];
  /** Calls of the transport so far. */
  sends: number;
  readonly payloads: number[];
  /** The app asked to forget an operation that may have had its effect. */
  forgetsAnyway: number;
  /** How often somebody who may, asked for the same once more: `forget`, `clear`. */
  wishes: number;
  /** Somebody did it by other means: at the counter, on the phone. */
  elsewhere: boolean;
  /** The shared store said that it did not take a record of it. Silence is no such word: then nobody may go on without it. */
  refused: boolean;
  /** What is stored is no record any more. */
  damaged: boolean;
  /** Cases that are counted apart and that this operation met, with the epoch. */
  readonly apart: Set<string>;
  /** The latest epoch in which somebody learned of the effect or of its absence. */
  reportedIn: number;
  /** What its last call in calm was told, if it did not settle. */
  unsettled: string | undefined;
}

/** What an app has a context do by hand. `clear-forget`: a log-out that drops what is unsettled, too. */
export interface ByHand {
  readonly what: 'clear' | 'clear-forget' | 'forget' | 'settle' | 'lie' | 'move';
  readonly since: number;
}

/** Whether any of these is under way. */
export const does = (byHand: readonly ByHand[], ...any: readonly ByHand['what'][]): boolean => byHand.some(({ what }) => any.includes(what));

export interface Commit {
  readonly op: OpFacts;
  /** Whose namespace it lies in. */
  readonly user: string;
  readonly context: string;
  readonly before: OnceRecord | undefined;
  readonly after: OnceRecord | undefined;
  /** In the memory of one context, after the store refused the write. */
  readonly memory: boolean;
  /** The time by the store's clock. */
  readonly storeNow: number;
  /** Whether the time had come at which what was there is forgotten: truly, or only by the clock that somebody had to go by. */
  readonly expired: 'yes' | 'by-its-clock' | 'no';
  /** What the app has this context do by hand at this moment. */
  readonly byHand: readonly ByHand[];
  /** `moved`: what it was lies in another namespace, under the same key. */
  /** `flipped`: damaged, and its name can still be read. */
  readonly why: 'written' | 'moved' | 'torn' | 'flipped' | 'evicted' | 'power-loss' | 'died';
}

/** What a page shows of an operation once everything has come to rest. */
export interface Shown {
  readonly op: OpFacts;
  readonly context: string;
  readonly state: OperationState;
  /** What is stored under its name, for the user whose session it is. */
  readonly stored: OnceRecord | undefined;
}

export type Fact =
  | ({ readonly kind: 'commit' } & Commit)
  | { readonly kind: 'called'; readonly call: Call }
  | { readonly kind: 'told'; readonly call: Call | undefined; readonly op: OpFacts; readonly told: Told }
  | { readonly kind: 'sent'; readonly send: Send }
  | { readonly kind: 'effect'; readonly effect: Effect }
  | ({ readonly kind: 'shown' } & Shown);

/** What a world does that no client could know, or that an app asked for: counted apart. */
export type Apart =
  | 'evicted-with-random-key'
  /** The list of pending operations went with the storage, whatever the keys. */
  | 'evicted-from-pending'
  /** The store refused the write, the outcome said `storedIn: 'memory'`, and that memory is gone or of one context only. */
  | 'kept-in-memory-only'
  | 'key-forgotten-early'
  /** The guest's operation had settled before the log-in, and `move` takes along what is open. */
  | 'settled-as-guest'
  | 'no-support'
  /** With `if-changed`: a browser sent the change twice, unseen, after an attempt with the payload before it had been lost. */
  | 'changed-and-resent-unseen'
  /** The app said `settle('none')` or `settle('done')`, and that was not so. */
  | 'the-app-lied'
  /** Half of its record was written: nobody goes on with it before the app throws it away. */
  | 'record-torn'
  /** Nobody touched it for 30 days, after which it is forgotten, as the documents say. */
  | 'left-for-a-month'
  /** The network held a copy back until the server had forgotten its key. */
  | 'copy-outlived-window'
  /** The device's clock was wrong in a way that the record cannot show. */
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
  /** When all faults are over and everything that was under way has ended. */
  atRest?(ledger: Ledger): void;
}

export interface Ledger {
  readonly now: () => number;
  readonly ops: Map<string, OpFacts>;
  /** Its servers know keys, or its clients know which of them do not. */
  readonly honours: boolean;
  /** A settled answer may be asked for again: the server replays it. */
  readonly replays: boolean;
  /** The clients were told that memory is not enough. */
  readonly required: boolean;
  /** Stores are atomic, and write when they are told to or not at all. */
  readonly exact: boolean;
  /** … and at once, so that who looks at one sees what was there at the time. */
  readonly quick: boolean;
  /** True time by which a call has to return. */
  dueAt(call: Call): number;
  violate(checker: string, op: OpFacts | undefined, says: string): void;
  apart(kind: Apart, op: OpFacts): void;
}
