/** The simulation's checkers, and stricter judges. Here, what the world did unseen counts against the client, too. */
import { inMemoryOnly, isGuests } from '../simulation/checkers/excuse.js';
import { checkers } from '../simulation/checkers/index.js';
import { type ByHand, type Call, type Checker, type Commit, does, type Effect, type KeyFacts, type Ledger, type OpFacts } from '../simulation/facts.js';
import { isCleared } from '../simulation/ledger.js';

/** How often a key had been sent when a caller was told that it had no effect. */
const sentBefore = new WeakMap<KeyFacts, number>();
/** For a key whose record a log-out cleared: when, and the calls that drove it then. */
const cleared = new WeakMap<KeyFacts, { readonly at: number; readonly calls: ReadonlySet<Call> }>();
/** The context that drives a key, and the context that drove it when a log-out cleared its record. */
const driving = new WeakMap<KeyFacts, string>();
const drivenThen = new WeakMap<KeyFacts, string>();
/** The call that drives a key, and the call that drove it at the log-out. Its payload identifies the calls that joined it. */
const driver = new WeakMap<KeyFacts, Call>();
const driverThen = new WeakMap<KeyFacts, Call>();
/** Deeds that have already changed the record, and whose caller has not been told yet. */
const acted = new WeakSet<ByHand>();
/** When the log-out that cleared a key began. */
const clearedBy = new WeakMap<KeyFacts, number>();
/** Keys whose records a log-out removed. */
const swept = new WeakSet<KeyFacts>();
/** How often a key had been sent when a log-out cleared its record. */
const sentThen = new WeakMap<KeyFacts, number>();
/** Keys whose drivers held a lease. */
const leased = new WeakSet<KeyFacts>();
/** For a call that queued behind another context: the keys of its operation that were open then. */
const waited = new WeakMap<Call, ReadonlySet<KeyFacts>>();

/** For a key that the app settled as "none": the calls that existed then. */
const settledBefore = new WeakMap<KeyFacts, ReadonlySet<Call>>();
/** The context that ended a key's record. */
const endedBy = new WeakMap<KeyFacts, string>();
/** The last request under a key when each context ended its record. */
const lastAtEnd = new WeakMap<KeyFacts, Map<string, number>>();

/** The number of the last request that had left any context when the context of a call last looked at the store. */
const looked = new WeakMap<Call, number>();

/** The most time from the last look at a record to the request on the wire, ms. */
const LATE_MS_MAX = 50;

/** The client said that it keeps one of these keys in memory, because the store refused it. */
const isExcused = (keys: readonly KeyFacts[], ledger: Ledger): boolean => keys.some((key) => inMemoryOnly(key, ledger));

const inEpoch = (op: OpFacts): KeyFacts[] => [...op.keys.values()].filter(({ epoch }) => epoch === op.epoch);

/** One intended effect is one effect, whatever the client could have known. */
const atMostOne: Checker = {
  name: 'at-most-one',
  see(fact, ledger) {
    if (fact.kind !== 'effect') return;
    const { key, payload } = fact.effect;
    const { op, epoch } = key;
    // The network delayed a copy until the server had forgotten the key.
    if (key.forgotten) return;
    // An operation that settled for the guest is another one than that of the user who logged in.
    const asGuest = (one: KeyFacts): boolean => one.user !== op.user && one.end === 'settled' && key.user === op.user;
    const others = [...op.keys.values()].filter((one) => one.epoch === epoch && one.effects.length && !asGuest(one));
    if (others.length && !op.unnamed && !isExcused([...others, key], ledger)) ledger.violate(atMostOne.name, op, 'a second effect');
    // With `if-changed`, an unchanged payload has no second effect.
    const saved = [...op.keys.values()].some(
      (one) =>
        one.wish === key.wish && !inMemoryOnly(one, ledger) && one.effects.some((effect) => effect.payload === payload && !isTakenForEarlier(effect, key)),
    );
    if (op.repeat === 'if-changed' && saved && !inMemoryOnly(key, ledger) && timesMeant(op, payload) < 2)
      ledger.violate(atMostOne.name, op, 'a second effect of one payload');
  },
};

