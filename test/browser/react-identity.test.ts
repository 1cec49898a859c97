/**
 * Goal: a screen shows only the payments of its user while another user logs in, the device is cleared, or another tab
 * ends payments. Method: as in `react.test.ts`, with a log of every render and of the user at that moment, because not
 * a single frame may be wrong.
 */
import { clear, createOnce, extend, indexedDbStore, memoryStore, type Once, pending, refresh, settle, subscribe } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { act, createElement as h, memo, StrictMode } from 'react';
import { afterEach, test as anyTest, expect } from 'vitest';
import { body, cart, client, onStage, place, root, server, settled, shown } from './support/react.js';
import { openFrame } from './support/realms.js';

onStage();

let person: string | undefined = 'ann';
let frames: string[] = [];
afterEach(() => {
  person = 'ann';
  frames = [];
});

const namespace = (): string => {
  if (person === undefined) throw new Error('nobody is logged in');
  return `${person}-${cart}`;
};

function Screen({ once }: { once: Once }) {
  const payment = useOperation(once, ['pay', cart]);
  const open = usePending<{ total: string }>(once, { prefix: ['pay'] });
  const text = `${payment.state.phase}/${open.map(({ meta }) => meta?.total ?? 'no meta').join()}`;
  frames.push(`${person}: ${text}`);
  return h('output', null, text);
}
/** A screen whose parent never renders it again, so it changes only when oncefetch tells it to. */
const Still = memo(Screen);

const lost = async (once: Once): Promise<void> => {
  server.faults.next('lose-response');
  await once.fetch('/api/payments', { ...body, once: { operation: ['pay', cart], meta: { total: '€42.00' } } }).catch(() => {});
};

async function annHasAnOpenPayment(once: Once): Promise<void> {
  await act(() => root.render(h(StrictMode, null, h(Still, { once }))));
  await settled(() => expect(shown('output')).toBe('idle/'));
  await act(() => lost(once));
  await settled(() => expect(shown('output')).toBe('unsettled/€42.00'));
}

const oneTry = { limits: { attempts: 1 } };
const test = anyTest.extend('once', () => client({ namespace, ...oneTry }));

