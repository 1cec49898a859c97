/** Promise 6: every call returns within its limits; once faults stop, every driven operation settles. */
import type { Checker } from '../facts.js';

const NAME = 'settles-when-calm';

export const settlesWhenCalm: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind !== 'told' || !fact.call || fact.told.by === 'event') return;
    const { call, told } = fact;
    // Another user has logged in since, so `resume` does not report this operation, and the operations after it in the list may take longer.
    if (call.verb === 'resume' && !told.outcome && told.error === undefined) return;
    const late = ledger.now() - ledger.dueAt(call);
    if (late > 0) ledger.violate(NAME, fact.op, `call ${call.id} returned ${late} ms past its limits`);
  },
  atRest(ledger) {
    for (const op of ledger.ops.values()) for (const call of op.calls) if (!call.told && !call.dead) ledger.violate(NAME, op, `call ${call.id} never returned`);
  },
};
