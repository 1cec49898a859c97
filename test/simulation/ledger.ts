/** The ledger that all checkers share: operations, their epochs, and the life of each key. It judges nothing. */
import type { OnceRecord } from '../../src/core/record.js';
import { type Apart, type Call, type Checker, type Commit, does, type Fact, type KeyFacts, type Ledger, type OpFacts, type Violation } from './facts.js';

export class Books implements Ledger {
  readonly ops = new Map<string, OpFacts>();
  /** All keys. No key belongs to two operations. */
  readonly keys = new Map<string, KeyFacts>();
  readonly violations: Violation[] = [];
  /** How many operations met each case that is counted apart. */
  readonly aparts = new Map<Apart, number>();
  readonly honours: boolean;
  readonly replays: boolean;
  readonly required: boolean;
  readonly exact: boolean;
  readonly quick: boolean;
  readonly now: () => number;
  readonly dueAt: (call: Call) => number;
  readonly isFrozen: (context: string) => boolean;
  readonly #checkers: readonly Checker[];
  /** The context that took each lease, by the owner's name in the lease. */
  readonly #leases = new Map<string, string>();

  constructor(
    now: () => number,
    how: Pick<Ledger, 'honours' | 'replays' | 'required' | 'exact' | 'quick' | 'dueAt' | 'isFrozen'>,
    checkers: readonly Checker[],
  ) {
    this.now = now;
    this.dueAt = how.dueAt;
    this.isFrozen = how.isFrozen;
    this.honours = how.honours;
    this.replays = how.replays;
    this.required = how.required;
    this.exact = how.exact;
    this.quick = how.quick;
    this.#checkers = checkers;
  }

  op(
    user: string,
    name: readonly (string | number)[],
    {
      repeat = 'never',
      unnamed = false,
      byContent = false,
      parts = [],
    }: { repeat?: OpFacts['repeat'] | undefined; unnamed?: boolean | undefined; byContent?: boolean | undefined; parts?: readonly string[] } = {},
  ): OpFacts {
    const label = JSON.stringify(name);
    const id = `${user} ${label}`;
    const known = this.ops.get(id);
    if (known) return known;
    const made: OpFacts = {
      user,
      label,
      name,
      repeat,
      unnamed,
      byContent,
      parts,
      epoch: 0,
      keys: new Map(),
      calls: [],
      sends: 0,
      payloads: [],
      forgetsAnyway: 0,
      wishes: 0,
      elsewhere: false,
      damaged: false,
      refused: false,
      apart: new Set(),
      unsettled: undefined,
    };
    this.ops.set(id, made);
    return made;
  }

