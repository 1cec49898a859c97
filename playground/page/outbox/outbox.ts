/** Pays, and lists all payments: those of this tab and those of tabs that were closed. */
import { set } from 'idb-keyval';
import { type Operation, type OperationState, operation, outcomeOf, pending, watch } from 'oncefetch';
import { breakNetwork, faultOf } from '../network.ts';
import { clientFor, customer, LANE } from './client.ts';

const TEN_MINUTES_MS = 600_000;
const part = <E extends HTMLElement>(id: string): E => document.querySelector(`#${id}`) as E;

if (!(await customer())) await set('outbox-customer', crypto.randomUUID());
const user = await customer();
const once = clientFor(() => user);
await navigator.serviceWorker?.register('./worker.js');

/** Where the id of this tab's cart is stored. The cart stays the same until it is paid, so that two clicks are one payment. */
const CART = 'outbox-cart';
const newCart = (): string => {
  const id = `cart-${Date.now()}`;
  sessionStorage.setItem(CART, id);
  return id;
};

let payment: Operation;
let leave = (): void => {};
function turnTo(cart: string): void {
  leave();
  payment = operation(once, ['pay', cart]);
  leave = payment.subscribe(drawPayment);
  drawPayment();
}

const isPaid = (state: OperationState): boolean => state.phase === 'settled' && state.outcome.effect === 'done';

/** Shows the payment, whether this page, the page before the reload, or the service worker is sending it. */
function drawPayment(): void {
  const { state } = payment;
  part('status').textContent = told(state);
  part('press').textContent = isPaid(state) ? 'Shop again' : 'Pay';
}

function told(state: OperationState): string {
  if (state.phase === 'sending' || state.phase === 'waiting') return 'Paying…';
  if (state.phase === 'unsettled' && state.pending.expiresAt <= Date.now()) return 'We cannot tell whether you have paid. Please write to us.';
  if (state.phase === 'unsettled') return 'Not sure yet whether you have paid. Pay again: you will be charged once.';
  if (state.phase !== 'settled') return 'Ready to pay €42.00.';
  return isPaid(state) ? 'Paid. Thank you!' : 'Not paid. Nothing was charged.';
}

part('pay').addEventListener('submit', (event) => {
  event.preventDefault();
  if (isPaid(payment.state)) turnTo(newCart());
  else void pay();
});

async function pay(): Promise<void> {
  const background = part<HTMLInputElement>('agreed').checked ? { untilMs: Date.now() + TEN_MINUTES_MS } : undefined;
  await payment
    .fetch('/api/payments', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-lane': LANE },
      body: JSON.stringify({ cart: payment.name[1], amount: 4200, card: '4242424242424242' }),
      once: { background },
    })
    .catch((error: unknown) => {
      if (!outcomeOf(error)) throw error; // a bug; the state of the payment shows its outcome
    });
}

/** Lists the payments that this browser has not settled, and those that the shop has charged. */
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

const redraw = (): void => void draw().catch(() => {});
watch(once, redraw);
redraw();
turnTo(sessionStorage.getItem(CART) ?? newCart());
part<HTMLButtonElement>('press').disabled = false;

const faults = part<HTMLSelectElement>('faults');
faults.value = await faultOf(LANE);
faults.addEventListener('change', async () => {
  await breakNetwork(LANE, faults.value);
  if (faults.value === 'none') (await navigator.serviceWorker?.ready)?.active?.postMessage('the network is back');
});
part('network').hidden = false;
