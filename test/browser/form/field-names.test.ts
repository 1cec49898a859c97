/**
 * Goal: a form takes effect once whatever its fields are called. Method: a form has its fields as properties, before its own ones
 * (`form.elements` is the field of that name), so forms with such fields are refused, corrected and sent.
 */
import { expect, test } from 'vitest';
import { reported, show, withForms } from '../support/form.js';

withForms();

const OWN = ['elements', 'action', 'method', 'enctype', 'target', 'submit', 'requestSubmit', 'id', 'name', 'reset', 'length', 'children', 'value'];
const OF_NODES = ['nodeName', 'attributes', 'ownerDocument', 'isConnected', 'dataset', 'contains', 'closest', 'matches'];

test.each([...OWN, ...OF_NODES])('a field named %s', async (name) => {
  const sent: string[] = [];
  const fetch = (async (_, init) => {
    sent.push(String(init?.body));
    return sent.length > 1 ? Response.json({}, { status: 201 }) : Response.json({ title: 'No.', errors: { [name]: 'Too few.' } }, { status: 402 });
  }) as typeof globalThis.fetch;
  const page = show({ client: { fetch }, fields: `<input name="${name}" value="1"><button>Pay</button>` });
  page.press();
  page.press();
  await page.says('No.');
  expect(page.element.querySelector('[data-error-for]')?.textContent).toBe('Too few.');
  (page.element.querySelector('input') as HTMLInputElement).value = '2';
  page.press();
  await page.says('Done.');
  expect([sent, page.byBrowser, reported]).toEqual([[`${name}=1`, `${name}=2`], [], []]);
  expect(page.element.querySelector('form[aria-busy], [data-error-for]')).toBeNull();
});
