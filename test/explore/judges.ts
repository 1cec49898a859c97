/** The simulation's checkers, and stricter ones beside them: what the world did unseen counts against the client here. */
import { inMemoryOnly, isGuests } from '../simulation/checkers/excuse.js';
import { checkers } from '../simulation/checkers/index.js';
import { type ByHand, type Call, type Checker, type Commit, does, type Effect, type KeyFacts, type Ledger, type OpFacts } from '../simulation/facts.js';
import { isCleared } from '../simulation/ledger.js';

/** How often a key had been sent when somebody was told that it had no effect. */
const sentBefore = new WeakMap<KeyFacts, number>();
/** Keys whose records a log-out swept, when that was, and the calls that were open then. */
const cleared = new WeakMap<KeyFacts, { readonly at: number; readonly calls: ReadonlySet<Call> }>();
/** The context that drives a key, and the one that did when a log-out came over it. */
const driving = new WeakMap<KeyFacts, string>();
const drivenThen = new WeakMap<KeyFacts, string>();
/** The call that did so then: its payload, for calls that joined it. */
const driver = new WeakMap<KeyFacts, Call>();
const driverThen = new WeakMap<KeyFacts, Call>();
/** What was settled or forgotten by hand, and is only waited for to be told. */
const acted = new WeakSet<ByHand>();
/** When the log-out began that came over a key. */
const clearedBy = new WeakMap<KeyFacts, number>();
/** Keys of which a log-out left no record. */
const swept = new WeakSet<KeyFacts>();
/** How often it had been sent then. */
const sentThen = new WeakMap<KeyFacts, number>();
/** Keys that were driven under a lease. */
const leased = new WeakSet<KeyFacts>();
/** Calls that queued behind another context, and the keys that were open then. */
const waited = new WeakMap<Call, ReadonlySet<KeyFacts>>();

/** Calls that were there when the app said that a key had no effect. */
const settledBefore = new WeakMap<KeyFacts, ReadonlySet<Call>>();
/** The context that put a key's record to rest. */
const endedBy = new WeakMap<KeyFacts, string>();
/** The last request under a key when a context put its record to rest. */
const lastAtEnd = new WeakMap<KeyFacts, Map<string, number>>();

/** The last request that had left anywhere when the context of a call last looked at the store. */
const looked = new WeakMap<Call, number>();

/** From the last look at a record to the wire, ms. */
const LATE_MS_MAX = 50;

/** The client said that it keeps this one in memory, because the store refused it. */
const isExcused = (keys: readonly KeyFacts[], ledger: Ledger): boolean => keys.some((key) => inMemoryOnly(key, ledger));

const inEpoch = (op: OpFacts): KeyFacts[] => [...op.keys.values()].filter(({ epoch }) => epoch === op.epoch);

/** One intended effect, one effect: whatever anybody could have known. */
const atMostOne: Checker = {
  name: 'at-most-one',
  see(fact, ledger) {
    if (fact.kind !== 'effect') return;
    const { key, payload } = fact.effect;
    const { op, epoch } = key;
    // The network held a copy back until its server had forgotten the key.
    if (key.forgotten) return;
    // What the guest did to its end is another operation than that of who logged in.
    const asGuest = (one: KeyFacts): boolean => one.user !== op.user && one.end === 'settled' && key.user === op.user;
    const others = [...op.keys.values()].filter((one) => one.epoch === epoch && one.effects.length && !asGuest(one));
    if (others.length && !op.unnamed && !isExcused([...others, key], ledger)) ledger.violate(atMostOne.name, op, 'a second effect');
    // A profile that is saved again as it is changes nothing.
    const saved = [...op.keys.values()].some(
      (one) =>
        one.wish === key.wish && !inMemoryOnly(one, ledger) && one.effects.some((effect) => effect.payload === payload && !isTakenForEarlier(effect, key)),
    );
    if (op.repeat === 'if-changed' && saved && !inMemoryOnly(key, ledger) && timesMeant(op, payload) < 2)
      ledger.violate(atMostOne.name, op, 'a second effect of one payload');
  },
};

/** A copy was sent unseen, so its replay may be an earlier payload's, and the same call went on with the change under this key. */
const isTakenForEarlier = ({ send }: Effect, key: KeyFacts): boolean => send.copies > 1 && key.sends.some(({ call }) => call === send.call);

/** How often this payload was pressed after another one, or first. */
const timesMeant = (op: OpFacts, payload: number): number =>
  op.calls.filter(({ verb }) => verb !== 'resume').filter((call, at, calls) => call.payload === payload && calls[at - 1]?.payload !== payload).length;

/** `none`: there was no effect, and none follows by what was on its way. */
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

/** Whose namespace a key was begun in. */
const begunFor = new WeakMap<KeyFacts, string>();