test.each<[string, (once: Once) => unknown]>([
  ['the app calls refresh', (once) => refresh(once)],
  ['a call of the client reads the namespace', (once) => pending(once)],
  ['another client over it reads the namespace', (once) => extend(once, { repeat: 'always' }).fetch('/api/payments', { ...body, once: ['tip', cart] })],
  ['the device is cleared', (once) => clear(once)],
  ['the window gets the focus', () => window.dispatchEvent(new Event('focus'))],
  ['the page is shown again', () => document.dispatchEvent(new Event('visibilitychange'))],
  ['another screen is rendered', (once) => root.render(h(StrictMode, null, h(Still, { once, key: 'same' }), h(Screen, { once })))],
])('another user logs in, and %s: a mounted screen shows nothing of the first user, not even for one frame', async (_, tell) => {
  const once = client({ namespace, ...oneTry });
  await annHasAnOpenPayment(once);
  person = 'bert';
  await act(() => tell(once));
  await settled(() => expect(shown('output')).toBe('idle/'));
  expect(frames.filter((line) => line.startsWith('bert:') && /€|unsettled|no meta/.test(line))).toEqual([]);
  person = 'ann';
  await act(() => refresh(once));
  await settled(() => expect(shown('output')).toMatch(/^unsettled\//));
  expect(server.effects.filter(({ key }) => key === server.requests[0]?.key)).toHaveLength(1);
});

test('refresh of a client also updates screens that use a copy of that client made with extend', async ({ once }) => {
  await annHasAnOpenPayment({ ...once });
  person = 'bert';
  await act(() => refresh(once));
  await settled(() => expect(shown('output')).toBe('idle/'));
});

test('a payment that ends after its user has left is not shown to the next user, and its event is marked as foreign', async ({ once }) => {
  const heard: unknown[] = [];
  await act(() => root.render(h(Still, { once })));
  const off = subscribe(once, ({ type, foreign }) => heard.push([type, foreign]));
  server.faults.next({ name: 'delay', ms: 200 });
  let paying: Promise<unknown> | undefined;
  await act(async () => void (paying = once.fetch('/api/payments', { ...body, once: { operation: ['pay', cart], meta: { total: '€42.00' } } })));
  await settled(() => expect(shown('output')).toBe('sending/'));
  person = 'bert';
  await act(() => paying);
  await settled(() => expect(shown('output')).toBe('idle/'));
  off();
  expect(heard).toEqual([
    ['attempt', false],
    ['settled', true],
  ]);
  expect(frames.filter((line) => line.startsWith('bert:') && !/: (loading|idle)\/$/.test(line))).toEqual([]);
});

test('before anybody has logged in, a screen shows "loading" and lists nothing; it follows the log-in and the log-out', async ({ once }) => {
  await lost(once);
  person = undefined;
  await act(() => root.render(h(StrictMode, null, h(Still, { once }))));
  await settled(() => expect(shown('output')).toBe('loading/'));
  person = 'ann';
  await act(() => refresh(once));
  await settled(() => expect(shown('output')).toBe('unsettled/€42.00'));
  person = undefined;
  await act(() => refresh(once));
  await settled(() => expect(shown('output')).toBe('loading/'));
});

test.each([undefined, 'bert'])("a list alone shows its user's open payment again after the user was away (in between: %s)", async (between) => {
  const store = memoryStore();
  let broken = false;
  const scan: typeof store.scan = (query) => (broken ? Promise.reject(new Error('unreadable')) : store.scan(query));
  const once = client({ namespace, ...oneTry, store: { ...store, scan } });
  const List = memo(() => h('output', null, usePending(once).length));
  await lost(once);
  await act(() => root.render(h(StrictMode, null, h(List))));
  await settled(() => expect(shown('output')).toBe('1'));
  person = between;
  broken = true;
  await act(() => refresh(once));
  await settled(() => expect(shown('output')).toBe('0'));
  person = 'ann';
  broken = false;
  await act(() => refresh(once));
  await settled(() => expect(shown('output')).toBe('1'));
});

test('clear updates every screen at once: the meta is gone, and the unsettled payment stays', async ({ once }) => {
  await annHasAnOpenPayment(once);
  await act(() => clear(once));
  await settled(() => expect(shown('output')).toBe('unsettled/no meta'));
  await act(() => clear(once, { unsettled: 'forget' }));
  await settled(() => expect(shown('output')).toBe('idle/'));
});

test('a screen follows what another client over the same store does', async ({ once }) => {
  await annHasAnOpenPayment(once);
  const other = createOnce({ namespace, fetch: server.fetch });
  await act(() => settle(other, ['pay', cart], 'done'));
  await settled(() => expect(shown('output')).toBe('settled/'));
});

test('a payment in flight shows no banner', async () => {
  const once = client({ namespace, limits: { attempts: 2 } });
  await act(() => root.render(h(StrictMode, null, h(Still, { once }))));
  server.faults.next('lose-response', { name: 'delay', ms: 150 });
  await act(() => once.fetch('/api/payments', { ...body, once: { operation: ['pay', cart], meta: { total: '€42.00' } } }));
  await settled(() => expect(shown('output')).toBe('settled/'));
  expect(frames.filter((line) => line.includes('€'))).toEqual([]);
  expect(frames.some((line) => line.includes('sending'))).toBe(true);
});

test('another tab settles by hand, leaves a payment unsettled, and clears: the screens of this tab follow', async ({ once }) => {
  await annHasAnOpenPayment(once);
  const tab = await openFrame();
  const own = namespace();
  await act(() =>
    tab.run(
      async (lib, namespace, cart) => {
        const there = lib.createOnce({ namespace });
        await lib.settle(there, ['pay', cart], 'done');
      },
      own,
      cart,
    ),
  );
  await settled(() => expect(shown('output')).toBe('settled/'));

  await act(() =>
    tab.run(
      async (lib, namespace, cart) => {
        globalThis.fetch = () => Promise.reject(new TypeError('cut'));
        const there = lib.createOnce({ namespace, limits: { attempts: 1 } });
        await there.fetch('/api/payments', { method: 'POST', once: { operation: ['pay', `${cart}-b`], meta: { total: '€7.00' } } }).catch(() => {});
      },
      own,
      cart,
    ),
  );
  await settled(() => expect(shown('output')).toBe('settled/€7.00'));

  await act(() => tab.run(async (lib, namespace) => void (await lib.clear(lib.createOnce({ namespace }), { unsettled: 'forget' })), own));
  await settled(() => expect(shown('output')).toBe('idle/'));
  tab.close();
});

test('a log-out in another tab while this tab reads its list, which StrictMode mounts twice: the late list of the user who left is shown on no frame', async () => {
  const store = indexedDbStore();
  let held: (() => void) | undefined;
  let holding = false;
  // What was read before the log-out arrives after it.
  const scan: typeof store.scan = async (query) => {
    const page = await store.scan(query);
    if (holding) await new Promise<void>((go) => void (held = go));
    return page;
  };
  const once = client({ namespace, ...oneTry, store: { ...store, scan } });
  const [tab, own] = [await openFrame(), namespace()];
  await lost(once);
  holding = true;
  await act(() => root.render(h(StrictMode, null, h(Still, { once }))));
  await settled(() => expect(held).toBeDefined());
  await act(() => tab.run(async (lib, namespace) => void (await lib.clear(lib.createOnce({ namespace }), { unsettled: 'forget' })), own));
  await settled(() => expect(shown('output')).toBe('idle/'));
  frames = [];
  holding = false;
  await act(() => held?.());
  await act(() => new Promise((later) => setTimeout(later, 100)));
  await act(() => refresh(once));
  await settled(() => expect(shown('output')).toBe('idle/'));
  await act(() => root.render(h(StrictMode, null, h(Still, { once, key: 'again' }))));
  await settled(() => expect(shown('output')).toBe('idle/'));
  expect(frames.filter((line) => /€|unsettled|no meta/.test(line))).toEqual([]);
  tab.close();
});

test('a payment in flight in another tab shows no banner, until that tab is closed', async ({ once }) => {
  await act(() => root.render(h(Still, { once })));
  const tab = await openFrame();
  const [own, name] = [namespace(), cart];
  await tab.run(
    async (lib, namespace, cart) => {
      globalThis.fetch = () => new Promise(() => {});
      const there = lib.createOnce({ namespace });
      there.fetch('/api/payments', { method: 'POST', once: { operation: ['pay', cart], meta: { total: '€42.00' } } }).catch(() => {});
      while ((await lib.pending(there)).length === 0) await new Promise((go) => setTimeout(go, 10));
    },
    own,
    name,
  );
  await act(() => refresh(once));
  await settled(() => expect(frames.length).toBeGreaterThan(1));
  expect(await pending(once)).toMatchObject([{ inFlight: true }]);
  expect(shown('output').split('/')[1]).toBe('');
  // A closed tab sends no message.
  tab.close();
  await settled(() => expect(shown('output')).toBe('unsettled/€42.00'));
});

test('a screen whose first read failed follows the next call', async () => {
  let broken = true;
  const { memoryStore } = await import('oncefetch');
  const store = memoryStore();
  const once = client({ namespace, ...oneTry, store: { ...store, read: (id) => (broken ? Promise.reject(new Error('unreadable')) : store.read(id)) } });
  await act(() => root.render(h(Still, { once })));
  await act(() => new Promise((go) => setTimeout(go, 20)));
  broken = false;
  await act(() => once.fetch('/api/payments', { ...body, once: ['pay', cart] }));
  await settled(() => expect(shown('output')).toBe('settled/'));
});

test('a screen that is unmounted leaves nothing behind', async ({ once }) => {
  await annHasAnOpenPayment(once);
  await act(() => root.render(null));
  const tables = (globalThis as unknown as Record<symbol, { screens: Set<unknown> }>)[Symbol.for('oncefetch')];
  expect(tables?.screens.size).toBe(0);
  expect(place.textContent).toBe('');
});
