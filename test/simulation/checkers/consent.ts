/** What nobody pressed a button for was agreed to: this payload, by this person, until now. */
import type { Ledger, Send } from '../facts.js';

export function withoutConsent({ call, key, payload, deviceWall }: Send, ledger: Ledger, name: string): void {
  if (!call?.inBackground) return;
  const { op } = key;
  // Who logs in goes on with what they agreed to as a guest; whose cookie it bears is looked at beside this.
  const agreed = op.calls.some((one) => one.payload === payload && (one.untilMs ?? 0) > deviceWall);
  if (!agreed) ledger.violate(name, op, `${key.key} was sent in the background, and nobody had agreed to it`);
}
