/** This is all the script that the page needs. */
import { createOnce } from 'oncefetch';
import { defineOnceForm } from 'oncefetch/form';

const once = createOnce({
  namespace: document.body.dataset['customer'] as string,
  limits: { attempts: 3, attemptMs: 5000, totalMs: 20_000 },
  retry: { minDelayMs: 300, maxDelayMs: 2000 },
});

defineOnceForm(once, {
  says: {
    sending: 'Paying…',
    done: (told) => {
      const { id, amount } = (told?.answer ?? {}) as { readonly id?: number; readonly amount?: number };
      return amount === undefined ? 'Paid. Thank you!' : `Paid €${(amount / 100).toFixed(2)}. Thank you! Receipt no. ${id}.`;
    },
    already: 'Paid before. It was not sent again.',
    unknown: 'Not sure yet whether you have paid. Pay again: you will be charged once.',
    login: 'Please log in again, then pay again: you will be charged once.',
    expired: 'We cannot tell whether you have paid. Please write to us before you pay again.',
  },
});
