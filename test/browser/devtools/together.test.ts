/**
 * Goal: the panel shows as much of other tabs and workers as their records tell, nothing of another user, and only the
 * client that it belongs to. Method: frames and workers with their own package, over one IndexedDB.
 */
import { afterEach, describe, expect } from 'vitest';
import { devtools } from '../../../src/entries/devtools.js';
import { close as closeClient, extend, memoryStore, refresh } from '../../../src/entries/index.js';
import { createOnce, SOON } from '../realm/lib.js';
import { closeRealms, openFrame, openWorker, type Realm } from '../support/realms.js';
import { type Shop, test } from '../support/shop.js';
import { order, panelOf, watched } from './support.js';

afterEach(closeRealms);

const payIn = ({ run }: Realm, { url, namespace }: Shop, attempts = 5): Promise<string> =>
  run(
    async (lib, url, namespace, attempts) => {
      const once = lib.createOnce({ ...lib.SOON, limits: { ...lib.SOON.limits, attempts }, namespace });
      const end: unknown = await once.fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] }).catch((error: unknown) => error);
      return String(lib.outcomeOf(end)?.effect);
    },
    url,
    namespace,
    attempts,
  );

describe.each([
  ['another tab', openFrame],
  ['a worker', openWorker],
])('%s', (_, openRealm) => {
  test('pays: the panel shows it as in progress elsewhere, then as done, without attempts', async () => {
    const { shop, eyes } = watched();
    const realm = await openRealm();
    await shop.hold();
    const paid = payIn(realm, shop);
    await eyes.until('pay / 1in another tab');
    expect(eyes.detail).toContain('Another tab, worker or process is working on it.');
    expect(eyes.detail).toContain('attempts that were made there are not stored');
    expect(eyes.button('Settle as none').disabled).toBe(true);
    await shop.release();
    expect(await paid).toBe('done');
    await eyes.until('pay / 1done');
    expect(eyes.all('.step')).toEqual([]);
    expect(eyes.detail).toContain('It took effect now.');
  });

  test('dies in the middle: the operation becomes unsettled, and the panel says what resuming would do', async () => {
    const { shop, eyes } = watched();
    const realm = await openRealm();
    await shop.hold();
    void payIn(realm, shop).catch(() => {});
    await eyes.until('pay / 1in another tab');
    realm.close();
    await shop.release();
    await eyes.until('pay / 1unsettled');
    expect(eyes.detail).toContain('Nothing is sent, because no request is here or its key is too old: reconcile is asked.');
    await shop.oneEffect();
  });
});

test('the panel can be mounted in another document, and brings its styles along', async ({ shop }) => {
  const here = createOnce({ ...SOON, namespace: shop.namespace });
  const frame = await openFrame();
  const there = createOnce({ ...SOON, namespace: shop.namespace });
  const { eyes } = panelOf(there, { open: true, mount: frame.window.document.body });
  await here.fetch(shop.url, order('pay', 1));
  await eyes.until('pay / 1done');
  expect(frame.window.getComputedStyle(eyes.all('.panel')[0] as Element).position).toBe('fixed');
});

describe('the user', () => {
  test('logs out while the panel is open: the panel drops their operations, and the next user sees only their own', async ({ shop }) => {
    let user: string | undefined = `${shop.namespace} anna`;
    const once = createOnce({ ...SOON, namespace: () => user as string });
    const { eyes } = panelOf(once);
    await once.fetch(shop.url, order('pay', 'anna'));
    await eyes.until('pay / annadone');
    user = undefined;
    refresh(once);
    await eyes.until('Nobody is logged in');
    expect(eyes.text).not.toContain('pay / anna');
    user = `${shop.namespace} ben`;
    refresh(once);
    await once.fetch(shop.url, order('pay', 'ben'));
    await eyes.until('pay / bendone');
    expect(eyes.text).not.toContain('pay / anna');
  });

  test('logs out in the middle of a call: its end is not shown to the next user', async ({ shop }) => {
    let user = `${shop.namespace} anna`;
    const once = createOnce({ ...SOON, namespace: () => user });
    const { eyes } = panelOf(once);
    await shop.hold();
    const paid = once.fetch(shop.url, order('pay', 'anna')).catch(() => {});
    await eyes.until('pay / annasending');
    user = `${shop.namespace} ben`;
    await shop.release();
    await paid;
    refresh(once);
    await expect.poll(() => eyes.text).not.toContain('pay / anna');
  });
});

