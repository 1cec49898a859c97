/** This is all the script that the page needs. */
import { createOnce } from 'oncefetch';
import { defineOnceForm } from 'oncefetch/form';

const once = createOnce({
  namespace: () => /(?:^|; )customer=([\w-]+)/.exec(document.cookie)?.[1],
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
    unknown: (told) =>
      told?.response?.status === 403
        ? 'Somebody else has logged in. Load this page again.'
        : 'Not sure yet whether you have paid. Pay again: you will be charged once.',
    login: 'Please log in again, then pay again: you will be charged once.',
    expired: 'We cannot tell whether you have paid. Please write to us before you pay again.',
  },
});
