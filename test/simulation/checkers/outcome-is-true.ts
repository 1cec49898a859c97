/** Section 9, 4: `done` means exactly one effect; `none` means none, and none will follow; otherwise `unknown`. */
import type { Outcome } from '../../../src/core/outcome.js';
import type { Call, Checker, Effect, Fact, KeyFacts, Ledger, OpFacts } from '../facts.js';
import { excuse } from './excuse.js';

const NAME = 'outcome-is-true';

function saidDone(op: OpFacts, outcome: Outcome, call: Call | undefined, ledger: Ledger) {
  const payload = call?.verb === 'resume' ? undefined : call?.payload;
  const key = outcome.key === undefined ? undefined : op.keys.get(outcome.key);
  if (!key) return ledger.violate(NAME, op, 'done, without a key');
  // What the app said itself, and this world's app says the truth: the effect may be under a key that was evicted, or that
  // another context took meanwhile.
  const byHand = key.byHand || (outcome.type === 'replayed' && outcome.from === 'reconcile');
  const effects = byHand ? [...op.keys.values()].flatMap((one) => one.effects) : key.effects;
  if (effects.length === 0) return ledger.violate(NAME, op, `done, and ${key.key} has had no effect`);
  // A call without a name that began after another one was told of this effect wants one of its own; to resume is to want none.
  if (op.unnamed && call && call.verb !== 'resume' && key.reportedAt !== undefined && call.begunAt > key.reportedAt && !op.refused)
    ledger.violate(NAME, op, `call ${call.id} wanted another effect, and got the word of ${key.key}, told at ${key.reportedAt}`);
  const certain = outcome.type === 'fresh' && outcome.certain && !outcome.changed;
  if (certain && payload !== undefined && !key.effects.some((effect) => effect.payload === payload))
    ledger.violate(NAME, op, `certainly done with payload ${payload}, and the effect has ${key.effects.map((effect) => effect.payload)}`);
}

function saidNone(op: OpFacts, outcome: Outcome, ledger: Ledger): void {
  const key = outcome.key === undefined ? undefined : op.keys.get(outcome.key);
  if (key && outcome.sent === 'no' && key.sends.length) ledger.violate(NAME, op, `sent 'no', and ${key.key} was sent`);
  const had = key ? [key] : [...op.keys.values()].filter((one) => one.epoch === op.epoch);
  for (const one of had) if (one.effects.length) judge(one, `none, and ${one.key} has had an effect`, ledger);
}

function judge(key: KeyFacts, says: string, ledger: Ledger): void {
  const why = excuse(key, ledger);
  if (why) ledger.apart(why, key.op);
  else ledger.violate(NAME, key.op, says);
}

/** An effect after somebody was told that none can follow. */
function followed({ key, send }: Effect, ledger: Ledger): void {
  if (!key.none || send.at >= key.rebornAt) return;
  // Somebody asked for it anew, after that word, under a key that another copy of its record brought back.
  const anew = send.at > key.none.at && send.call !== undefined && send.call.begunAt > key.none.at;
  // A key that is not random stays the operation's own after a refusal that its server did not keep.
  const derived = !/^[0-9a-f]{8}-/.test(key.key);
  if (anew && (derived || key.revived || key.wasInMemory)) return;
  judge({ ...key, effects: [...key.effects, { send } as Effect] }, `an effect under ${key.key}, of which somebody was told "none" at ${key.none.at}`, ledger);
}

function told({ op, told, call }: Extract<Fact, { kind: 'told' }>, ledger: Ledger): void {
  const { outcome } = told;
  if (!outcome) {
    // The value of a resumed `run` has no place for one.
    if (told.by === 'answer' && told.status !== undefined) ledger.violate(NAME, op, 'an answer without an outcome');
    return;
  }
  if (outcome.effect === 'done') saidDone(op, outcome, call, ledger);
  else if (outcome.effect === 'none') saidNone(op, outcome, ledger);
  else if (told.status !== undefined && told.status < 300) ledger.violate(NAME, op, `unknown, and resolved with ${told.status}`);
}

export const outcomeIsTrue: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind === 'told') told(fact, ledger);
    if (fact.kind === 'effect') followed(fact.effect, ledger);
  },
};
