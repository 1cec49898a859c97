/**
 * Goal: an operation keeps having one effect through everything that React 19 does with a component besides rendering
 * it: actions, server rendering and hydration, and remounts in the middle of a payment. Method: as in `react.test.ts`,
 * judged by the server's count of effects.
 */
import { outcomeOf } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { act, createElement as h, StrictMode, useActionState, useOptimistic } from 'react';
import { hydrateRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { body, cart, click, client, onStage, place, root, server, settled, shown } from './support/react.js';

onStage();

type Client = ReturnType<typeof client>;

function Form({ once }: { once: Client }) {
  const payment = useOperation(once, ['pay', cart]);
  const [says, pay, busy] = useActionState(async (_: string, form: FormData) => {
    const init = { ...body, body: JSON.stringify({ card: form.get('card') }) };
    const answer: unknown = await payment.fetch('/api/payments', init).catch((error: unknown) => error);
    return outcomeOf(answer)?.effect ?? String(answer);
  }, '');
  return h(
    'form',
    { action: pay },
    h('input', { name: 'card', defaultValue: '4242' }),
    h('button', { type: 'submit' }, busy ? 'busy' : 'Pay'),
    h('output', null, payment.state.phase),
    h('em', null, says),
  );
}

test('an action of useActionState submitted three times at once: one effect, and the state of the action is the outcome', async () => {
  await act(() => root.render(h(StrictMode, null, h(Form, { once: client() }))));
  const form = place.querySelector('form') as HTMLFormElement;
  await act(async () => {
    for (let times = 0; times < 3; times++) form.requestSubmit();
  });
  await settled(() => expect(shown('button')).toBe('Pay'));
  expect(shown('em')).toBe('done');
  expect(shown('output')).toBe('settled');
  expect(server.effects).toHaveLength(1);
});

test('an action with an unknown outcome, then the same action again: one effect, one key', async () => {
  await act(() => root.render(h(StrictMode, null, h(Form, { once: client({ limits: { attempts: 1 } }) }))));
  server.faults.next('lose-response');
  const form = place.querySelector('form') as HTMLFormElement;
  await act(() => form.requestSubmit());
  await settled(() => expect(shown('em')).toBe('unknown'));
  expect(shown('output')).toBe('unsettled');
  await act(() => form.requestSubmit());
  await settled(() => expect(shown('em')).toBe('done'));
  expect(server.effects).toHaveLength(1);
  expect(new Set(server.requests.map(({ key }) => key)).size).toBe(1);
});

test('useOptimistic goes back to the last certain count when the outcome is unknown', async () => {
  const once = client({ limits: { attempts: 1 } });
  function Vote() {
    const [votes, act_, busy] = useActionState(async (count: number) => {
      const answer: unknown = await once.fetch('/api/payments', { ...body, once: ['vote', cart] }).catch((error: unknown) => error);
      return outcomeOf(answer)?.effect === 'done' ? count + 1 : count;
    }, 0);
    const [seen, add] = useOptimistic(votes, (count: number, more: number) => count + more);
    const vote = (): void => {
      add(1);
      act_();
    };
    return h('form', { action: vote }, h('button', { type: 'submit' }, busy ? 'busy' : 'Vote'), h('b', null, seen));
  }
  await act(() => root.render(h(Vote)));
  server.faults.next('lose-response');
  // Waits for the end of the action, because the optimistic count appears before that. Otherwise the request would
  // continue into the next test.
  const ended = async (requests: number, votes: string): Promise<void> => {
    await settled(() => expect([server.requests.length, shown('button')]).toEqual([requests, 'Vote']));
    expect(shown('b')).toBe(votes);
  };
  await click();
  await ended(1, '0');
  await click();
  await ended(2, '1');
  expect(server.effects).toHaveLength(1);
});

function Screen({ once }: { once: Client }) {
  const payment = useOperation(once, ['pay', cart]);
  const open = usePending(once, { prefix: ['pay', cart] });
  const pay = (): void => void payment.fetch('/api/payments', body).catch(() => {});
  return h('main', null, h('button', { type: 'button', onClick: pay }, 'Pay'), h('output', null, payment.state.phase), h('b', null, open.length));
}

test('rendered on a server, a component shows "loading"; it hydrates without an error and then shows the stored state', async () => {
  const before = client({ limits: { attempts: 1 } });
  server.faults.next('lose-response');
  const lost: unknown = await before.fetch('/api/payments', { ...body, once: ['pay', cart] }).catch((error: unknown) => error);
  expect(outcomeOf(lost), JSON.stringify(server.requests)).toMatchObject({ effect: 'unknown', attempts: 1 });
  const once = client();
  const html = renderToString(h(StrictMode, null, h(Screen, { once })));
  expect(html).toContain('<output>loading</output><b>0</b>');

  const complaints: unknown[] = [];
  const consoleError = vi.spyOn(console, 'error').mockImplementation((...said) => void complaints.push(said));
  const rendered = document.createElement('div');
  rendered.innerHTML = html;
  document.body.append(rendered);
  const node = rendered.querySelector('button');
  let hydrated: Root | undefined;
  await act(() => {
    hydrated = hydrateRoot(rendered, h(StrictMode, null, h(Screen, { once })), { onRecoverableError: (error) => complaints.push(error) });
  });
  await settled(() => expect(rendered.querySelector('output')?.textContent).toBe('unsettled'));
  await settled(() => expect(rendered.querySelector('b')?.textContent).toBe('1'));
  expect(complaints).toEqual([]);
  consoleError.mockRestore();
  expect(rendered.querySelector('button'), 'the server’s element is kept').toBe(node);
  await act(async () => node?.click());
  await settled(() => expect(rendered.querySelector('output')?.textContent).toBe('settled'));
  expect(server.effects).toHaveLength(1);
  expect(new Set(server.requests.map(({ key }) => key)).size).toBe(1);
  await act(() => hydrated?.unmount());
  rendered.remove();
});

test('a component that unmounts in the middle of a payment leaves it running, and the next mount follows it', async () => {
  const once = client();
  server.faults.next({ name: 'delay', ms: 300 });
  await act(() => root.render(h(Screen, { once })));
  await click();
  await settled(() => expect(shown('output')).toBe('sending'));
  await act(() => root.render(null));
  await act(() => root.render(h(StrictMode, null, h(Screen, { once }))));
  await settled(() => expect(shown('output')).toBe('sending'));
  await click();
  await settled(() => expect(shown('output')).toBe('settled'));
  expect(server.effects).toHaveLength(1);
  expect(server.requests).toHaveLength(1);
});

test('two components of one name show one state', async () => {
  const once = client();
  await act(() => root.render(h('div', null, h(Screen, { once }), h(Screen, { once }))));
  await click();
  await settled(() => expect([...place.querySelectorAll('output')].map(({ textContent }) => textContent)).toEqual(['settled', 'settled']));
  expect(server.effects).toHaveLength(1);
});

test.each([
  ['text', (n: bigint) => String(n)],
  ['an object', (n: bigint) => ({ $bigint: String(n) })],
])('where BigInt has a toJSON that gives %s, as many apps have, hooks and calls mean the same operation by a bigint: one effect', async (_, toJSON) => {
  const once = client({ limits: { attempts: 1 } });
  const name = ['pay', BigInt(cart.replace(/\D/g, ''))] as const;
  const Screen = () => {
    const payment = useOperation(once, name);
    return h(
      'button',
      { type: 'button', onClick: () => void payment.fetch('/api/payments', body) },
      `${payment.state.phase} ${usePending(once, { prefix: name }).length}`,
    );
  };
  Object.assign(BigInt.prototype, {
    toJSON: function (this: bigint) {
      return toJSON(this);
    },
  });
  try {
    server.faults.next('lose-response');
    await once.fetch('/api/payments', { ...body, once: name }).catch(() => {});
    await act(() => root.render(h(Screen)));
    await settled(() => expect(shown('button')).toBe('unsettled 1'));
    await click();
    await settled(() => expect(shown('button')).toBe('settled 0'));
    expect(server.effects).toHaveLength(1);
  } finally {
    Reflect.deleteProperty(BigInt.prototype, 'toJSON');
  }
});
