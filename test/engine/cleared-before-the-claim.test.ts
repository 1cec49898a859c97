/** Goal: a call that had not begun when the user logged out stores and sends nothing afterwards. Method: `clear` is called while its request is read. */
import { expect } from 'vitest';
import { clear } from '../../src/entries/index.js';
import { answers, charged } from '../support/server.js';
import { NAME, pay, test, URL_, watched } from '../support/world.js';

const SHOP = { namespace: 'shop' } as const;

test.for(['fingerprint', 'body'])('a log-out while its %s is read', async (what, { world, tab }) => {
  const once = tab.once(SHOP);
  const meta = { note: 'secret' };
  const body = new ReadableStream({
    async pull(controller) {
      await clear(once);
      controller.enqueue(new TextEncoder().encode('{}'));
      controller.close();
    },
  });
  const fingerprint = async (): Promise<string> => {
    await clear(once);
    return 'x';
  };
  const extended = tab.once({ ...SHOP, fingerprint });
  const call =
    what === 'body'
      ? watched(once.fetch(URL_, { method: 'POST', body, duplex: 'half', once: { operation: NAME, meta } } as RequestInit))
      : pay(extended, { meta });
  expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'unknown', reason: 'record', attempts: 0 } });
  expect([world.server.arrivals, world.records]).toEqual([[], []]);
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
});
