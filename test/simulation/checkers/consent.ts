/** What nobody pressed a button for was agreed to: this payload, by this person, until now. */
import type { Ledger, Send } from '../facts.js';

export function withoutConsent({ call, key, account, payload, deviceWall }: Send, ledger: Ledger, name: string): void {
  if (!call?.inBackground) return;
  const { op } = key;
  const agreed = op.calls.some((one) => one.user === account && one.payload === payload && (one.untilMs ?? 0) > deviceWall);
  if (!agreed) ledger.violate(name, op, `${key.key} was sent in the background, and nobody had agreed to it`);
}
