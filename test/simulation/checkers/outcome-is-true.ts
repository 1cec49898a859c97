/** Promise 4: `done` means exactly one effect; `none` means none, and none will follow; otherwise `unknown`. */
import type { Outcome } from '../../../src/core/outcome.js';
import { type Call, type Checker, type Effect, type Fact, isWhole, type KeyFacts, type Ledger, type OpFacts, type Told } from '../facts.js';
import { excuse, inMemoryOnly, isGuests } from './excuse.js';
import { leftOpen } from './left-open.js';

const NAME = 'outcome-is-true';

function saidDone(op: OpFacts, told: Told, outcome: Outcome, call: Call | undefined, ledger: Ledger) {
  const key = outcome.key === undefined ? undefined : op.keys.get(outcome.key);
  if (!key) return ledger.violate(NAME, op, 'done, without a key');
  // The app said so itself: the effect may be under a key that was evicted, or that another context used meanwhile.
  const byHand = key.byHand || (outcome.type === 'replayed' && outcome.from === 'reconcile');
  const all = [...op.keys.values()];
  // A function that slept hears of its calls what another one has done meanwhile, perhaps under the run's next key.
  const calls = all.some(({ inner }) => inner.size > 0);
  const effects = byHand || calls ? all.flatMap((one) => one.effects) : key.effects;
  if (effects.length === 0) {
    if (op.elsewhere) key.elsewhere = true;
    else judge(key, `done, and ${key.key} has had no effect`, ledger);
    return;
  }
  if (!byHand && !isWhole({ ...key, effects })) return judge(key, `done, and ${key.key} has had an effect in part`, ledger);
  // An unnamed call that began after another call was told of this effect intends an effect of its own. A `resume` intends none.
  if (op.unnamed && call && call.verb !== 'resume' && key.reportedAt !== undefined && call.begunAt > key.reportedAt && !op.refused)
    ledger.violate(NAME, op, `call ${call.id} intended another effect, and got the outcome of ${key.key}, which was told at ${key.reportedAt}`);
  // Each of two calls at once intends an effect of its own, and at most one of them goes on with a lost call. If the end of the first one was not stored
  // when its caller was told, because the store failed or a log-out forbade it, the other cannot know of it.
  const isToldSo = ({ verb, user, told: of }: Call): boolean =>
    verb !== 'resume' &&
    // The user who has logged in goes on with what a guest's call has sent, wherever that one is.
    user === call?.user &&
    of !== undefined &&
    of !== told &&
    !of.slept &&
    key.endedAt <= of.at &&
    of.at > (call?.begunAt ?? 0) &&
    of.outcome?.effect === 'done' &&
    of.outcome.key === key.key;
  if (op.unnamed && call && call.verb !== 'resume' && !told.slept && op.calls.some(isToldSo))
    ledger.violate(NAME, op, `call ${call.id} got the outcome of ${key.key}, which another call at once was told as its own`);
  if (call && call.verb !== 'resume' && !byHand) whosePayload(op, key, told, outcome, call, ledger);
}

/** Whether the payload that took effect is the one whose caller was told so. */
function whosePayload(
  op: OpFacts,
  key: KeyFacts,
  { by, code }: Told,
  outcome: Outcome,
  { payload, begunAt, context, repeat, user }: Call,
  ledger: Ledger,
): void {
  // A function that makes calls under names of their own decides itself which payload of theirs it goes on with, whichever key of the run is told.
  if ([...op.keys.values()].some(({ inner }) => inner.size)) return;
  const own = key.effects.some((effect) => effect.payload === payload);
  const had = `and the effect is that of payload ${key.effects.map((effect) => effect.payload)}`;
  if (outcome.type === 'fresh' && outcome.certain && !own) ledger.violate(NAME, op, `certainly done with payload ${payload}, ${had}`);
  const ownOnly = key.effects.every((effect) => effect.payload === payload);
  // If a call of this page was told before that the key is done, and that was not stored, a log-out of the page stores it, without the answer. A call that
  // was under way is told that it ended.
  const knew = ({ context: of, told: before }: Call): boolean =>
    of === context && !!before && before.outcome?.effect === 'done' && before.outcome.key === key.key && before.at < key.endedAt;
  const byLogOut = key.endedAtLogOut && op.calls.some(knew);
  if (code === 'ERR_ONCE_ALREADY_SETTLED' && outcome.attempts > 0 && ownOnly && key.random && key.endedIn === context && key.user === user && !byLogOut)
    ledger.violate(NAME, op, `told that another payload is done, and ${payload} is the one that took effect`);
  // If a key that is not random is used again after its record was lost, nobody knows what was sent under it before.
  // Which payloads another page has sent under a key, only the record tells, which may have been removed with the storage.
  const isLost = key.wasEvicted && key.effects.every(({ send }) => send.context !== context);
  const unsure = key.doubtful || isLost || (outcome.type === 'fresh' && !outcome.certain);
  if (unsure || own || !key.random) return;
  if (by === 'answer') ledger.violate(NAME, op, `payload ${payload} got a remembered answer, ${had}`);
  // A changed payload must be sent, unless the operation settled while this call was under way.
  else if (repeat === 'if-changed' && key.endedAt < begunAt) ledger.violate(NAME, op, `payload ${payload} was never sent and is said to be done, ${had}`);
}

