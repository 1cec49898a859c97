/**
 * Goal: a component shows the right state when something changes in the middle of a payment: its name, its client, its user, another
 * component of the same name, or a way of React to hide and show it. Method: as in `react.test.ts`, with a log of every render.
 */
import { createOnce, memoryStore, type Once, settle } from 'oncefetch';
import { useNamespace, useOperation, usePending } from 'oncefetch/react';
import { Activity, type ActivityProps, act, createElement as h, StrictMode, Suspense, startTransition, use, useState } from 'react';
import { beforeEach, expect, test } from 'vitest';
import { body, cart, client, onStage, root, server, settled, shown } from './support/react.js';

onStage();

const pause = (ms: number): Promise<void> => act(() => new Promise<void>((go) => setTimeout(go, ms)));
let frames: string[] = [];
let pays: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  frames = [];
  pays = [];
});

function Screen({ once, name, id = '' }: { once: Once; name: string; id?: string }) {
  const p = useOperation(once, ['pay', name]);
  const open = usePending(once, { prefix: ['pay', name], inFlight: true });
  pays.push(() => p.fetch('/api/payments', body).catch((e) => e));
  frames.push(`${id}${name.slice(-1)}:${p.state.phase}`);
  return h('output', { id: `o${id}` }, `${p.state.phase}/${open.length}`);
}

test('another name in the middle of a call shows its own operation, and the first name shows its end when it is back', async () => {
  const once = client({ limits: { attempts: 1 } });
  const at = (n: string) => root.render(h(StrictMode, null, h(Screen, { once, name: cart + n })));
  await act(() => at('a'));
  server.faults.next({ name: 'delay', ms: 300 });
  let paying: Promise<unknown> | undefined;
  await act(async () => void (paying = pays.at(-1)?.()));
  await settled(() => expect(shown('output')).toBe('sending/1'));
  frames = [];
  await act(() => at('b'));
  await settled(() => expect(shown('output')).toBe('idle/0'));
  expect(frames.filter((f) => f.startsWith('b') && !/loading|idle/.test(f))).toEqual([]);
  await act(() => paying);
  await pause(50);
  expect(shown('output')).toBe('idle/0');
  frames = [];
  await act(() => at('a'));
  await settled(() => expect(shown('output')).toBe('settled/0'));
  expect(frames.filter((f) => /idle|sending/.test(f))).toEqual([]);
});

test('another client in the middle of a call shows what it knows, and the first client shows its end when it is back', async () => {
  const [one, two] = [client({ store: memoryStore() }), client({ namespace: 'bert' })];
  const at = (once: Once) => root.render(h(StrictMode, null, h(Screen, { once, name: cart })));
  await act(() => at(one));
  server.faults.next({ name: 'delay', ms: 300 });
  let paying: Promise<unknown> | undefined;
  await act(async () => void (paying = pays.at(-1)?.()));
  await settled(() => expect(shown('output')).toBe('sending/1'));
  await act(() => at(two));
  await settled(() => expect(shown('output')).toBe('idle/0'));
  await act(() => paying);
  await pause(50);
  expect(shown('output')).toBe('idle/0');
  await act(() => at(one));
  await settled(() => expect(shown('output')).toBe('settled/0'));
  expect(server.effects).toHaveLength(1);
});

test('a component that makes a new client at each render shows an unsettled operation, and stops rendering', async () => {
  const Careless = () => Screen({ once: client({ limits: { attempts: 1 } }), name: cart });
  await act(() => root.render(h(Careless)));
  server.faults.next('lose-response');
  await act(() => pays.at(-1)?.());
  await settled(() => expect(shown('output')).toBe('unsettled/1'));
  await pause(200);
  frames = [];
  await pause(200);
  expect([shown('output'), frames]).toEqual(['unsettled/1', []]);
});

test('two components of one name pay once, and both show the end, also the component that was unmounted meanwhile', async () => {
  const once = client({ limits: { attempts: 1 } });
  const both = (second: boolean) =>
    root.render(h(StrictMode, null, h(Screen, { once, name: cart, id: '1' }), second && h(Screen, { once, name: cart, id: '2' })));
  await act(() => both(true));
  server.faults.next('lose-response', { name: 'delay', ms: 10 });
  let all: Promise<unknown> | undefined;
  await act(async () => {
    all = Promise.all([pays.at(-1)?.(), pays.at(-2)?.()]);
    both(false);
  });
  await act(() => all);
  await settled(() => expect(shown('#o1')).toBe('unsettled/1'));
  await act(() => both(true));
  await settled(() => expect(shown('#o2')).toBe('unsettled/1'));
  await act(() => settle(once, ['pay', cart], 'done'));
  await settled(() => expect([shown('#o1'), shown('#o2')]).toEqual(['settled/0', 'settled/0']));
  expect(server.effects).toHaveLength(1);
});

test('a component shows that its operation was settled while it was hidden, once it is visible again', async () => {
  const once = client({ limits: { attempts: 1 } });
  const at = (mode: 'visible' | 'hidden') => root.render(h(StrictMode, null, h(Activity, { mode } as ActivityProps, h(Screen, { once, name: cart }))));
  await act(() => at('visible'));
  server.faults.next('lose-response');
  await act(() => pays.at(-1)?.());
  await settled(() => expect(shown('output')).toBe('unsettled/1'));
  await act(() => at('hidden'));
  const other = createOnce({ namespace: 'ann', fetch: server.fetch });
  await act(() => settle(other, ['pay', cart], 'done'));
  await pause(50);
  await act(() => at('visible'));
  await settled(() => expect(shown('output')).toBe('settled/0'));
});

test('the first call of a user who logs in without a refresh updates every screen', async () => {
  let user: string | undefined;
  const once = client({ namespace: (() => user) as () => string });
  const Who = () => h('b', null, String(useNamespace(once)));
  const draw = () => root.render(h(StrictMode, null, h(Who), h(Screen, { once, name: cart })));
  await act(draw);
  await pause(30);
  expect([shown('b'), shown('output')]).toEqual(['undefined', 'loading/0']);
  user = 'ann';
  await act(() => pays.at(-1)?.());
  await settled(() => expect([shown('b'), shown('output')]).toEqual(['ann', 'settled/0']));
});

test('a transition that suspends in the middle of a call loses nothing', async () => {
  const once = client({ limits: { attempts: 1 } });
  let go: (n: number) => void = () => {};
  const slow = new Promise<string>((r) => setTimeout(() => r('x'), 200));
  const Slow = () => h('i', null, use(slow));
  function App() {
    const [page, set] = useState(0);
    go = (n) => startTransition(() => set(n));
    return h(Suspense, { fallback: 'wait' }, page ? h(Slow) : null, h(Screen, { once, name: cart + (page ? 'b' : 'a') }));
  }
  await act(() => root.render(h(StrictMode, null, h(App))));
  server.faults.next('lose-response');
  const first = pays.at(-1);
  await act(async () => {
    go(1);
    void first?.();
  });
  await settled(() => expect(shown('output')).toBe('idle/0'));
  await act(() => void go(0));
  await settled(() => expect(shown('output')).toBe('unsettled/1'));
  expect(server.effects).toHaveLength(1);
});
