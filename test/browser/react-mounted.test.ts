/**
 * Goal: hooks show the right state while they stay mounted: after a call that is aborted behind another tab, a late read, a `namespace`
 * that names no user, a failed scan. Method: as in `react.test.ts`, with a store, a namespace or a tab that behaves badly.
 */
import { close, memoryStore, type Once, refresh } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { act, createElement as h, StrictMode, useEffect } from 'react';
import { expect, test, vi } from 'vitest';
import { body, cart, client, onStage, root, server, settled, shown } from './support/react.js';
import { openFrame } from './support/realms.js';

onStage();

const pause = (ms: number): Promise<void> => act(() => new Promise<void>((go) => setTimeout(go, ms)));

function Screen({ once }: { once: Once }) {
  const { state } = useOperation(once, ['pay', cart]);
  return h('output', null, state.phase);
}

/** Pays while it is mounted. */
function Paying({ once }: { once: Once }) {
  const { fetch } = useOperation(once, ['pay', cart]);
  useEffect(() => {
    const stop = new AbortController();
    fetch('/api/payments', { ...body, signal: stop.signal }).catch(() => {});
    return () => stop.abort();
  }, [fetch]);
  return null;
}

test('a component pays and unmounts while another tab pays: the screens that stay show the stored state again', async () => {
  const once = client();
  const tab = await openFrame();
  await tab.run(async (lib, cart) => {
    globalThis.fetch = () => new Promise(() => {});
    const there = lib.createOnce({ namespace: 'ann' });
    there.fetch('/api/payments', { method: 'POST', body: '{"total":42}', once: { operation: ['pay', cart] } }).catch(() => {});
    while ((await lib.pending(there)).length === 0) await new Promise((go) => setTimeout(go, 10));
  }, cart);
  const both = (paying: boolean) => h(StrictMode, null, h(Screen, { once }), paying && h(Paying, { once }));
  await act(() => root.render(both(false)));
  await settled(() => expect(shown('output')).toBe('unsettled'));
  await act(() => root.render(both(true)));
  await settled(() => expect(shown('output')).toBe('waiting'));
  await act(() => root.render(both(false)));
  await pause(300);
  expect(shown('output')).toBe('unsettled');
  tab.close();
});

test('a read that finishes late does not override the end of a later call', async () => {
  const store = memoryStore();
  let slow = 1;
  const late = {
    ...store,
    read: async (id: string) => {
      const found = await store.read(id);
      if (slow-- > 0) await new Promise((go) => setTimeout(go, 200));
      return found;
    },
  };
  const once = client({ store: late, limits: { attempts: 1 } });
  await act(() => root.render(h(Screen, { once })));
  server.faults.next('lose-response');
  await act(() => once.fetch('/api/payments', { ...body, once: ['pay', cart] }).catch(() => {}));
  await settled(() => expect(shown('output')).toBe('unsettled'));
  await pause(400);
  expect(shown('output')).toBe('unsettled');
});

test.each<[string, () => unknown]>([
  ['a promise, of a hook that is async by mistake', async () => 'ann'],
  ['an object', () => ({ id: 7 })],
  ['NaN', () => Number.NaN],
])('a namespace that gives %s: screens show "loading", and the page does not loop', async (_, namespace) => {
  const asks = vi.fn(() => (asks.mock.calls.length < 500 ? namespace() : undefined) as string);
  const once = client({ namespace: asks });
  await act(() => root.render(h(StrictMode, null, h(Screen, { once }))));
  await pause(50);
  expect(shown('output')).toBe('loading');
  expect(asks.mock.calls.length).toBeLessThan(100);
});

test('a list whose scan fails when a call ends scans again by itself', async () => {
  const store = memoryStore();
  let broken = false;
  const scan: typeof store.scan = (query) => (broken ? Promise.reject(new Error('unreadable')) : store.scan(query));
  const once = client({ store: { ...store, scan }, limits: { attempts: 1 } });
  const List = () => h('output', null, usePending(once, { prefix: ['pay', cart] }).length);
  await act(() => root.render(h(StrictMode, null, h(List))));
  await settled(() => expect(shown('output')).toBe('0'));
  broken = true;
  server.faults.next('lose-response');
  await act(() => once.fetch('/api/payments', { ...body, once: ['pay', cart] }).catch(() => {}));
  await pause(50);
  expect(shown('output')).toBe('0');
  broken = false;
  await settled(() => expect(shown('output')).toBe('1'));
});

