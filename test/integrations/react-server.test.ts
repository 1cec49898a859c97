/** The React hooks on a server: nothing is stored there, so nothing is known, nobody is asked for, and nothing fails. */
import { createOnce, pending as listPending, memoryStore } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { createElement as h } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test, vi } from 'vitest';

const screen = (once: ReturnType<typeof createOnce>) => () => {
  const payment = useOperation(once, ['pay', 1n]);
  const pending = usePending(once);
  return h('p', null, `${payment.state.phase} ${pending.length}`);
};

test('renders "loading" and no pending operation, even before anybody has logged in', () => {
  const once = createOnce({ store: memoryStore(), namespace: () => '' });
  expect(renderToString(h(screen(once)))).toBe('<p>loading 0</p>');
});

test('one client at module level shows no request what another one began, and does not ask who is here', async () => {
  const namespace = vi.fn(() => 'ann');
  const once = createOnce({ store: memoryStore(), namespace, limits: { attempts: 1 }, fetch: () => Promise.reject(new TypeError('cut')) });
  await once.fetch('https://shop.example/pay', { method: 'POST', once: ['pay', 1n] }).catch(() => {});
  expect(await listPending(once)).toHaveLength(1);
  namespace.mockClear();
  expect(renderToString(h(screen(once)))).toBe('<p>loading 0</p>');
  expect(namespace).not.toHaveBeenCalled();
});

test.each([undefined, null, Number.NaN])('a name with a part that is not known yet, such as %s, is refused as by any other call', (part) => {
  const once = createOnce({ store: memoryStore() });
  const Screen = () => h('p', null, useOperation(once, ['pay', part as never]).state.phase);
  expect(() => renderToString(h(Screen))).toThrow(/operation\[1\]/);
});