/** A copy was sent unseen, so its replay looked like an earlier payload's, and the same call sent the change under this key. */
const isTakenForEarlier = ({ send }: Effect, key: KeyFacts): boolean => send.copies > 1 && key.sends.some(({ call }) => call === send.call);

/** How often a press of this payload followed a press of another one, or was the first press. */
const timesMeant = (op: OpFacts, payload: number): number =>
  op.calls.filter(({ verb }) => verb !== 'resume').filter((call, at, calls) => call.payload === payload && calls[at - 1]?.payload !== payload).length;

/** `none`: there was no effect, and no request that was already on its way has one. */
const noneIsTrue: Checker = {
  name: 'outcome-is-true',
  see(fact, ledger) {
    if (fact.kind === 'told' && fact.told.outcome?.effect === 'none') saidNone(fact.op, fact.told.outcome.key, fact.call, ledger);
    if (fact.kind !== 'effect') return;
    const { key, send } = fact.effect;
    const at = key.sends.findIndex(({ id }) => id === send.id);
    const settled = send.call !== undefined && settledBefore.get(key)?.has(send.call);
    if (settled || at < (sentBefore.get(key) ?? 0)) ledger.violate(noneIsTrue.name, key.op, 'an effect after somebody was told "none"');
  },
};

/** The user in whose namespace a key was begun. */
const begunFor = new WeakMap<KeyFacts, string>();

/** A guest's call does not know keys that the logged-in user began. */
const isBeyond = (call: Call, key: KeyFacts): boolean => call.user !== call.op.user && begunFor.get(key) === call.op.user;

/**
 * The last request that a call can know of. What a caller is told is true as of its last look at the record: it does not cover requests
 * that leave between that look and the answer. A context that has ended the record does not look again: what it sees when it renews a lease
 * afterwards is told to nobody.
 */
function knownTo(call: Call | undefined, key: KeyFacts): number {
  if (!call) return Number.POSITIVE_INFINITY;
  if (isBeyond(call, key)) return -1;
  return lastAtEnd.get(key)?.get(call.context) ?? looked.get(call) ?? Number.POSITIVE_INFINITY;
}

/** A caller was told that this key, or every key of the operation, had no effect. */
function saidNone(op: OpFacts, key: string | undefined, call: Call | undefined, ledger: Ledger): void {
  if (op.unnamed && key === undefined) return;
  for (const one of key === undefined ? inEpoch(op).filter((known) => !isGuests(known, call)) : [...op.keys.values()].filter((known) => known.key === key)) {
    if (inMemoryOnly(one, ledger)) continue;
    const last = knownTo(call, one);
    if (one.effects.some(({ send }) => send.id <= last)) ledger.violate(noneIsTrue.name, op, 'somebody was told "none", and there was an effect');
    sentBefore.set(one, one.sends.filter(({ id }) => id <= last).length);
  }
}

/** A request leaves in the session of the user who made the call. Nothing can happen between the check of the user and the request. */
const ownSession: Checker = {
  name: 'own-session',
  see(fact, ledger) {
    if (fact.kind !== 'sent') return;
    const { call, key, account } = fact.send;
    if (call && call.user !== account) ledger.violate(ownSession.name, key.op, `a request of ${call.user} was sent in the session of ${account}`);
  },
};

