/** Tabs of one origin that tell each other to look again, and a page that looks by itself when it is shown. */
import type { Tabs } from '../../ports.js';
import { listening } from './listening.js';

const looks = new Set<() => void>();
let telling = false;
let hearing: BroadcastChannel | undefined;
let off: (() => void) | undefined;

/** Absent where the browser has none, or refuses it to this page. */
function open(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel('oncefetch');
  } catch {
    return undefined;
  }
}

const lookAgain = (): void => [...looks].forEach((look) => void look());

function hear(): void {
  hearing ??= open();
  if (hearing) hearing.onmessage = lookAgain;
}

/** An open channel may keep a page out of the back-forward cache, so it is open only while the page is there and a screen is. */
function hush(): void {
  hearing?.close();
  hearing = undefined;
}

function shown(): void {
  hear();
  lookAgain();
}

export const tabs: Tabs = {
  tell() {
    if (telling) return;
    telling = true;
    // Once for all that happens in a tick, and before the page can leave.
    queueMicrotask(() => {
      telling = false;
      // The channel that listens does not hear itself.
      const channel = hearing ?? open();
      channel?.postMessage(0);
      if (channel !== hearing) channel?.close();
    });
  },
  listen(look) {
    if (!looks.size) {
      hear();
      off = listening({ focus: lookAgain, pageshow: shown, pagehide: hush, visibilitychange: lookAgain });
    }
    const entry = (): void => look();
    looks.add(entry);
    return () => {
      if (looks.delete(entry) && !looks.size) {
        hush();
        off?.();
      }
    };
  },
};
