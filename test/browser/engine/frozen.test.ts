/**
 * Goal: a page that is frozen or in the back-forward cache ignores messages of other tabs. Otherwise it would begin to
 * read the store and be unable to finish, and writes of other tabs would wait for it. When the page resumes, it reads
 * the store. Method: the browser's own events, in a frame with its own screen and a channel that gets each message
 * after the package does.
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