/** A guest's call does not know what was begun by who logged in. */
const isBeyond = (call: Call, key: KeyFacts): boolean => call.user !== call.op.user && begunFor.get(key) === call.op.user;

/**
 * What a caller is told is true as of the last look at its record: what leaves between that look and the word is not in it. Who has
 * put the record to rest looks at it no more: what a lease that is still renewed sees then is told to nobody.
 */
function knownTo(call: Call | undefined, key: KeyFacts): number {
  if (!call) return Number.POSITIVE_INFINITY;
  if (isBeyond(call, key)) return -1;
  return lastAtEnd.get(key)?.get(call.context) ?? looked.get(call) ?? Number.POSITIVE_INFINITY;
}

/** Somebody was told that nothing has happened under this key, or under any of the operation's keys. */
function saidNone(op: OpFacts, key: string | undefined, call: Call | undefined, ledger: Ledger): void {
  if (op.unnamed && key === undefined) return;
  for (const one of key === undefined ? inEpoch(op).filter((known) => !isGuests(known, call)) : [...op.keys.values()].filter((known) => known.key === key)) {
    if (inMemoryOnly(one, ledger)) continue;
    const last = knownTo(call, one);
    if (one.effects.some(({ send }) => send.id <= last)) ledger.violate(noneIsTrue.name, op, 'somebody was told "none", and there was an effect');
    sentBefore.set(one, one.sends.filter(({ id }) => id <= last).length);
  }
}

/** What is certainly done is done with the payload of the call; what is said of an earlier payload is not true of this one. */
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
/** A driver stops when its record was cleared, and who waited for another context does not start what that one ended. */
const oneDriver = (atomic: boolean): Checker => ({
  name: ONE_DRIVER,
  see(fact, ledger) {
    if (atomic && fact.kind === 'commit' && isTakenFromDriver(fact)) ledger.violate(ONE_DRIVER, fact.op, WHILE_DRIVEN);
    if (fact.kind === 'commit') ends(fact);
    // A store that is not atomic can't look and write at once.
    if (atomic && fact.kind === 'commit' && isLate(fact)) ledger.violate(ONE_DRIVER, fact.op, 'a driver whose record was cleared wrote over it');
    if (fact.kind === 'commit') takesOver(fact);
    if (fact.kind === 'told' && fact.call) leaves(fact.call, fact.op);
    if (fact.kind !== 'sent') return;
    const { key, call, payload, endpoint, context } = fact.send;
    const clear = cleared.get(key);
    if (call && clear?.calls.has(call) && ledger.now() - clear.at > LATE_MS_MAX)
      ledger.violate(ONE_DRIVER, key.op, `sent ${ledger.now() - clear.at} ms after its record was cleared`);
    // A call without a name is an operation of its own.
    const open = (call && !key.op.unnamed && waited.get(call)) || [];
    for (const one of open) {
      const same =
        one !== key &&
        endedBy.get(one) !== context &&
        !inMemoryOnly(one, ledger) &&
        one.sends.some((send) => send.payload === payload && send.endpoint.url === endpoint.url);
      // Of a refusal that a log-out removed nothing is left: the press is as good as a new one.
      const known = one.end === 'settled' || (one.end === 'rejected' && !swept.has(one));
      if (same && known) ledger.violate(ONE_DRIVER, key.op, 'a call that waited began anew what had ended meanwhile');
    }
  },
});

/** Notes who puts a key's record to rest, and who begins it anew. */
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

/** It ends what a log-out took from this context, and what nobody has taken up since. */
function isLate({ op, before, after, context, why, byHand, expired }: Commit): boolean {
  const key = before?.state === 'pending' && after?.state !== 'pending' ? op.keys.get(before.key) : undefined;
  return key !== undefined && why === 'written' && !byHand.length && expired === 'no' && drivenThen.get(key) === context && !driving.has(key);
}

/** Settled or forgotten by hand, though a call has begun it meanwhile that nobody has told anything yet. */
function isTakenFromDriver({ op, before, after, byHand, storeNow }: Commit): boolean {
  const deed = byHand.find((one) => does([one], 'settle', 'forget') && !acted.has(one));
  if (!deed || before?.state === after?.state) return false;
  acted.add(deed);
  const key = before?.state === 'pending' && after?.state !== 'pending' ? op.keys.get(before.key) : undefined;
  if (!key) return false;
  const drivenIn = driving.get(key);
  // A lease that is over, or was given back after the last attempt, keeps nobody out.
  const isLeased = (before?.lease?.until ?? 0) > storeNow;
  return (isLeased || !leased.has(key)) && op.calls.some(({ context, told, dead }) => context === drivenIn && !told && !dead);
}

