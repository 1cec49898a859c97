/** The simulation's checkers, and two that excuse nothing: what the world did unseen counts against the client here. */
import { inMemoryOnly } from '../simulation/checkers/excuse.js';
import { checkers } from '../simulation/checkers/index.js';
import type { Checker, KeyFacts, Ledger, OpFacts } from '../simulation/facts.js';

/** How often a key had been sent when somebody was told that it had no effect. */
const sentBefore = new WeakMap<KeyFacts, number>();

/** The client said that it keeps this one in memory, because the store refused it. */
const isExcused = (keys: readonly KeyFacts[], ledger: Ledger): boolean => keys.some((key) => inMemoryOnly(key, ledger));

/** One intended effect, one effect: whatever anybody could have known. */
const atMostOne: Checker = {
  name: 'at-most-one',
  see(fact, ledger) {
    if (fact.kind !== 'effect') return;
    const { op, epoch } = fact.effect.key;
    const earlier = [...op.keys.values()].filter((key) => key.epoch === epoch && key.effects.length);
    if (earlier.length && !isExcused([...earlier, fact.effect.key], ledger)) ledger.violate(atMostOne.name, op, 'a second effect');
  },
};

/** `none`: there was no effect, and none follows by what was on its way. */
const noneIsTrue: Checker = {
  name: 'outcome-is-true',
  see(fact, ledger) {
    if (fact.kind === 'told' && fact.told.outcome?.effect === 'none') saidNone(fact.op, fact.told.outcome.key, (says) => ledger.violate(noneIsTrue.name, fact.op, says));
    if (fact.kind !== 'effect') return;
    const { key, send } = fact.effect;
    const at = key.sends.findIndex(({ id }) => id === send.id);
    if (at < (sentBefore.get(key) ?? 0)) ledger.violate(noneIsTrue.name, key.op, 'an effect after somebody was told "none"');
  },
};

/** Somebody was told that nothing has happened under this key, or under any of the operation's keys. */
function saidNone(op: OpFacts, key: string | undefined, violate: (says: string) => void): void {
  const keys = [...op.keys.values()].filter((one) => (key === undefined ? one.epoch === op.epoch : one.key === key));
  for (const one of keys) {
    if (one.effects.length) violate('somebody was told "none", and there was an effect');
    sentBefore.set(one, one.sends.length);
  }
}

/** The app settles as `none` what is there now; what is sent under these keys from here on is no longer allowed. */
export function settledAsNone(op: OpFacts): (violate: (says: string) => void) => void {
  const keys = [...op.keys.values()].filter(({ epoch }) => epoch === op.epoch);
  const sent = keys.map(({ sends }) => sends.length);
  return (violate) => {
    keys.forEach((key, index) => {
      // A key that is not random stays the operation's own for the next press.
      sentBefore.set(key, key.random ? Number.POSITIVE_INFINITY : (sent[index] ?? 0));
      if (key.random && key.effects.length) violate('it was settled as "none", and there was an effect');
    });
  };
}

export const judges = (): readonly Checker[] => [atMostOne, noneIsTrue, ...checkers];
