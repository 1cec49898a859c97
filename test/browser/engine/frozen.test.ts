/**
 * Goal: a page that is frozen or in the back-forward cache does not hear other tabs: it would begin to read the store, could not
 * end that, and writes of other tabs would wait for it. When it goes on, it looks. Method: the browser's own events, in a frame with
 * a screen and a channel of its own, whose messages come after those of the package.
 */
import { afterEach, describe, expect } from 'vitest';
import { closeRealms, openFrame } from '../support/realms.js';
import { test } from '../support/shop.js';

afterEach(closeRealms);

describe.each([
  ['freeze', 'resume', 'document'],
  ['pagehide', 'pageshow', 'window'],
] as const)('from %s to %s', (stops, goesOn, where) => {
  test('a screen does not look when another tab says so, and then it looks at once', async ({ shop }) => {
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
        // The channel for the later messages was opened after the package's own.
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
