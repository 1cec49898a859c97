/** What is sent in the background was agreed to: this payload, for this operation, until a time that is not over. */
import type { Ledger, Send } from '../facts.js';

export function withoutConsent({ call, key, payload, deviceWall }: Send, ledger: Ledger, name: string): void {
  if (!call?.inBackground) return;
  const { op } = key;
  // A user who logs in goes on with what they agreed to as a guest. Another check looks at whose cookie the request bears.
  const agreed = op.calls.some((one) => one.payload === payload && (one.untilMs ?? 0) > deviceWall);
  if (!agreed) ledger.violate(name, op, `${key.key} was sent in the background, and nobody had agreed to it`);
}
