/** The React hooks on a server: nothing is stored there, so nothing is known, and nothing fails. */
import { createOnce, memoryStore } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { createElement as h } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';

const once = createOnce({ store: memoryStore(), namespace: () => '' });

test('renders "loading" and no pending operation, even before anybody has logged in', () => {
  function Screen() {
    const payment = useOperation(once, ['pay', 1n]);
    const pending = usePending(once);
    return h('p', null, `${payment.state.phase} ${pending.length}`);
  }
  expect(renderToString(h(Screen))).toBe('<p>loading 0</p>');
});