  see(fact: Fact): void {
    if (fact.kind === 'commit') this.#commit(fact);
    if (fact.kind === 'sent') fact.send.key.sends.push(fact.send);
    for (const checker of this.#checkers) checker.see?.(fact, this);
    // Checkers compare a new fact with what was known before, so the ledger adds effects and outcomes after they have seen them.
    if (fact.kind === 'effect') fact.effect.key.effects.push(fact.effect);
    if (fact.kind === 'told') this.#told(fact);
  }

  atRest(): void {
    for (const checker of this.#checkers) checker.atRest?.(this);
  }

  violate(checker: string, op: OpFacts | undefined, says: string): void {
    this.violations.push({ checker, at: this.now(), says, op: op ? `${op.user} ${op.label}` : '' });
  }

  apart(kind: Apart, op: OpFacts): void {
    const once = `${kind} ${op.epoch}`;
    if (op.apart.has(once)) return;
    op.apart.add(once);
    this.aparts.set(kind, (this.aparts.get(kind) ?? 0) + 1);
  }

  /** The facts about a key. A key that no store ever saw is added here. */
  keyOf(op: OpFacts, key: string, random = true, bornIn = ''): KeyFacts {
    const known = op.keys.get(key);
    if (known) return known;
    const made: KeyFacts = {
      key,
      op,
      epoch: op.epoch,
      bornAt: this.now(),
      bornIn,
      user: op.user,
      writtenAt: 0,
      storedFor: new Map(),
      random,
      durable: false,
      memoryOnly: false,
      pendingInStore: false,
      listed: false,
      reportedAt: undefined,
      told: false,
      end: undefined,
      endedAt: 0,
      endedIn: '',
      endedAtLogOut: false,
      wish: op.wishes,
      elsewhere: false,
      swept: false,
      sweptByItsClock: false,
      clearedAt: Number.POSITIVE_INFINITY,
      held: undefined,
      doubtful: false,
      windowEndsAt: Number.POSITIVE_INFINITY,
      touchedAt: 0,
      settledAt: 0,
      forgetAt: Number.POSITIVE_INFINITY,
      damaged: false,
      flippedAt: Number.POSITIVE_INFINITY,
      revived: false,
      forgotten: undefined,
      rebornAt: Number.POSITIVE_INFINITY,
      noneAt: Number.NEGATIVE_INFINITY,
      byHand: false,
      lied: false,
      sends: [],
      effects: [],
      inner: new Set(),
      evictedBefore: new Set(),
      wasEvicted: false,
      saidDoneTo: new Set(),
      droppedAt: new Map(),
      none: undefined,
      seen: new Map(),
    };
    op.keys.set(key, made);
    this.keys.set(key, made);
    return made;
  }

  #told({ op, told, call }: Extract<Fact, { kind: 'told' }>): void {
    const { outcome } = told;
    if (call && told.by !== 'event') call.told = told;
    if (!outcome || outcome.effect === 'unknown') return;
    const key = outcome.key === undefined ? undefined : this.keyOf(op, outcome.key);
    if (key && outcome.type === 'fresh' && (outcome.changed || !outcome.certain)) key.doubtful = true;
    if (told.by !== 'event' && key) key.told = true;
    if (told.by !== 'event' && key && (key.end === 'settled' || outcome.effect === 'none')) key.reportedAt ??= this.now();
    if (key && outcome.effect === 'none') {
      key.none ??= { at: this.now(), call };
      key.noneAt = this.now();
    }
  }

  #commit(commit: Commit): void {
    const { op, user, before, after, memory, why, byHand, context } = commit;
    if (before) op.keys.get(before.key)?.storedFor.set(user, this.now());
    if (why === 'moved') return;
    const old = before && this.keyOf(op, before.key, before.random);
    if (why === 'torn' || why === 'flipped') {
      // Each unnamed call has a record of its own, so only its key is damaged.
      if (old && op.unnamed)
        Object.assign(old, { damaged: true, flippedAt: why === 'flipped' && before?.state === 'pending' ? this.now() : Number.POSITIVE_INFINITY });
      else op.damaged = true;
      return;
    }
    const wasDamaged = op.damaged;
    // No call overwrites a damaged record. Only an app that was asked throws it away.
    if (why === 'written') op.damaged = false;
    if (why === 'written' && old) Object.assign(old, { damaged: false, flippedAt: Number.POSITIVE_INFINITY });
    // A note by a sweep, or the rest that a log-out leaves, does not end the record a second time.
    const isNote = before?.state === after?.state && before?.key === after?.key;
    const { epoch } = op;
    if (old && before && !isNote && (!after || after.key !== before.key || after.state !== 'pending')) {
      // A key that ends in the memory of one context may still be pending in the store, where other contexts see it.
      if (!memory || !old.pendingInStore) this.#end(old, commit);
      if (this.#opensEpoch(op, commit) || (wasDamaged && this.#forgotTorn(op, commit))) {
        op.epoch++;
        // A press that sends a new payload under a new key does not ask for the same effect again.
        if (after?.state !== 'pending' || commit.expired === 'yes') op.wishes++;
      }
    }
    if (old && !memory) old.pendingInStore = false;
    if (old && (!after || after.key !== old.key)) {
      old.swept = !after;
      if (why !== 'written') old.held = undefined;
      if (commit.expired === 'by-its-clock' && old.end === 'settled') old.sweptByItsClock = true;
    }
    if (!after) return;
    const isNew = !op.keys.has(after.key);
    const key = this.keyOf(op, after.key, after.random, context);
    if (isNew) for (const one of op.keys.values()) if (one.end === 'evicted') key.evictedBefore.add(one.key);
    key.writtenAt = this.now();
    key.storedFor.set(user, Number.POSITIVE_INFINITY);
    // Where the name may take effect again, a guest's operation that `move` puts in the place of what the user has done is the next one.
    if (op.epoch > epoch && does(byHand, 'move')) key.epoch = op.epoch;
    // A late write into the guest's copy of the record does not give the key back to the guest.
    if (isNew || user === op.user) key.user = user;
    if (memory) {
      if (!key.durable) key.memoryOnly = true;
    } else {
      key.memoryOnly = false;
      key.pendingInStore = after.state === 'pending';
      if (after.state === 'pending' && after.ambiguous) key.durable = true;
    }
    if (after.ending && 'from' in after.ending && after.ending.from === 'reconcile') key.byHand = true;
    // The context may have died before its caller was told.
    if (after.state === 'settled' && after.ending?.type === 'fresh' && !after.ending.certain) key.doubtful = true;
    if (does(byHand, 'lie', 'settle-soon') && after.state !== 'pending') key.lied = true;
    if (!memory) this.#hold(key, commit, after);
    key.windowEndsAt = after.windowEndsAt ?? Number.POSITIVE_INFINITY;
    // The rest that a log-out leaves of a settled record answers the calls that wait for it, and is kept no longer. A sweep at the same time notes
    // its second look (`dueAt`).
    const stub = does(byHand, 'clear') && before?.state === 'settled' && after.dueAt === undefined;
    const anew = stub || (after.state === 'pending' ? key.touchedAt !== after.touchedAt : key.settledAt !== after.settledAt);
    if (anew) key.forgetAt = after.forgetAt;
    key.touchedAt = after.touchedAt;
    key.settledAt = after.settledAt ?? key.settledAt;
    // A page has stored again what it knows to be done.
    if (after.state === 'settled' && !before && key.end) key.end = 'settled';
    if (after.state !== 'pending') return;
    // A key that is not random is also used again after the storage was lost.
    const toldSince = key.noneAt > (Number.isFinite(key.rebornAt) ? key.rebornAt : Number.NEGATIVE_INFINITY);
    const begins = before ? before.state !== 'pending' && before.key === after.key : toldSince && !after.random;
    if (begins && why === 'written') key.rebornAt = this.now();
    // A page goes on with the key that it left open, if another one has ended it and a sweep or a log-out has removed the record.
    const leftOpen = context !== undefined && (key.seen.has(context) || key.sends.some((send) => send.context === context));
    if (why === 'written' && !before && key.end && leftOpen) {
      key.revived = true;
      // A key that is not random is only made again.
      if (after.random) key.epoch = op.epoch;
    }
    // A power loss took the end of the key away, so its operation goes on.
    // A loss of power may take a log-out away.
    if (why === 'power-loss' && after.revision < (before?.revision ?? 0)) key.clearedAt = Number.POSITIVE_INFINITY;
    if (why === 'power-loss' && key.end) {
      key.revived = true;
      key.none = undefined;
    }
    // A write into the guest's copy does not reopen what has ended in the user's own record.
    if (user === key.user) Object.assign(key, { end: undefined, swept: false });
    if (does(byHand, 'clear') && before && isCleared(before, after)) key.clearedAt = this.now();
  }