/** If an outcome is certainly done, the payload of this call took effect. If a call is told that an earlier payload took effect, its own payload did not. */
const payloadIsTrue: Checker = {
  name: 'outcome-is-true',
  see(fact, ledger) {
    if (fact.kind !== 'told' || !fact.call || fact.call.verb === 'resume') return;
    const { outcome, code } = fact.told;
    const { payload } = fact.call;
    const effects = (outcome?.key === undefined ? undefined : fact.op.keys.get(outcome.key)?.effects) ?? [];
    if (outcome?.type === 'fresh' && outcome.certain && effects.length && !effects.some((effect) => effect.payload === payload))
      ledger.violate(payloadIsTrue.name, fact.op, `certainly done with payload ${payload}, and it was another one`);
    const elsewhere = code === 'ERR_ONCE_ALREADY_SETTLED' && outcome?.type === 'replayed' && outcome.from === 'server' && fact.op.payloads.length > 1;
    const own = effects.length > 0 && effects.every((effect) => effect.payload === payload) && effects.some(({ send }) => send.call === fact.call);
    if (elsewhere && own)
      ledger.violate(payloadIsTrue.name, fact.op, `told that an earlier payload took effect, and it was ${payload}, sent by this very call`);
  },
};

const ONE_DRIVER = 'one-key';
const WHILE_DRIVEN = 'it was settled or forgotten by hand while it was being driven';
/** A driver stops when its record was cleared, and a call that waited for another context does not begin anew what that context ended. */
const oneDriver = (atomic: boolean): Checker => ({
  name: ONE_DRIVER,
  see(fact, ledger) {
    if (atomic && fact.kind === 'commit' && isTakenFromDriver(fact)) ledger.violate(ONE_DRIVER, fact.op, WHILE_DRIVEN);
    if (fact.kind === 'commit') ends(fact);
    // A store that is not atomic cannot read and write in one step.
    if (atomic && fact.kind === 'commit' && isLate(fact)) ledger.violate(ONE_DRIVER, fact.op, 'a driver whose record was cleared wrote over it');
    if (fact.kind === 'commit') takesOver(fact);
    if (fact.kind === 'told' && fact.call) leaves(fact.call, fact.op);
    if (fact.kind !== 'sent') return;
    const { key, call, payload, endpoint, context } = fact.send;
    const clear = cleared.get(key);
    if (call && clear?.calls.has(call) && ledger.now() - clear.at > LATE_MS_MAX)
      ledger.violate(ONE_DRIVER, key.op, `sent ${ledger.now() - clear.at} ms after its record was cleared`);
    // An unnamed call is an operation of its own.
    const open = (call && !key.op.unnamed && waited.get(call)) || [];
    for (const one of open) {
      const same =
        one !== key &&
        endedBy.get(one) !== context &&
        !inMemoryOnly(one, ledger) &&
        one.sends.some((send) => send.payload === payload && send.endpoint.url === endpoint.url);
      // If a log-out removed a refusal, nothing of it is left, so the press may begin anew.
      const known = one.end === 'settled' || (one.end === 'rejected' && !swept.has(one));
      if (same && known) ledger.violate(ONE_DRIVER, key.op, 'a call that waited began anew what had ended meanwhile');
    }
  },
});

/** Notes which context ended a key's record, and whether the key was begun anew. */
function ends({ op, user, before, after, context }: Commit): void {
  const written = after && op.keys.get(after.key);
  if (written && !begunFor.has(written)) begunFor.set(written, user);
  const ended = before?.state === 'pending' && after?.state !== 'pending' ? op.keys.get(before.key) : undefined;
  if (ended) {
    endedBy.set(ended, context);
    const last = lastAtEnd.get(ended) ?? new Map<string, number>();
    lastAtEnd.set(ended, last.set(context, ended.sends.at(-1)?.id ?? 0));
  }
  const begun = after?.state === 'pending' ? op.keys.get(after.key) : undefined;
  if (begun) lastAtEnd.get(begun)?.delete(context);
  if (begun?.held) leased.add(begun);
}

/** Whether this context ended a record that a log-out had taken from it, while no context had taken it up since. */
function isLate({ op, before, after, context, why, byHand, expired }: Commit): boolean {
  const key = before?.state === 'pending' && after?.state !== 'pending' ? op.keys.get(before.key) : undefined;
  return key !== undefined && why === 'written' && !byHand.length && expired === 'no' && drivenThen.get(key) === context && !driving.has(key);
}

