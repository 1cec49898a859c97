/** The React hooks on a server: they read no record, never ask for the namespace, and do not fail. */
import { createOnce, pending as listPending, memoryStore, type Once, type OperationName } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { createElement as h } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, test, vi } from 'vitest';

const screen = (once: ReturnType<typeof createOnce>) => () => {
  const payment = useOperation(once, ['pay', 1n]);
  const pending = usePending(once);
  return h('p', null, `${payment.state.phase} ${pending.length}`);
};

test('renders "loading" and no pending operation, also before anybody has logged in', () => {
  const once = createOnce({ store: memoryStore(), namespace: () => '' });
  expect(renderToString(h(screen(once)))).toBe('<p>loading 0</p>');
});

test('shows one request nothing that another request of the same client began, and does not ask for the namespace', async () => {
  const namespace = vi.fn(() => 'ann');
  const once = createOnce({ store: memoryStore(), namespace, limits: { attempts: 1 }, fetch: () => Promise.reject(new TypeError('cut')) });
  await once.fetch('https://shop.example/pay', { method: 'POST', once: ['pay', 1n] }).catch(() => {});
  expect(await listPending(once)).toHaveLength(1);
  namespace.mockClear();
  expect(renderToString(h(screen(once)))).toBe('<p>loading 0</p>');
  expect(namespace).not.toHaveBeenCalled();
});

/** Names that JSON would turn into a different name, and values that are no name. */
const WRONG: [string, unknown, RegExp][] = [
  ['a part that is not known yet', ['pay', undefined], /operation\[1\]/],
  ['null', ['pay', null], /operation\[1\]/],
  ['NaN', ['pay', Number.NaN], /operation\[1\]/],
  ['a date', ['pay', new Date(0)], /operation\[1\]/],
  ['an object', ['pay', { id: 7 }], /operation\[1\]/],
  ['an object that looks like a bigint', ['pay', { n: '7' }], /operation\[1\]/],
  ['a text instead of the list', 'pay', /once: operation/],
];

describe.each(WRONG)('a name with %s is refused, as in any other call', (_, name, says) => {
  test.each<[string, (once: Once) => unknown]>([
    ['useOperation', (once) => useOperation(once, name as OperationName).state.phase],
    ['usePending', (once) => usePending(once, { prefix: name as OperationName }).length],
  ])('by %s', (_, hook) => {
    const once = createOnce({ store: memoryStore() });
    const Screen = () => h('p', null, String(hook(once)));
    expect(() => renderToString(h(Screen))).toThrow(TypeError);
    expect(() => renderToString(h(Screen))).toThrow(says);
  });
});

test.each<[string, unknown, RegExp]>([
  ['a misspelled prefix, which would list everything', { prefx: ['pay'] }, /no option usePending\.prefx/],
  ['null instead of the options', null, /usePending\.options must be an object, got null/],
  ['a number instead of the options', 5, /usePending\.options must be an object, got number/],
  ['a name instead of the options', ['pay'], /no option usePending\.0/],
  ['a prefix that is null, which would list everything', { prefix: null }, /operation/],
  ['a limit of 0, which would leave the list empty', { limit: 0 }, /usePending\.limit/],
  ['a word for inFlight, of which each but the empty one would mean yes', { inFlight: 'no' }, /usePending\.inFlight must be a boolean, got string/],
  ['a limit that is no number', { limit: Number.NaN }, /usePending\.limit/],
  ['a limit that is text', { limit: '20' }, /usePending\.limit/],
])('usePending refuses %s', (_, options, says) => {
  const once = createOnce({ store: memoryStore() });
  const Screen = () => h('p', null, usePending(once, options as never).length);
  expect(() => renderToString(h(Screen))).toThrow(says);
});
