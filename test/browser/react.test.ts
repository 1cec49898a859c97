/**
 * Goal: the React hooks work in a real browser, on React 19 with StrictMode, IndexedDB and a server with faults.
 * Method: small components without JSX, real clicks, and the server's count of effects as judge.
 */
import { isOnceError, type Once, type OperationState, settle } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { act, createElement as h, StrictMode, Suspense, use, useEffect, useState } from 'react';
import { expect, test } from 'vitest';
import { body, cart, client, onStage, place, root, server, settled, shown } from './support/react.js';

onStage();

function Pay({ once, name, seen }: { once: Once; name: string; seen?: OperationState[] }) {
  const payment = useOperation(once, ['pay', name]);
  const [problem, tell] = useState('');
  seen?.push(payment.state);
  const pay = (): void => void payment.fetch('/api/payments', body).catch((error: unknown) => tell(isOnceError(error) ? error.code : String(error)));
  return h('div', null, h('button', { type: 'button', onClick: pay }, 'Pay'), h('output', null, payment.state.phase), h('em', null, problem));
}

test('a click goes through sending to settled, and a mashed button charges once', async () => {
  const seen: OperationState[] = [];
  await act(() => root.render(h(StrictMode, null, h(Pay, { once: client(), name: cart, seen }))));
  await settled(() => expect(shown('output')).toBe('idle'));
  const button = place.querySelector('button') as HTMLButtonElement;
  await act(() => {
    for (let i = 0; i < 5; i++) button.click();
  });
  await settled(() => expect(shown('output')).toBe('settled'));
  expect(server.effects).toHaveLength(1);
  expect(new Set(seen.map(({ phase }) => phase))).toEqual(new Set(['loading', 'idle', 'sending', 'settled']));
});

test('an effect that StrictMode runs twice charges once', async () => {
  const once = client();
  function OnMount() {
    const payment = useOperation(once, ['pay', cart]);
    const { fetch } = payment;
    useEffect(() => {
      const stop = new AbortController();
      fetch('/api/payments', { ...body, signal: stop.signal }).catch(() => {});
      return () => stop.abort();
    }, [fetch]);
    return h('output', null, payment.state.phase);
  }
  await act(() => root.render(h(StrictMode, null, h(OnMount))));
  // The call of the first mount ends unsent. The call of the second mount charges.
  await settled(() => expect(server.effects).toHaveLength(1));
  await settled(() => expect(shown('output')).toBe('settled'));
  expect(server.effects).toHaveLength(1);
});

test('a new mount finds the unknown outcome of the old mount, and sends the same key again', async () => {
  const once = client({ limits: { attempts: 1 } });
  await act(() => root.render(h(Pay, { once, name: cart })));
  server.faults.next('lose-response');
  await act(() => (place.querySelector('button') as HTMLButtonElement).click());
  await settled(() => expect(shown('em')).toBe('ERR_ONCE_UNKNOWN'));
  await act(() => root.render(null));
  // Another client stands for another page load: it shares only the store.
  await act(() => root.render(h(Pay, { once: client(), name: cart })));
  await settled(() => expect(shown('output')).toBe('unsettled'));
  await act(() => (place.querySelector('button') as HTMLButtonElement).click());
  await settled(() => expect(shown('output')).toBe('settled'));
  expect(server.effects).toHaveLength(1);
  expect(new Set(server.requests.map(({ key }) => key)).size).toBe(1);
});

test('another name on the same component is another operation', async () => {
  const once = client();
  await act(() => root.render(h(Pay, { once, name: cart })));
  await act(() => (place.querySelector('button') as HTMLButtonElement).click());
  await settled(() => expect(shown('output')).toBe('settled'));
  await act(() => root.render(h(Pay, { once, name: `${cart}-other` })));
  await settled(() => expect(shown('output')).toBe('idle'));
});

test('the banner appears with an unknown outcome, shows its meta, and disappears when the operation settles', async () => {
  const once = client({ limits: { attempts: 1 } });
  function Banner() {
    const pending = usePending(once, { prefix: ['pay', cart] });
    return h('p', null, pending.map(({ meta }) => (meta as { total: string }).total).join());
  }
  await act(() => root.render(h(StrictMode, null, h(Banner))));
  server.faults.next('lose-response');
  await act(async () => {
    await once.fetch('/api/payments', { ...body, once: { operation: ['pay', cart, 1], meta: { total: '€42.00' } } }).catch(() => {});
  });
  await settled(() => expect(shown('p')).toBe('€42.00'));
  await act(() => settle(once, ['pay', cart, 1], 'done'));
  await act(async () => void document.dispatchEvent(new Event('visibilitychange')));
  await settled(() => expect(shown('p')).toBe(''));
});

test('a list with inFlight keeps the row of an operation while a call sends it again', async () => {
  const once = client({ limits: { attempts: 1 } });
  function List() {
    const all = usePending(once, { prefix: ['pay', cart], inFlight: true });
    return h('p', null, all.map(({ inFlight }) => (inFlight ? 'busy' : 'open')).join());
  }
  await act(() => root.render(h(List)));
  const pay = () => once.fetch('/api/payments', { ...body, once: ['pay', cart, 1] }).catch(() => {});
  server.faults.next('lose-response');
  await act(pay);
  await settled(() => expect(shown('p')).toBe('open'));
  server.faults.next({ name: 'delay', ms: 1000 });
  const paying = pay();
  await settled(() => expect(shown('p')).toBe('busy'));
  await act(() => paying);
  await settled(() => expect(shown('p')).toBe(''));
  expect(server.effects).toHaveLength(1);
});

test('a promise that a component reads under Suspense, after a form action, charges once', async () => {
  const once = client();
  const receipts = new Map<string, Promise<number>>();
  const receipt = (): Promise<number> => {
    const known = receipts.get(cart);
    const asked = known ?? once.fetch('/api/payments', { ...body, once: ['pay', cart] }).then(({ status }) => status);
    receipts.set(cart, asked);
    return asked;
  };
  const Receipt = () => h('b', null, use(receipt()));
  function Form() {
    const [sent, send] = useState(false);
    return h('form', { action: () => send(true) }, h('button', { type: 'submit' }, 'Pay'), sent && h(Suspense, { fallback: 'wait' }, h(Receipt)));
  }
  await act(() => root.render(h(StrictMode, null, h(Form))));
  await act(async () => {
    (place.querySelector('form') as HTMLFormElement).requestSubmit();
  });
  await settled(() => expect(shown('b')).toBe('201'));
  expect(server.effects).toHaveLength(1);
});
