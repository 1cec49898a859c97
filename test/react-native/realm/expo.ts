/** A model of Expo's native side, beneath `expo/fetch`. */
import { type Os, send } from './system-http.js';

const CANCELED = 'Fetch request has been canceled';
const NOT_ALLOWED = "Redirect is not allowed when redirect mode is 'error'";

interface Init {
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly redirect: string;
}
/** Functions of the realm. They take plain values, and objects as JSON text. */
interface Hear {
  head(json: string): void;
  body(bytes: readonly number[]): void;
  fail(message: string): void;
}

/** `step` marks a moment at which the app may be killed, and returns whether the app is still alive. */
export function expoHttp(os: Os, step: () => boolean) {
  const live = new Set<() => void>();
  const start = (url: string, json: string, body: Iterable<number> | null, hear: Hear) => {
    const { method, headers, redirect } = JSON.parse(json) as Init;
    let cancel = () => {};
    const forget = () => cancel();
    /** Ends the request. Returns whether it was still open and the app is still alive. */
    const over = () => live.delete(forget) && step();
    const fail = (message: string) => {
      cancel();
      if (over()) hear.fail(message);
    };
    if (!step()) return forget;
    live.add(forget);
    const sent = { method, url, headers: Object.fromEntries(headers), body: body ? Buffer.from([...body]) : undefined };
    cancel = send(os, sent, {
      head: (head) => (head.redirected && redirect === 'error' ? fail(NOT_ALLOWED) : hear.head(JSON.stringify(head))),
      body: (bytes) => {
        if (over()) hear.body([...bytes]);
      },
      fail,
    });
    return () => fail(CANCELED);
  };
  return {
    start,
    closeAll() {
      for (const cancel of live) cancel();
      live.clear();
    },
  };
}
