/** Promise 1: at most one effect per operation, under any mix of faults. */
import type { Apart, Checker, Effect, KeyFacts, Ledger, OpFacts } from '../facts.js';
import { excuse, inMemoryOnly, innerExcuse } from './excuse.js';
import { wasDoneUnseen } from './left-open.js';

const NAME = 'at-most-one';

export const atMostOne: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind !== 'effect') return;
    const { effect } = fact;
    const { op } = effect.key;
    if (op.unnamed || op.repeat === 'always') perCall(op, effect.send.part, ledger);
    if (op.repeat === 'if-changed') unchanged(effect, ledger);
    if (!op.unnamed && op.repeat === 'never') perIntention(effect, ledger);
    if (!op.unnamed || effect.key.effects.length > 0) perEpoch(effect, ledger);
  },
};

/** The server executed the same key again. That is the server's doing, unless the client could know that it sent the key too late. */
const again = ({ key }: Effect, ledger: Ledger): Apart | undefined =>
  key.forgotten ?? innerExcuse(key, ledger) ?? (ledger.honours && !key.sends.some(({ keyless, copies }) => keyless && copies > 1) ? undefined : 'no-support');

/** Within one epoch, which is one intended effect, there is one effect, whatever happens. */
function perEpoch(effect: Effect, ledger: Ledger): void {
  const { op, epoch } = effect.key;
  const younger = (key: KeyFacts): Apart | undefined => (inMemoryOnly(key, ledger) || inMemoryOnly(effect.key, ledger) ? 'kept-in-memory-only' : undefined);
  const apart = (older: KeyFacts, other: KeyFacts): Apart | undefined => {
    const next = older === other ? effect.key : other;
    const why = excuse(older, ledger, next) ?? younger(other);
    return why && !(why === 'kept-in-memory-only' && older.bornIn === next.bornIn) ? why : asGuest(other, effect.key);
  };
  const inOrder = [...op.keys.values()].filter((key) => key.epoch === epoch);
  for (const key of inOrder.filter(({ effects }) => effects.some(({ send }) => send.part === effect.send.part))) {
    const older = inOrder.indexOf(key) < inOrder.indexOf(effect.key) ? key : { ...effect.key, effects: [effect] };
    const unseen = wasDoneUnseen(key, effect.send) ? 'evicted-with-random-key' : undefined;
    const why = key === effect.key ? again(effect, ledger) : (apart(older, key) ?? unseen);
    if (why) ledger.apart(why, op);
    else ledger.violate(NAME, op, says(key === effect.key, key.key, effect, ledger));
  }
}

/**
 * A call that has seen another context drive the operation means that effect, also if a sweep or a log-out removes the record meanwhile, which
 * ends the epoch.
 */
function perIntention({ key, send }: Effect, ledger: Ledger): void {
  const { op } = key;
  for (const other of op.keys.values()) {
    if (other.epoch === key.epoch || !other.effects.some((one) => one.send.part === send.part)) continue;
    const [first, later] = other.bornAt < key.bornAt ? [other, key] : [key, other];
    // A record that is there and only due to be forgotten is another matter: it is not judged here.
    if (!first.swept || first.end === 'forgotten' || first.byHand || excuse(first, ledger, later)) continue;
    const { call } = (later === key ? send : other.effects[0]?.send) ?? send;
    const seenAt = first.seen.get(call?.context ?? '');
    if (!call || call.verb === 'resume' || seenAt === undefined || seenAt < call.begunAt) continue;
    ledger.violate(NAME, op, `call ${call.id} has seen at ${seenAt} that ${first.key} was driven, and ${later.key} took effect, too`);
  }
}

/**
 * Each call intends one effect, under whichever key it goes out, unless it was told that it has none. A `resume` goes on with a pending operation and
 * intends none.
 */
function perCall(op: OpFacts, part: string | undefined, ledger: Ledger): void {
  const keys = [...op.keys.values()];
  const wanted = op.calls.filter(({ verb, told }) => verb !== 'resume' && told?.outcome?.effect !== 'none').length;
  const had = keys.reduce((sum, key) => sum + key.effects.filter(({ send }) => send.part === part).length, 0);
  if (had < wanted || !ledger.honours) return;
  const why = keys.map((key) => excuse(key, ledger)).find((one) => one !== undefined);
  if (why) ledger.apart(why, op);
  else ledger.violate(NAME, op, `${had + 1} effects of ${wanted} calls`);
}

/** With `if-changed`, the same payload again is the same effect, unless a call brought another payload in between. */
function unchanged(effect: Effect, ledger: Ledger): void {
  const { key, payload } = effect;
  const { op } = key;
  const [last] = [...op.keys.values()].flatMap(({ effects }) => effects.filter(({ send }) => send.part === effect.send.part)).sort((a, b) => b.at - a.at);
  if (!last || last.key === key || last.payload !== payload || last.key.wish !== key.wish) return;
  if (last.key.end !== 'settled' || last.key.swept || last.key.doubtful || excuse(last.key, ledger) || asGuest(last.key, key)) return;
  const since = last.send.call?.begunAt ?? last.at;
  const other = op.calls.some((call) => call.verb !== 'resume' && call.payload !== payload && (call.begunAt >= since || !call.told || call.told.at > since));
  if (other) return;
  // The replay of the call's own unseen copy looks like the replay of an earlier payload, so this call sends the change under a new key. If that key
  // is refused, or the page dies or goes offline before it sends it, the next press sends the change.
  const { call: press } = last.send;
  const unsent = (one: KeyFacts): boolean =>
    (!press?.told || press.told.outcome?.effect === 'unknown') && one.bornIn === last.key.endedIn && one.bornAt >= last.key.endedAt;
  const wentOn = [...op.keys.values()].some((one) => one !== last.key && (unsent(one) || one.sends.some(({ call }) => call === press)));
  const why = excuse(key, ledger);
  if (why) ledger.apart(why, op);
  else if (last.send.copies > 1 && wentOn) ledger.apart('changed-and-resent-unseen', op);
  else ledger.violate(NAME, op, `payload ${payload} took effect under ${last.key.key}, and unchanged again under ${key.key}`);
}

/** Names belong to a namespace: under the same name, the user who logged in has another operation than the one that settled for the guest. */
const asGuest = (earlier: KeyFacts, now: KeyFacts): Apart | undefined =>
  earlier.user !== earlier.op.user && hadSettled(earlier, now) && now.user === now.op.user ? 'settled-as-guest' : undefined;

/** Whether the earlier key had settled when the later one was made. The storage may have been emptied since. */
const hadSettled = (earlier: KeyFacts, now: KeyFacts): boolean =>
  earlier.end === 'settled' || (earlier.end === 'evicted' && earlier.settledAt > 0 && !now.evictedBefore.has(earlier.key));

const says = (same: boolean, earlier: string, effect: Effect, ledger: Ledger): string =>
  `a second effect at ${ledger.now()}, ${same ? `under the same key ${earlier}` : `under ${effect.key.key} after one under ${earlier}`}`;
