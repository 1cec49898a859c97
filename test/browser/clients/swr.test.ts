/**
 * Goal: a payment through SWR's mutation, set up as in docs/clients.md, charges once if it is pressed twice or its
 * answer is lost. Method: real React and a server with faults.
 */
import { createOnce, outcomeOf } from 'oncefetch';
import { idempotentServer } from 'oncefetch/testing';
import { act, createElement as h } from 'react';
import { createRoot } from 'react-dom/client';
import useSWRMutation from 'swr/mutation';
import { expect, test } from 'vitest';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const server = idempotentServer({
  url: '/api/payments',
  refuse: (order) => ((order as { card?: string }).card === 'declined' ? Response.json({ code: 'card_declined' }, { status: 402 }) : undefined),
});
const once = createOnce({ namespace: 'ann', fetch: server.fetch, retry: { minDelayMs: 1, maxDelayMs: 5 } });

async function pay(url: string, { arg }: { arg: { cart: string; card: string } }): Promise<{ id: string }> {
  const response = await once.fetch(url, { method: 'POST', body: JSON.stringify(arg), once: ['swr', arg.cart] });
  if (!response.ok) throw new Error(`payment: ${response.status}`, { cause: response });
  return response.json();
}

test.each([
  ['good', 1, ['effect-1', 'effect-1']],
  ['declined', 0, ['overtaken', 'none']],
] as const)('two presses with a %s card: at most one effect, and the last press gets the outcome', async (card, effects, told) => {
  server.reset();
  server.faults.next(card === 'good' ? 'lose-response' : 'none');
  const cart = crypto.randomUUID();
  const ends: Promise<unknown>[] = [];
  function Pay() {
    const { trigger } = useSWRMutation('/api/payments', pay);
    const press = (): void =>
      void ends.push(
        trigger({ cart, card }).then(
          // If a later press overtakes a press that is refused, SWR resolves the earlier one with `undefined`.
          (paid: { id: string } | undefined) => paid?.id ?? 'overtaken',
          (error: unknown) => outcomeOf(error)?.effect,
        ),
      );
    return h('button', { type: 'button', onClick: press }, 'Pay');
  }
  const place = document.body.appendChild(document.createElement('div'));
  const root = createRoot(place);
  await act(() => root.render(h(Pay)));
  const button = place.querySelector('button');
  await act(async () => {
    button?.click();
    button?.click();
    await Promise.all(ends);
  });
  expect(await Promise.all(ends)).toEqual(told);
  expect(server.effects).toHaveLength(effects);
  await act(() => root.unmount());
  place.remove();
});
