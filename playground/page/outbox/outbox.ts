/** Pays, and shows what becomes of all payments, of this tab and of those that were closed. */
import { set } from 'idb-keyval';
import { outcomeOf, pending, watch } from 'oncefetch';
import { clientFor, customer, LANE } from './client.ts';

const TEN_MINUTES_MS = 600_000;
const part = <E extends HTMLElement>(id: string): E => document.querySelector(`#${id}`) as E;

if (!(await customer())) await set('outbox-customer', crypto.randomUUID());
const user = await customer();
const once = clientFor(() => user);
await navigator.serviceWorker?.register('./worker.js');

const say = (text: string): void => {
  part('status').textContent = text;
};

part('pay').addEventListener('submit', (event) => {
  event.preventDefault();
  void pay();
});

async function pay(): Promise<void> {
  const cart = `cart-${Date.now()}`;
  const background = part<HTMLInputElement>('agreed').checked ? { untilMs: Date.now() + TEN_MINUTES_MS } : undefined;
  say('Paying…');
  const answer: unknown = await once
    .fetch('/api/payments', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-lane': LANE },
      body: JSON.stringify({ cart, amount: 4200, card: '4242424242424242' }),
      once: { operation: ['pay', cart], background },
    })
    .catch((error: unknown) => error);
  const said = { done: 'Paid. Thank you!', none: 'Not paid. Nothing was charged.', unknown: 'Not sure yet whether you have paid.' };
  say(said[outcomeOf(answer)?.effect ?? 'unknown']);
}

/** What is open by the browser, and what was charged by the shop. */
async function draw(): Promise<void> {
  const open = await pending(once);
  const { rows } = (await (await fetch('/api/ledger')).json()) as { rows: readonly { lane: string; cart: string; nth: number }[] };
  const charged = rows.filter(({ lane }) => lane === LANE);
  const lines = [
    ...open.map(({ name }) => `${name[1]}: still being confirmed`),
    ...charged.map(({ cart, nth }) => `${cart}: charged${nth > 1 ? `, for the ${nth}th time` : ' once'}`),
  ];
  part('list').replaceChildren(...(lines.length > 0 ? lines : ['none yet']).map((line) => Object.assign(document.createElement('li'), { textContent: line })));
}

part('faults').addEventListener('change', async ({ target }) => {
  const fault = (target as HTMLSelectElement).value;
  await fetch(`/api/faults?lane=${LANE}`, { method: 'DELETE' });
  if (fault !== 'none') await fetch('/api/faults', { method: 'POST', body: JSON.stringify({ lane: LANE, fault }) });
  else (await navigator.serviceWorker?.ready)?.active?.postMessage('the network is back');
});

const redraw = (): void => void draw().catch(() => {});
watch(once, redraw);
redraw();
