/** Promise 2: no attempt leaves before its record is durable, in the durability that the caller was told. */
import type { Checker } from '../facts.js';

export const storedBeforeSent: Checker = {
  name: 'stored-before-sent',
  see(fact, ledger) {
    if (fact.kind === 'sent') {
      const { key } = fact.send;
      if (key.durable) return;
      if (!key.memoryOnly) ledger.violate(this.name, key.op, `${key.key} left without a record that says so`);
      else if (fact.send.call?.required) ledger.violate(this.name, key.op, `${key.key} left with a record in memory only, and durability is 'required'`);
    } else if (fact.kind === 'told') {
      const { outcome } = fact.told;
      const key = outcome?.key === undefined ? undefined : fact.op.keys.get(outcome.key);
      if (outcome?.storedIn === 'disk' && key?.memoryOnly) ledger.violate(this.name, fact.op, `${key.key} is said to be on disk, and is in memory only`);
    }
  },
};