function saidNone(op: OpFacts, { slept }: Told, outcome: Outcome, call: Call | undefined, ledger: Ledger): void {
  const key = outcome.key === undefined ? undefined : op.keys.get(outcome.key);
  // A key that stays in use after a clean refusal counts from its new beginning.
  const since = key && Number.isFinite(key.rebornAt) ? key.rebornAt : 0;
  if (key && outcome.sent === 'no' && key.sends.some(({ at }) => at >= since)) ledger.violate(NAME, op, `sent 'no', and ${key.key} was sent`);
  // A key that is not random is used again for later epochs of the operation.
  const epoch = key?.random ? key.epoch : op.epoch;
  const same = [...op.keys.values()].filter((one) => one.epoch === epoch);
  // Without a name and a key, the outcome is about this call only.
  const about = key
    ? [key]
    : op.unnamed
      ? same.filter((one) => one.effects.some(({ send }) => send.call === call))
      : same.filter((one) => !isGuests(one, call));
  // While its context slept with the answer, another call began anew with the key that the refusal had left in use.
  const later = (one: KeyFacts, at: number): boolean => slept === true && at >= one.rebornAt;
  for (const one of about) if (one.effects.some(({ at }) => !later(one, at))) judge(one, `none, and ${one.key} has had an effect`, ledger, one, call);
  if (!call || op.unnamed) return;
  // Whatever became of its own key, a call must not be told "none" if another key had an effect before the call began.
  for (const one of same)
    if (one !== key && one.user === one.op.user && one.effects.some(({ at }) => at < call.begunAt))
      judge(one, `none, and ${one.key} had an effect before`, ledger, key, call);
}

/**
 * `by`: the key of the outcome. Its record may be in the memory of one context, which saw nothing of the others. `call`: the call that was told so. If its
 * page had left the operation open under `key`, it knows that key although the storage was emptied. But where another page has stored a key of its own
 * since, it goes on with that one, and is told how that one ended.
 */
function judge(key: KeyFacts, says: string, ledger: Ledger, by = key, call?: Call): void {
  const unseen = inMemoryOnly(by, ledger) && key.sends.every(({ context }) => context !== by.bornIn);
  const why = excuse(key, ledger) ?? (unseen ? 'kept-in-memory-only' : undefined);
  const knew = why === 'evicted-with-random-key' && by === key && call && leftOpen(key, call.context, call.begunAt, call);
  if (why && !knew) ledger.apart(why, key.op);
  else ledger.violate(NAME, key.op, says);
}

/** An effect after a caller was told that no effect can follow. */
function followed({ key, send }: Effect, ledger: Ledger): void {
  if (key.elsewhere && send.call && send.call.begunAt > key.endedAt) judge(key, `an effect under ${key.key}, which was said to be done elsewhere`, ledger);
  if (!key.none || send.at >= key.rebornAt) return;
  // After the "none", a new call used the key again, because another copy of its record brought it back.
  const anew = send.at > key.none.at && send.call !== undefined && send.call.begunAt > key.none.at;
  if (anew && key.revived) return;
  judge(key, `an effect under ${key.key}, of which somebody was told "none" at ${key.none.at}`, ledger);
}

function told({ op, told, call }: Extract<Fact, { kind: 'told' }>, ledger: Ledger): void {
  const { outcome } = told;
  if (!outcome) {
    // The value of a resumed `run` has no place for an outcome.
    if (told.by === 'answer' && told.status !== undefined) ledger.violate(NAME, op, 'an answer without an outcome');
    return;
  }
  if (outcome.effect === 'done') saidDone(op, told, outcome, call, ledger);
  else if (outcome.effect === 'none') saidNone(op, told, outcome, call, ledger);
  else if (told.status !== undefined && told.status < 300) ledger.violate(NAME, op, `unknown, although the promise resolved with ${told.status}`);
}

export const outcomeIsTrue: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind === 'told') told(fact, ledger);
    if (fact.kind === 'effect') followed(fact.effect, ledger);
  },
};
