/** Lets tabs of one origin tell each other to look again, and makes a page look again when it is shown. */
import type { Tabs } from '../../ports.js';
import { listening, whenShown } from './listening.js';

const looks = new Set<() => void>();
let telling = false;
let hearing: BroadcastChannel | undefined;
let off: (() => void) | undefined;

/** A channel to the other tabs; `undefined` if the browser has none or refuses it to this page. */
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

/**
 * Closes the channel. An open one may keep a page out of the back-forward cache, so it is open only while the page is shown and has a screen
 * that listens. On a message, a frozen page would begin a read of the store that it can't finish, and the writes of other tabs would wait for it.
 */
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
    // Send one message for everything that happens in one tick. Send it in a microtask, which runs before the page can be left.
    queueMicrotask(() => {
      telling = false;
      // Send over the listening channel, if it is open: a channel does not get its own messages, but another channel of this page would.
      const channel = hearing ?? open();
      channel?.postMessage(0);
      if (channel !== hearing) channel?.close();
    });
  },
  listen(look) {
    if (!looks.size) {
      hear();
      // Not when the page is hidden: it may be on its way into the back-forward cache, and could not finish reading the store. Chromium drops such a
      // page from the cache, because the next page's writes wait for it.
      off = listening({ focus: lookAgain, pageshow: shown, pagehide: hush, freeze: hush, resume: shown, visibilitychange: whenShown(lookAgain) });
    }
    looks.add(look);
    return () => {
      if (looks.delete(look) && !looks.size) {
        hush();
        off?.();
      }
    };
  },
};