test('a list of a client that is closed is not read again by itself: every read would fail', async () => {
  const store = memoryStore();
  const scan = vi.fn(store.scan);
  const once = client({ store: { ...store, scan } });
  const List = () => h('output', null, usePending(once, { prefix: ['pay', cart] }).length);
  await act(() => root.render(h(List)));
  await settled(() => expect(shown('output')).toBe('0'));
  await close(once);
  scan.mockClear();
  scan.mockRejectedValue(new Error('closed'));
  refresh(once);
  await pause(2300);
  // The first sweep, in an idle moment, may come only now.
  expect(scan.mock.calls.filter(([query]) => !('before' in query))).toHaveLength(1);
});

test('a list that is being read when the page goes into the back-forward cache, where Firefox never answers that read, is read anew on the way back', async () => {
  const store = memoryStore();
  let cached = false;
  const scan: typeof store.scan = (query) => (cached ? new Promise(() => {}) : store.scan(query));
  const once = client({ store: { ...store, scan }, limits: { attempts: 1 } });
  const List = () => h('output', null, usePending(once, { prefix: ['pay', cart] }).length);
  await act(() => root.render(h(StrictMode, null, h(List))));
  server.faults.next('lose-response');
  await act(() => once.fetch('/api/payments', { ...body, once: ['pay', cart] }).catch(() => {}));
  await settled(() => expect(shown('output')).toBe('1'));
  cached = true;
  refresh(once);
  await act(() => once.fetch('/api/payments', { ...body, once: ['pay', cart] }));
  cached = false;
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  await settled(() => expect(shown('output')).toBe('0'));
});

test('ten changes while a list is read: it is read once more, and shows the last of them', async () => {
  const store = memoryStore();
  let held: Promise<void> | undefined;
  const scan = vi.fn<typeof store.scan>(async (query) => {
    const page = await store.scan(query);
    await held;
    return page;
  });
  const once = client({ store: { ...store, scan }, limits: { attempts: 1 } });
  const List = () => h('output', null, usePending(once, { prefix: ['pay', cart] }).length);
  await act(() => root.render(h(StrictMode, null, h(List))));
  await pause(50);
  scan.mockClear();
  let release = (): void => {};
  held = new Promise((resolve) => void (release = resolve));
  refresh(once);
  await pause(10);
  server.faults.next('lose-response');
  await act(() => once.fetch('/api/payments', { ...body, once: ['pay', cart] }).catch(() => {}));
  for (let n = 0; n < 10; n++) {
    refresh(once);
    await pause(1);
  }
  expect(shown('output')).toBe('0');
  held = undefined;
  release();
  await settled(() => expect(shown('output')).toBe('1'));
  expect(scan).toHaveBeenCalledTimes(2);
});

test('a list with a limit skips operations in flight, and shows the next ones', async () => {
  let release: (() => void) | undefined;
  const held: typeof fetch = async (...call) => {
    if (release === undefined) return server.fetch(...call);
    await new Promise<void>((resolve) => void (release = resolve));
    return server.fetch(...call);
  };
  const once = client({ fetch: held, limits: { attempts: 1 } });
  server.faults.next('lose-response');
  await once.fetch('/api/payments', { ...body, once: ['pay', cart, 2] }).catch(() => {});
  release = () => {};
  const sending = once.fetch('/api/payments', { ...body, once: ['pay', cart, 1] });
  const List = ({ inFlight }: { readonly inFlight: boolean }) =>
    h(
      'output',
      null,
      usePending(once, { prefix: ['pay', cart], limit: 1, inFlight })
        .map(({ name }) => name.at(-1))
        .join(),
    );
  await act(() => root.render(h(List, { inFlight: false })));
  await settled(() => expect(shown('output')).toBe('2'));
  await act(() => root.render(h(List, { inFlight: true })));
  await settled(() => expect(shown('output')).toBe('1'));
  release();
  await sending;
  await settled(() => expect(shown('output')).toBe('2'));
});

test('a list with a limit shows the first names in order, and another limit reads the list again', async () => {
  const once = client({ limits: { attempts: 1 } });
  function List({ limit }: { readonly limit?: number }) {
    const all = usePending(once, { prefix: ['pay', cart], limit });
    return h('output', null, all.map(({ name }) => name.at(-1)).join());
  }
  for (const part of [3, 1, 2]) {
    server.faults.next('lose-response');
    await once.fetch('/api/payments', { ...body, once: ['pay', cart, part] }).catch(() => {});
  }
  await act(() => root.render(h(List, { limit: 2 })));
  await settled(() => expect(shown('output')).toBe('1,2'));
  await act(() => root.render(h(List, {})));
  await settled(() => expect(shown('output')).toBe('1,2,3'));
});
