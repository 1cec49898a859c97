/** Lets tabs of one origin tell each other to look again, and makes a page look again when it is shown. */
import type { Client } from './client.js';

/**
 * Tells the other tabs to look again. Sends one message for everything that happens in one tick, in a microtask, which runs before the page
 * can be left.
 */
export function tellTabs({ registry: { hearing }, platform: { tabs } }: Client): void {
  if (!tabs || hearing.telling) return;
  hearing.telling = true;
  void Promise.resolve().then(() => {
    hearing.telling = false;
    // Send over the listening channel, if it is open: a channel does not get its own messages, but another channel of this page would.
    const channel = hearing.channel ?? tabs.open();
    channel?.postMessage(0);
    if (channel !== hearing.channel) channel?.close();
  });
}

/**
 * Begins to hear other tabs, for the first screen of the page; the result ends that. An open channel may keep a page out of the back-forward
 * cache, so it is open only while the page is shown and has a screen that listens. On a message, a frozen page would begin a read of the
 * store that it can't finish, and the writes of other tabs would wait for it.
 */
export function hearTabs({ registry: { hearing, screens }, platform: { tabs } }: Client): (() => void) | undefined {
  if (!tabs) return undefined;
  const look = (): void => {
    hear();
    [...screens].map((screen) => screen(true));
  };
  const hear = (): void => {
    hearing.channel ??= tabs.open();
    if (hearing.channel) hearing.channel.onmessage = look;
  };
  const hush = (): void => {
    hearing.channel?.close();
    hearing.channel = undefined;
  };
  hear();
  // Not when the page is hidden: it may be on its way into the back-forward cache, and could not finish reading the store. Chromium drops such a
  // page from the cache, because the next page's writes wait for it.
  const off = tabs.listening({ focus: look, pageshow: look, pagehide: hush, freeze: hush, resume: look, visibilitychange: look });
  return () => {
    hush();
    off();
  };
}