/** Whether the record was settled or forgotten by hand while a call that had begun it was not told anything yet. */
function isTakenFromDriver({ op, before, after, byHand, storeNow }: Commit): boolean {
  const deed = byHand.find((one) => does([one], 'settle', 'forget') && !acted.has(one));
  if (!deed || before?.state === after?.state) return false;
  acted.add(deed);
  const key = before?.state === 'pending' && after?.state !== 'pending' ? op.keys.get(before.key) : undefined;
  if (!key) return false;
  const drivenIn = driving.get(key);
  // A lease that has expired, or was given back after the last attempt, excludes nobody.
  const isLeased = (before?.lease?.until ?? 0) > storeNow;
  return (isLeased || !leased.has(key)) && op.calls.some(({ context, told, dead }) => context === drivenIn && !told && !dead);
}

/** When the last open call of a context ends, the context no longer drives. */
function leaves(leaving: Call, op: OpFacts): void {
  const { context } = leaving;
  if (op.calls.some((call) => call !== leaving && call.context === context && !call.told && !call.dead)) return;
  for (const key of op.keys.values()) if (driving.get(key) === context) driving.delete(key);
}

/** Notes the driver of a key. A higher revision means another driver. A log-out takes the record from its driver. */
function takesOver({ op, before, after, context, byHand }: Commit): void {
  const gone = before && !after && does(byHand, 'clear') ? op.keys.get(before.key) : undefined;
  if (gone) swept.add(gone);
  const key = after && op.keys.get(after.key);
  if (!key || after.state !== 'pending') return;
  // A log-out writes each record once. While it is under way, the next call of its context may begin.
  const clear = byHand.find(({ what }) => what === 'clear');
  if (clear && clearedBy.get(key) !== clear.since && before && isCleared(before, after)) {
    clearedBy.set(key, clear.since);
    const drivenIn = driving.get(key);
    const call = driver.get(key);
    if (drivenIn !== undefined) drivenThen.set(key, drivenIn);
    if (call) driverThen.set(key, call);
    driving.delete(key);
    sentThen.set(key, key.sends.length);
  } else if (before?.key !== after.key || before.revision !== after.revision) {
    // Calls of one context are driven one after the other.
    const first = op.calls.find((call) => call.context === context && !call.told && !call.dead);
    // A write that comes after its caller was told drives nothing.
    if (first) driving.set(key, context);
    else driving.delete(key);
    if (first) driver.set(key, first);
  }
}

/** Notes the last look of a call. Must be called before the outcome of the call is judged. */
export const looks = (call: Call, last: number | undefined): void => void (last !== undefined && looked.set(call, last));

/** Notes that a call queues behind another context. */
export const queues = (call: Call): void => void waited.set(call, new Set(inEpoch(call.op).filter(({ end }) => end === undefined)));

/** Notes the beginning of a log-out. The returned function must be called with the keys that the log-out kept. */
export function clears(calls: readonly Call[], now: () => number): (keys: readonly KeyFacts[]) => void {
  const open = calls.filter((call) => !call.told && !call.dead);
  return (keys) => {
    // A call that waits for a driver or for a lock is not the driver itself: of the calls of one context, the first one drives.
    const first = (key: KeyFacts): Call | undefined =>
      open.find(({ op, context, payload }) => op === key.op && context === drivenThen.get(key) && payload === driverThen.get(key)?.payload);
    const drove = (call: Call, key: KeyFacts): boolean => call === first(key) || key.sends.slice(0, sentThen.get(key)).some((send) => send.call === call);
    for (const key of keys) cleared.set(key, { at: now(), calls: new Set(open.filter((call) => drove(call, key))) });
  };
}

/**
 * Notes that the app settles or forgets by hand what this user has now. That must be refused while a call drives it, and what was settled
 * as `none` must have no effect from then on. The returned function must be called when the deed has succeeded.
 */