  /**
   * Notes which context drives a key by its lease. A lease ends when its holder gives it back or ends the record, whatever others write. A
   * context that takes an expired lease out of the record ends it, too: it must not hold again when a clock is set back later.
   */
  #hold(key: KeyFacts, { before, context, why, byHand, storeNow }: Commit, { lease, state }: OnceRecord): void {
    const { held } = key;
    const isGivenBack = held && (!lease || state !== 'pending') && (held.context === context || held.until <= storeNow);
    if (why !== 'written' || isGivenBack) key.held = undefined;
    // Or two moves ran at once: the other one has moved the record, and this write leaves the lease of the earlier copy unchanged.
    else if (lease && state === 'pending' && lease.until !== before?.lease?.until) {
      // A moved record has a lease that belongs to no context, because the guest's driver may still have a request on the wire.
      if (!this.#leases.has(lease.owner)) this.#leases.set(lease.owner, does(byHand, 'move') ? '' : context);
      // Beside a lock, a lease keeps nobody out.
      key.held = lease.locked ? undefined : { context: this.#leases.get(lease.owner) as string, until: lease.until };
    }
  }

  #end(key: KeyFacts, { user, before, after, why, context, byHand }: Commit): void {
    if (!before || (key.end && user !== key.user)) return;
    // Replacing the key of an ended record by another one does not end it again, nor does removing a refused one: who presses again means another effect.
    if (before.state === 'pending' || (!after && before.state === 'settled') || after?.key === before.key) {
      const endedAtLogOut = before.state === 'pending' && after?.state === 'settled' && does(byHand, 'clear', 'clear-forget');
      Object.assign(key, { endedAt: this.now(), endedIn: context, endedAtLogOut });
    }
    if (does(byHand, 'settle', 'settle-soon', 'lie')) key.byHand = true;
    // A log-out that forgets unsettled operations removes the record, and the lease in it.
    if (!after && does(byHand, 'clear-forget')) key.held = undefined;
    key.wasEvicted ||= why === 'evicted';
    if (!after) key.end = why === 'evicted' ? 'evicted' : why === 'died' ? 'lost-with-memory' : before.state === 'pending' ? 'removed' : (key.end ?? 'settled');
    // When it turns out that nothing was sent, the record before it is put back.
    else if (after.key !== before.key) key.end = before.state !== 'pending' ? key.end : after.state === 'pending' ? 'replaced' : 'removed';
    else key.end = after.state === 'settled' ? 'settled' : after.ending?.type === 'rejected' || after.sticky ? 'rejected' : 'forgotten';
  }

