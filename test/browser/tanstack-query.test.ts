/**
 * Goal: with the recipe of `docs/react.md` for TanStack Query, mutations may retry, be clicked many times and run again after a
 * reload, and there is one effect. Method: real TanStack Query in a real browser, the server's count as judge.
 */
import { MutationCache, MutationObserver, onlineManager, QueryClient, QueryClientProvider, useMutation } from '@tanstack/react-query';
import { outcomeOf } from 'oncefetch';
import { act, createElement as h, StrictMode } from 'react';
import { afterEach, expect, test } from 'vitest';
import { body, cart, click, client, onStage, root, server, settled, shown } from './support/react.js';

onStage();
afterEach(() => onlineManager.setOnline(true));

/** Turns the retries of TanStack Query off, because oncefetch retries under one key. */
const queries = (): QueryClient =>
  new QueryClient({ defaultOptions: { mutations: { retry: false, networkMode: 'always' } }, mutationCache: new MutationCache() });

const paying = (once: ReturnType<typeof client>) => ({
  mutationKey: ['pay', cart],
  mutationFn: async (): Promise<number> => {
    const response = await once.fetch('/api/payments', { ...body, once: ['pay', cart] });
    if (outcomeOf(response)?.effect !== 'done') throw new Error(`payment: ${response.status}`, { cause: response });
    return response.status;
  },
});

function Pay({ once }: { once: ReturnType<typeof client> }) {
  const { mutate, status, error } = useMutation(paying(once));
  return h('div', null, h('button', { type: 'button', onClick: () => mutate() }, 'Pay'), h('output', null, status), h('em', null, outcomeOf(error)?.effect));
}

const render = (once: ReturnType<typeof client>) =>
  act(() => root.render(h(StrictMode, null, h(QueryClientProvider, { client: queries() }, h(Pay, { once })))));

test('five clicks and a lost answer: one effect', async () => {
  server.faults.next('lose-response');
  await render(client());
  await act(async () => {
    for (let clicks = 0; clicks < 5; clicks++) document.querySelector('button')?.click();
  });
  await settled(() => expect(shown('output')).toBe('success'));
  expect(server.effects).toHaveLength(1);
  expect(new Set(server.requests.map(({ key }) => key)).size).toBe(1);
});

test('an unknown outcome is an error that carries it; the next mutate sends the same key again', async () => {
  server.faults.next('lose-response');
  await render(client({ limits: { attempts: 1 } }));
  await click();
  await settled(() => expect(shown('em')).toBe('unknown'));
  await click();
  await settled(() => expect(shown('output')).toBe('success'));
  expect(server.effects).toHaveLength(1);
});

test('with retries of TanStack Query and a new QueryClient, as after a reload: one effect', async () => {
  server.faults.next('lose-response', 'lose-response', 'lose-response');
  const once = client({ limits: { attempts: 1 } });
  const options = { ...paying(once), retry: 1, retryDelay: 1 };
  await expect(new MutationObserver(queries(), options).mutate()).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
  await expect(new MutationObserver(queries(), options).mutate()).resolves.toBe(201);
  expect(server.effects).toHaveLength(1);
  expect(new Set(server.requests.map(({ key }) => key)).size).toBe(1);
});

test('without oncefetch, the same retries make two effects', async () => {
  server.faults.next('lose-response');
  const mutationFn = async (): Promise<number> => (await server.fetch('/api/payments', body)).status;
  await new MutationObserver(queries(), { mutationFn, retry: 1, retryDelay: 1 }).mutate();
  expect(server.effects).toHaveLength(2);
});
