/**
 * Goal: a page that is frozen or in the back-forward cache ignores messages of other tabs. Otherwise it would begin to
 * read the store and be unable to finish, and writes of other tabs would wait for it. When the page resumes, it reads
 * the store. Method: the browser's own events, in a frame with its own screen and a channel that gets each message
 * after the package does. Nor does a page read the store when it is hidden: on its way into the back-forward cache, it could not finish that
 * either, and Chromium drops a page from the cache whose transaction is in the way of the next page.
 */
import { afterEach, describe, expect } from 'vitest';
import { closeRealms, openFrame } from '../support/realms.js';
import { test } from '../support/shop.js';

afterEach(closeRealms);

describe.each([
  ['freeze', 'resume', 'document'],
  ['pagehide', 'pageshow', 'window'],
] as const)('from %s to %s', (stops, goesOn, where) => {
  test('a screen ignores messages of other tabs; afterwards it reads the store at once', async ({ shop }) => {
    const frame = await openFrame();
    const heard = await frame.run(
      async (lib, namespace, stops, goesOn, where) => {
        let looks = 0;
        lib.watch(lib.createOnce({ namespace }), () => looks++);
        const [mine, theirs] = [new BroadcastChannel('oncefetch'), new BroadcastChannel('oncefetch')];
        const tell = async () => {
          looks = 0;
          const came = new Promise((resolve) => mine.addEventListener('message', resolve, { once: true }));
          theirs.postMessage(0);
          await came;
          return looks;
        };
        const happens = (type: string) => {
          looks = 0;
          globalThis[where].dispatchEvent(new Event(type));
          return looks;
        };
        // This channel was opened after the package's own, so it receives each message later than the package.
        const heard = [await tell(), happens(stops), await tell(), happens(goesOn)];
        mine.close();
        theirs.close();
        return heard;
      },
      shop.namespace,
      stops,
      goesOn,
      where,
    );
    expect(heard).toEqual([1, 0, 0, 1]);
  });
});

test.each([
  ['hidden', 0],
  ['visible', 1],
] as const)('a page that becomes %s: its screens look %i times', async (state, looks) => {
  const frame = await openFrame();
  const looked = await frame.run((lib, state) => {
    let looks = 0;
    lib.watch(lib.createOnce({ namespace: 'customer' }), () => looks++);
    Object.defineProperty(document, 'hidden', { value: state === 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
    return looks;
  }, state);
  expect(looked).toBe(looks);
});
