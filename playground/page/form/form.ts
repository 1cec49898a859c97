/** Adds what a browser cannot do by itself: after a lost answer, in a closed tab and with many clicks, there is still only one payment. */
import { createOnce, hooks, isOnceError, namespace, operation as operationOf, outcomeOf, requests, settle } from 'oncefetch';

const form = document.querySelector('#pay') as HTMLFormElement;
const status = document.querySelector('#status') as HTMLElement;
const field = (name: string): HTMLInputElement => form.elements.namedItem(name) as HTMLInputElement;

const once = createOnce({
  namespace: () => /(?:^|; )customer=([\w-]+)/.exec(document.cookie)?.[1],
  use: [hooks(), requests()],
  keep: { request: true },
  limits: { attempts: 3, attemptMs: 5000, totalMs: 20_000 },
  retry: { minDelayMs: 300, maxDelayMs: 2000 },
  // The form may already have sent this key without script. The server stores a refusal under its key, so one refusal
  // answers every attempt with that key.
  verdict: ({ status }) => (status === 402 ? 'rejected-for-good' : undefined),
});
const operation = ['pay', field('cart').value] as const;
const payment = operationOf(once, operation);

form.addEventListener('submit', (event) => {
  // Another user has logged in, or nobody is: the browser sends the form, and the server says so.
  if (namespace(once) !== form.dataset['customer']) return;
  event.preventDefault();
  void pay();
});

async function pay(): Promise<void> {
  const answer: unknown = await once
    .fetch(form.action, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)])),
      // The key that the server rendered, so that sending the form without script is the same payment.
      once: { operation, key: () => field('key').value },
    })
    .catch((error: unknown) => error);
  const outcome = outcomeOf(answer);
  if (answer instanceof Response && answer.status === 401) return say(LOG_IN);
  switch (outcome?.effect) {
    case 'done':
      return say(receiptOf(await readJson<Receipt>(answer)), 'paid');
    case 'none':
      // It was refused in another tab, which has the next key.
      if (isOnceError(answer, 'ERR_ONCE_KEY_BURNT')) return say('This page is out of date, and nothing was sent. Load it again.');
      if (!(answer instanceof Response)) return say('Nothing was sent, and nothing was charged. Are you online?');
      // A corrected form needs another key. The server has sent it along with the refusal. If it cannot be read, the next press sends nothing.
      if (answer.status === 402) field('key').value = (await readJson<{ key: string }>(answer)).key ?? field('key').value;
      return say(answer.status === 402 ? 'Your card was declined. Nothing was charged.' : 'Not paid. Nothing was charged.');
    case 'unknown':
      return say(unsure(outcome.reason === 'key-expired'));
    default:
      throw answer;
  }
}

const LOG_IN = 'Please log in again, then pay again: you will be charged once.';

/** `late`: the server may have forgotten the key by now, so that pressing Pay sends nothing any more. */
const unsure = (late: boolean): string =>
  late ? 'We cannot tell whether you have paid. Please write to us.' : 'Not sure yet whether you have paid. Pay again: you will be charged once.';

interface Receipt {
  readonly id: number;
  readonly amount: number;
}
const receiptOf = ({ id, amount }: Partial<Receipt>): string =>
  amount === undefined ? 'Paid. Thank you!' : `Paid €${(amount / 100).toFixed(2)}. Thank you! Receipt no. ${id}.`;

/** The members of the answer; none if it cannot be read, or if there is none. */
async function readJson<T>(answer: unknown): Promise<Partial<T>> {
  return answer instanceof Response ? Object(await answer.json().catch(() => undefined)) : {};
}

function say(words: string, state = 'open'): void {
  if (status.textContent !== words) status.textContent = words; // so that it is read out once
  for (const { dataset } of document.querySelectorAll<HTMLElement>('form[data-state]')) dataset['state'] = state;
  if (state === 'paid' && document.activeElement === document.body) status.focus();
}

/** Whether the last text said that the payment is on its way or unsure. */
let open = false;

/** Shows the state of the payment, whether this page, another tab, or the page before the reload sends it. */
function draw(): void {
  const { state } = payment;
  const busy = state.phase === 'sending' || state.phase === 'waiting';
  form.setAttribute('aria-busy', String(busy));
  if (form.dataset['state'] === 'paid') {
    // The server has rendered the receipt, so the payment is settled here as well.
    if (state.phase === 'unsettled') void settle(once, payment.name, 'done');
  } else if (busy) say('Paying…');
  else if (state.phase === 'unsettled' && status.textContent !== LOG_IN) say(unsure(state.pending.expiresAt <= Date.now()));
  else if (state.phase === 'settled' && state.outcome.effect === 'done') say('Paid. Thank you!', 'paid');
  // The payment was refused in another tab, and that tab shows the refusal.
  else if (state.phase === 'idle' && open) say('');
  open = busy || state.phase === 'unsettled';
}

payment.subscribe(draw);
// From the back-forward cache the page comes as it was left; much may have happened since.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