/** The last call of a context that leaves drives no more. */
function leaves(leaving: Call, op: OpFacts): void {
  const { context } = leaving;
  if (op.calls.some((call) => call !== leaving && call.context === context && !call.told && !call.dead)) return;
  for (const key of op.keys.values()) if (driving.get(key) === context) driving.delete(key);
}

/** A higher revision is another driver's; a log-out comes over whoever drives it. */
function takesOver({ op, before, after, context, byHand }: Commit): void {
  const gone = before && !after && does(byHand, 'clear') ? op.keys.get(before.key) : undefined;
  if (gone) swept.add(gone);
  const key = after && op.keys.get(after.key);
  if (!key || after.state !== 'pending') return;
  // A log-out writes a record once: while it is under way, the next call of its context may begin.
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
    // Calls of one context come one after the other.
    const first = op.calls.find((call) => call.context === context && !call.told && !call.dead);
    // What is written after its caller has left drives nothing.
    if (first) driving.set(key, context);
    else driving.delete(key);
    if (first) driver.set(key, first);
  }
}

/** To be said before what a call was told is. */
export const looks = (call: Call, last: number | undefined): void => void (last !== undefined && looked.set(call, last));

/** A call queues behind another context. */
export const queues = (call: Call): void => void waited.set(call, new Set(inEpoch(call.op).filter(({ end }) => end === undefined)));

/** A log-out, from its beginning; what is returned is told the keys that it kept. */
export function clears(calls: readonly Call[], now: () => number): (keys: readonly KeyFacts[]) => void {
  const open = calls.filter((call) => !call.told && !call.dead);
  return (keys) => {
    // Who waits for a driver to end, or for a lock, is none: of the calls of one context it is the first.
    const first = (key: KeyFacts): Call | undefined =>
      open.find(({ op, context, payload }) => op === key.op && context === drivenThen.get(key) && payload === driverThen.get(key)?.payload);
    const drove = (call: Call, key: KeyFacts): boolean => call === first(key) || key.sends.slice(0, sentThen.get(key)).some((send) => send.call === call);
    for (const key of keys) cleared.set(key, { at: now(), calls: new Set(open.filter((call) => drove(call, key))) });
  };
}

/**
 * The app settles or forgets by hand what is there now for this user. It is refused while somebody drives it; and what was
 * settled as `none` has no effect from here on.
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
  // A driver gives its lease back after its last attempt; then it only tells its caller.
  const gaveBack = (key: KeyFacts) => leased.has(key) && key.held === undefined;
  return (none, violate) => {
    if (driven.some(({ key, call }) => endedBy.get(key) === context && isDriven(call) && !gaveBack(key))) violate(ONE_DRIVER, WHILE_DRIVEN);
    if (!none) return;
    keys.forEach((key, index) => {
      sentBefore.set(key, sent[index] ?? 0);
      if (open.includes(key)) settledBefore.set(key, new Set(calls));
      // Who slept until its lease was over may wake up in this very moment: there is no lock to tell of it.
      // What a later press sent is in its own word.
      const own = key.effects.some(({ send }) => send.thawedAt === 0 && send.call && calls.includes(send.call));
      if (key.random && own) violate('outcome-is-true', 'it was settled as "none", and there was an effect');
    });
  };
}

/** What the judges remember of a key. */
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

/** Whether what is done by hand has changed its record. */
export const hasActed = (deed: ByHand): boolean => acted.has(deed);

/** What they remember of a call. */
export const judgedOf = (call: Call): readonly string[] => [...(waited.get(call) ?? [])].map(({ key }) => key);

const idsOf = (calls: ReadonlySet<Call> | undefined): readonly number[] => [...(calls ?? [])].map(({ id }) => id);

/** The simulation's judge of a "none" knows no steps within an instant. */
const asOfTheLook = (checker: Checker): Checker => ({
  ...checker,
  see(fact, ledger) {
    const none = fact.kind === 'told' && fact.told.outcome?.effect === 'none';
    // Of a request without a name it is about that very call.
    if (none && fact.op.unnamed && fact.told.outcome?.key === undefined) return;
    const before = !none || [...fact.op.keys.values()].some((key) => key.effects.some(({ send }) => send.id <= knownTo(fact.call, key)));
    if (before) checker.see?.(fact, ledger);
  },
});

/** Where the store can't look and write at once, a write that comes late undoes another one: what counts is what it comes to. */
const withoutCommits = (checker: Checker): Checker => ({ ...checker, see: (fact, ledger) => void (fact.kind !== 'commit' && checker.see?.(fact, ledger)) });

/** `atomic`: whether the store is. */
export const judges = (atomic: boolean): readonly Checker[] => [
  atMostOne,
  noneIsTrue,
  payloadIsTrue,
  oneDriver(atomic),
  ...checkers.map(asOfTheLook).map((checker) => (atomic || checker.name !== ONE_DRIVER ? checker : withoutCommits(checker))),
];