describe('clients', () => {
  test('two clients have a panel each, which shows only its client', async ({ shop }) => {
    const store = () => memoryStore();
    const [a, b] = [1, 2].map(() => createOnce({ ...SOON, namespace: shop.namespace, store: store() })) as [
      ReturnType<typeof createOnce>,
      ReturnType<typeof createOnce>,
    ];
    const first = panelOf(a, { label: 'checkout' });
    const second = panelOf(b, { label: 'votes' });
    await a.fetch(shop.url, order('pay', 1));
    await b.fetch(shop.url, order('vote', 1));
    // The panel is drawn after the call has resolved.
    await expect.poll(() => [first, second].map(({ eyes }) => eyes.text)).toEqual(['oncefetch: checkout', 'oncefetch: votes']);
    const places = [first, second].map(({ eyes }) => eyes.all('.toggle')[0]?.getBoundingClientRect().top);
    expect(places[0]).not.toBe(places[1]);
    first.eyes.button('oncefetch').click();
    await first.eyes.until('pay / 1done');
    second.eyes.button('oncefetch').click();
    await second.eyes.until('vote / 1done');
    expect(first.eyes.text).not.toContain('vote');
    expect(second.eyes.text).not.toContain('pay / 1');
  });

  test('a second panel for one client replaces the first one', async () => {
    const { once, close } = watched();
    const { eyes } = panelOf(once, { label: 'anew' });
    expect(document.querySelectorAll('oncefetch-devtools')).toHaveLength(1);
    close();
    expect(eyes.host.isConnected).toBe(true);
  });

  test('a closed client: the panel says that it is closed', async () => {
    const { shop, once, eyes } = watched();
    await once.fetch(shop.url, order('pay', 1));
    await eyes.until('pay / 1done');
    await closeClient(once);
    await eyes.until(/[Tt]he client is closed/);
  });

  test('calls of a client that is extended for another user do not appear in the panel', async () => {
    const { shop, once, eyes } = watched();
    const other = extend(once, { namespace: `${shop.namespace}-other` });
    await other.fetch(shop.url, order('pay', 'theirs'));
    await once.fetch(shop.url, order('pay', 'own'));
    await eyes.until('pay / owndone');
    expect(eyes.rows).toEqual(['pay / own: done']);
  });

  test('calls of an extended client appear in the panel, with their attempts', async () => {
    const { shop, once, eyes } = watched();
    const patient = extend(once, { limits: { totalMs: 30_000 } });
    await patient.fetch(shop.url, order('pay', 1));
    await eyes.until('pay / 1done');
    await eyes.until('It took effect now.');
  });
});

describe('devtools throws at once', () => {
  const once = createOnce({ namespace: 'nobody' });
  test.each([
    [() => devtools({} as never), 'once: devtools takes a client from createOnce, got object'],
    [() => devtools(undefined as never), 'once: devtools takes a client from createOnce, got undefined'],
    [() => devtools(once, { open: 'yes' as never }), 'once: devtools.open must be a boolean, got string'],
    [() => devtools(once, { mount: '#app' as never }), 'once: devtools.mount must be an object, got string'],
    [() => devtools(once, { mount: {} as never }), 'once: devtools.mount must be an element, got object'],
    [() => devtools(once, { colour: 'red' } as never), 'once: there is no option devtools.colour'],
  ])('%#', (call, message) => {
    expect(call).toThrow(new TypeError(message));
    expect(document.querySelector('oncefetch-devtools')).toBeNull();
  });
});
