/** Keeps the books that all checkers share: operations, their epochs, the life of each key. It judges nothing. */
import type { OnceRecord } from '../../src/core/record.js';
import type { Apart, Call, Checker, Commit, Fact, KeyFacts, Ledger, OpFacts, Violation } from './facts.js';

export class Books implements Ledger {
  readonly ops = new Map<string, OpFacts>();
  /** Keys are the same for one operation only. */
  readonly keys = new Map<string, KeyFacts>();
  readonly violations: Violation[] = [];
  /** Operations that met a case which is counted apart. */
  readonly aparts = new Map<Apart, number>();
  readonly honours: boolean;
  readonly replays: boolean;
  readonly required: boolean;
  readonly now: () => number;
  readonly dueAt: (call: Call) => number;
  readonly #checkers: readonly Checker[];

  constructor(now: () => number, how: Pick<Ledger, 'honours' | 'replays' | 'required' | 'dueAt'>, checkers: readonly Checker[]) {
    this.now = now;
    this.dueAt = how.dueAt;
    this.honours = how.honours;
    this.replays = how.replays;
    this.required = how.required;
    this.#checkers = checkers;
  }

  op(
    user: string,
    name: readonly (string | number)[],
    { repeat = 'never', unnamed = false }: { repeat?: OpFacts['repeat'] | undefined; unnamed?: boolean | undefined } = {},
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
      epoch: 0,
      keys: new Map(),
      calls: [],
      sends: 0,
      payloads: [],
      forgetsAnyway: 0,
      damaged: false,
      refused: false,
      apart: new Set(),
      reportedIn: -1,
      unsettled: undefined,
    };
    this.ops.set(id, made);
    return made;
  }

  see(fact: Fact): void {
    if (fact.kind === 'commit') this.#commit(fact);
    if (fact.kind === 'sent') fact.send.key.sends.push(fact.send);
    for (const checker of this.#checkers) checker.see?.(fact, this);
    // What was there before is what a checker wants to see, so these come after.
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

  /** The key as it is known; one that no store ever saw is made known here. */
  keyOf(op: OpFacts, key: string, random = true): KeyFacts {
    const known = op.keys.get(key);
    if (known) return known;
    const made: KeyFacts = {
      key,
      op,
      epoch: op.epoch,
      bornAt: this.now(),
      user: op.user,
      random,
      durable: false,
      memoryOnly: false,
      wasInMemory: false,
      pendingInStore: false,
      listed: false,
      reportedAt: undefined,
      told: false,
      end: undefined,
      endedAt: 0,
      windowEndsAt: Number.POSITIVE_INFINITY,
      touchedAt: 0,
      revived: false,
      forgotten: undefined,
      rebornAt: Number.POSITIVE_INFINITY,
      byHand: false,
      sends: [],
      effects: [],
      none: undefined,
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
    if (told.by !== 'event' && key) key.told = true;
    if (told.by !== 'event' && key && (key.end === 'settled' || outcome.effect === 'none')) key.reportedAt ??= this.now();
    if (told.by !== 'event') op.reportedIn = Math.max(op.reportedIn, key?.epoch ?? op.epoch);
    if (key && outcome.effect === 'none') key.none ??= { at: this.now(), call };
  }

  #commit({ op, user, before, after, memory, why }: Commit): void {
    if (why === 'moved') return;
    const old = before && this.keyOf(op, before.key, before.random);
    if (why === 'torn') {
      op.damaged = true;
      return;
    }
    const wasDamaged = op.damaged;
    // Nobody writes over what is damaged; an app that was asked throws it away.
    if (why === 'written') op.damaged = false;
    if (old && before && (!after || after.key !== before.key || after.state !== 'pending')) {
      // What ends in the memory of one context goes on where the others see it.
      if (!memory || !old.pendingInStore) this.#end(old, before, after, why);
      if (this.#opensEpoch(op, before, after, why) || (wasDamaged && this.#forgotTorn(op, before, after))) op.epoch++;
    }
    if (old && !memory) old.pendingInStore = false;
    if (!after) return;
    const isNew = !op.keys.has(after.key);
    const key = this.keyOf(op, after.key, after.random);
    // What comes late into the guest's copy of it does not make it the guest's again.
    if (isNew || user === op.user) key.user = user;
    if (memory) {
      key.wasInMemory = true;
      if (!key.durable) key.memoryOnly = true;
    } else {
      key.memoryOnly = false;
      key.pendingInStore = after.state === 'pending';
      if (after.state === 'pending' && after.ambiguous) key.durable = true;
    }
    if (after.ending && 'from' in after.ending && after.ending.from === 'reconcile') key.byHand = true;
    key.windowEndsAt = after.windowEndsAt ?? Number.POSITIVE_INFINITY;
    key.touchedAt = after.touchedAt;
    if (after.state !== 'pending') return;
    if (before && before.state !== 'pending' && before.key === after.key && why === 'written') key.rebornAt = this.now();
    // Another context's copy of it goes on, or a loss of power took its end away.
    if (why === 'power-loss' && key.end) {
      key.revived = true;
      key.none = undefined;
    }
    key.end = undefined;
  }

  #end(key: KeyFacts, before: OnceRecord, after: OnceRecord | undefined, why: Commit['why']): void {
    key.endedAt = this.now();
    if (!after) key.end = why === 'evicted' ? 'evicted' : why === 'died' ? 'lost-with-memory' : before.state === 'pending' ? 'removed' : (key.end ?? 'settled');
    // What was there before comes back when it turns out that nothing was sent.
    else if (after.key !== before.key) key.end = before.state !== 'pending' ? key.end : after.state === 'pending' ? 'replaced' : 'removed';
    else key.end = after.state === 'settled' ? 'settled' : after.ending?.type === 'rejected' ? 'rejected' : 'forgotten';
  }

  /** Its forgetting was torn, and the app threw away what was left of it: the intention ended all the same. */
  #forgotTorn(op: OpFacts, before: OnceRecord, after: OnceRecord | undefined): boolean {
    if (after || before.state !== 'retired' || before.ending?.type !== 'unknown' || op.forgetsAnyway === 0) return false;
    op.forgetsAnyway--;
    return true;
  }

  /** Whether the app has, by this, asked for another effect under the same name. */
  #opensEpoch(op: OpFacts, before: OnceRecord, after: OnceRecord | undefined, why: Commit['why']): boolean {
    if (why !== 'written' || op.unnamed) return false;
    if (before.state === 'settled') return !after || after.state === 'retired' || (after.key !== before.key && op.repeat !== 'never');
    if (before.state !== 'pending') return false;
    const forgotten = after?.state === 'retired' && after.key === before.key && after.ending?.type === 'unknown';
    if (op.forgetsAnyway === 0 || (after && !forgotten)) return false;
    op.forgetsAnyway--;
    return true;
  }
}
