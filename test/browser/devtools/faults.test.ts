/**
 * Goal: each fault that the panel plays could also come from a real network, affects what its label says, and ends when
 * it is turned off. Method: a real server counts the requests.
 */
import { describe, expect, test, vi } from 'vitest';
import { devtools } from '../../../src/entries/devtools.js';
import { extend, outcomeOf } from '../../../src/entries/index.js';
import { createOnce, SOON } from '../realm/lib.js';
import { Shop } from '../support/shop.js';
import { order, watched } from './support.js';

describe('the fault', () => {
  test('"Lose the next answer": the server charges, and the second attempt gets the replay', async () => {
    const { shop, once, eyes } = watched();
    eyes.tick('Lose the next answer');
    const paid = await once.fetch(shop.url, order('pay', 1));
    expect(outcomeOf(paid)).toMatchObject({ type: 'replayed', attempts: 2 });
    await shop.oneEffect();
    await eyes.until('the panel lost its answer');
    expect(eyes.all<HTMLInputElement>('fieldset input').map(({ checked }) => checked)).toEqual([false, false, false]);
    expect(outcomeOf(await once.fetch(shop.url, order('pay', 2)))).toMatchObject({ type: 'fresh', attempts: 1 });
  });

  test('"Be offline": nothing is sent until it is turned off, then the call continues by itself', async () => {
    const { shop, once, eyes } = watched({ limits: { offlineWaitMs: 20_000 } });
    eyes.tick('Be offline');
    const paid = once.fetch(shop.url, order('pay', 1));
    await eyes.until('It waits for the network');
    expect((await shop.ledger()).arrivals).toEqual([]);
    eyes.tick('Be offline');
    expect(outcomeOf(await paid)).toMatchObject({ effect: 'done' });
  });

  test('"Be offline" for longer than the call waits: the call ends as unknown', async () => {
    const { shop, once, eyes } = watched({ limits: { offlineWaitMs: 50 } });
    eyes.tick('Be offline');
    const error = await once.fetch(shop.url, order('pay', 1)).catch((thrown: unknown) => thrown);
    expect(outcomeOf(error)).toMatchObject({ effect: 'unknown', reason: 'offline' });
    expect((await shop.ledger()).arrivals).toEqual([]);
    await eyes.until('the panel played offline');
  });

  test('"Be slow": an attempt that takes too long times out', async () => {
    const { shop, once, eyes } = watched();
    eyes.tick('Be slow');
    const hasty = { ...order(), once: { operation: ['pay', 1], limits: { attempts: 1, attemptMs: 200 } } };
    const error = await once.fetch(shop.url, hasty).catch((thrown: unknown) => thrown);
    expect(outcomeOf(error)).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
    await eyes.until('no answer in time');
    await eyes.until('the panel slowed it down');
    expect((await shop.ledger()).arrivals).toEqual([]);
  });

  test('of a closed panel is mentioned on its button, and ends when the panel is removed', async () => {
    const { shop, once, eyes, close } = watched();
    eyes.tick('Be offline');
    eyes.button('Close the panel').click();
    expect(eyes.text).toContain('faults on');
    close();
    expect(outcomeOf(await once.fetch(shop.url, order('pay', 1)))).toMatchObject({ type: 'fresh', attempts: 1 });
  });

  test('affects clients that are extended from this one, even later, and no other client', async () => {
    const { shop, once, eyes } = watched({ limits: { attempts: 1, offlineWaitMs: 0 } });
    const extended = extend(once, { limits: { attempts: 1, offlineWaitMs: 0 } });
    const other = createOnce({ ...SOON, namespace: `${shop.namespace} other` });
    await once.fetch(shop.url, order('look', 1));
    await eyes.until('look / 1done');
    eyes.tick('Be offline');
    expect(outcomeOf(await extended.fetch(shop.url, order('pay', 1)).catch((error: unknown) => error))).toMatchObject({ effect: 'unknown' });
    expect(outcomeOf(await other.fetch(shop.url, order('pay', 1)))).toMatchObject({ type: 'fresh' });
    await eyes.until('pay / 1unsettled');
  });
});

describe('the hook that the panel puts into the transport', () => {
  test('restores the client when the panel is closed', () => {
    const once = createOnce({ ...SOON, namespace: new Shop().namespace });
    const client = once['~oncefetch']() as { transport: { send: unknown }; platform: { connectivity: unknown }; listeners: Set<unknown> };
    const before = [client.transport.send, client.platform.connectivity, client.listeners.size];
    const screens = () => (globalThis as unknown as { [key: symbol]: { screens: Set<unknown> } })[Symbol.for('oncefetch')]?.screens.size;
    const seen = screens();
    const close = devtools(once, { open: true });
    expect(client.transport.send).not.toBe(before[0]);
    close();
    close();
    expect([client.transport.send, client.platform.connectivity, client.listeners.size]).toEqual(before);
    expect(screens()).toBe(seen);
    expect(document.querySelector('oncefetch-devtools')).toBeNull();
  });

  test('passes requests through if somebody wraps the transport later and the panel is closed', async () => {
    const { shop, once, close } = watched();
    const { transport } = once['~oncefetch']() as { transport: { send(url: string, init: RequestInit): Promise<Response> } };
    const { send } = transport;
    const wrapped = vi.fn((url: string, init: RequestInit) => send.call(transport, url, init));
    transport.send = wrapped;
    close();
    expect((await once.fetch(shop.url, order('pay', 1))).status).toBe(201);
    expect(wrapped).toHaveBeenCalledTimes(1);
  });

  test('works even if a listener of the app throws', async () => {
    const { subscribe } = await import('../../../src/entries/index.js');
    const reported = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
    const { shop, once, eyes } = watched();
    subscribe(once, () => {
      throw new Error('of the app');
    });
    expect((await once.fetch(shop.url, order('pay', 1))).status).toBe(201);
    await eyes.until('Read as fresh');
    expect(reported).toHaveBeenCalled();
    reported.mockRestore();
  });
});