  /** Whether the app threw away a damaged record whose last write was the end of the operation: that ends the epoch all the same. */
  #forgotTorn(op: OpFacts, { before, after, byHand }: Commit): boolean {
    if (after || !before || op.forgetsAnyway === 0) return false;
    if (before.state !== 'settled' && !(before.state === 'retired' && before.ending?.type === 'unknown')) return false;
    if (!does(byHand, 'forget')) return false;
    op.forgetsAnyway--;
    return true;
  }

  /** Whether this commit means that the app asked for another effect under the same name. */
  #opensEpoch(op: OpFacts, { before, after, why, byHand, expired }: Commit): boolean {
    if (why !== 'written' || op.unnamed || !before) return false;
    const over = expired === 'yes' && after?.key !== before.key;
    const cleared = !after && does(byHand, 'clear', 'clear-forget');
    if (before.state === 'settled')
      return over || cleared || after?.state === 'retired' || (after !== undefined && after.key !== before.key && op.repeat !== 'never');
    if (before.state !== 'pending') return false;
    if (over || (cleared && does(byHand, 'clear-forget'))) return true;
    const forgotten = after?.state === 'retired' && after.key === before.key && after.ending?.type === 'unknown';
    if (op.forgetsAnyway === 0 || (after && !forgotten)) return false;
    op.forgetsAnyway--;
    return true;
  }
}

/** Whether a pending record was written by a log-out: everything that a stranger could read is gone, and nothing else was done. No driver writes that. */
export const isCleared = (before: OnceRecord, { revision, touchedAt, lease, meta, request, link, spentAt }: OnceRecord): boolean =>
  before.state === 'pending' &&
  // The revision tells a log-out from a lease that is renewed twice in one millisecond, which changes nothing else either.
  revision > before.revision &&
  touchedAt === before.touchedAt &&
  (lease === undefined || lease.until === before.lease?.until) &&
  [meta, request, link, spentAt].every((one) => one === undefined);