export function byHand(
  op: OpFacts,
  user: string,
  context: string,
  isDriven: (call: Call) => boolean,
): (none: boolean, violate: (checker: string, says: string) => void) => void {
  const keys = inEpoch(op).filter((key) => key.user === user);
  const sent = keys.map(({ sends }) => sends.length);
  const drives = (call: Call, key: KeyFacts): boolean => isDriven(call) && key.sends.some((send) => send.call === call);
  const open = keys.filter((key) => key.end === undefined);
  const calls = [...op.calls];
  const driven = open.flatMap((key) => op.calls.filter((call) => drives(call, key)).map((call) => ({ key, call })));
  // A driver gives its lease back after its last attempt; after that it only tells its caller.
  const gaveBack = (key: KeyFacts) => leased.has(key) && key.held === undefined;
  return (none, violate) => {
    if (driven.some(({ key, call }) => endedBy.get(key) === context && isDriven(call) && !gaveBack(key))) violate(ONE_DRIVER, WHILE_DRIVEN);
    if (!none) return;
    keys.forEach((key, index) => {
      sentBefore.set(key, sent[index] ?? 0);
      if (open.includes(key)) settledBefore.set(key, new Set(calls));
      // A context that slept until its lease expired may wake up at this moment, and without a lock nothing tells of it. What a later press sent is
      // judged by that press's own outcome.
      const own = key.effects.some(({ send }) => send.thawedAt === 0 && send.call && calls.includes(send.call));
      if (key.random && own) violate('outcome-is-true', 'it was settled as "none", and there was an effect');
    });
  };
}

/** What the judges remember of a key, for the state. */
export const judged = (key: KeyFacts): readonly unknown[] => [
  sentBefore.get(key),
  cleared.get(key)?.at,
  idsOf(cleared.get(key)?.calls),
  idsOf(settledBefore.get(key)),
  sentThen.get(key),
  swept.has(key),
  clearedBy.get(key),
  leased.has(key),
  endedBy.get(key),
  [...(lastAtEnd.get(key) ?? [])].join(),
  driving.get(key),
  drivenThen.get(key),
  driver.get(key)?.id,
  driverThen.get(key)?.id,
  begunFor.get(key),
];

/** Whether the deed has already changed its record. */
export const hasActed = (deed: ByHand): boolean => acted.has(deed);

/** What the judges remember of a call, for the state. */
export const judgedOf = (call: Call): readonly string[] => [...(waited.get(call) ?? [])].map(({ key }) => key);

const idsOf = (calls: ReadonlySet<Call> | undefined): readonly number[] => [...(calls ?? [])].map(({ id }) => id);

/** The simulation's checkers of "none" do not know steps within one instant, so they judge as of the last look. */
const asOfTheLook = (checker: Checker): Checker => ({
  ...checker,
  see(fact, ledger) {
    const none = fact.kind === 'told' && fact.told.outcome?.effect === 'none';
    // Without a name and a key, the outcome is about this call only.
    if (none && fact.op.unnamed && fact.told.outcome?.key === undefined) return;
    const before = !none || [...fact.op.keys.values()].some((key) => key.effects.some(({ send }) => send.id <= knownTo(fact.call, key)));
    if (before) checker.see?.(fact, ledger);
  },
});

/** If the store cannot read and write in one step, a late write undoes another one. Then only what follows counts, not the writes. */
const withoutCommits = (checker: Checker): Checker => ({ ...checker, see: (fact, ledger) => void (fact.kind !== 'commit' && checker.see?.(fact, ledger)) });

/** `atomic`: whether the store is atomic. */
export const judges = (atomic: boolean): readonly Checker[] => [
  atMostOne,
  noneIsTrue,
  payloadIsTrue,
  ownSession,
  oneDriver(atomic),
  ...checkers.map(asOfTheLook).map((checker) => (atomic || checker.name !== ONE_DRIVER ? checker : withoutCommits(checker))),
];
