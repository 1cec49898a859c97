/**
 * Goal: in each browser, sending the same form with and without script is one payment. Method: a frame with scripts
 * switched off, in which the browser itself sends the form; the server takes the key from the header or, without one,
 * from the field.
 */
import { afterEach, expect, onTestFinished } from 'vitest';
import { show, withForms } from '../support/form.js';
import { closeRealms, openFrame } from '../support/realms.js';
import { type Shop, sends, test } from '../support/shop.js';

withForms();
const frames: HTMLIFrameElement[] = [];
afterEach(() => {
  for (const frame of frames.splice(0)) frame.remove();
});

const FIELDS = `<input type="hidden" name="idempotency-key" value="k-rendered"><input name="card" value="42 & ä"><textarea name="note">a\nb</textarea>
  <input type="checkbox" name="gift" checked><select name="ship"><option>fast</option></select><button name="do" value="pay">Pay</button>`;

/** The page as the server renders it, in a frame that runs no scripts. */
async function withoutScript(shop: Shop): Promise<{ press(): Promise<void>; ran(): boolean }> {
  const frame = document.createElement('iframe');
  frame.sandbox.add('allow-forms', 'allow-same-origin');
  frame.srcdoc = `<script>document.documentElement.dataset.ran = 'yes'</script>
    <once-form operation="pay 1"><form method="post" action="${shop.url}">${FIELDS}</form></once-form>`;
  const loaded = () => new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  const first = loaded();
  document.body.append(frame);
  frames.push(frame);
  await first;
  return {
    press: async () => {
      const answered = loaded();
      frame.contentDocument?.querySelector('button')?.click();
      await answered;
    },
    ran: () => frame.contentDocument?.documentElement.dataset['ran'] === 'yes',
  };
}

test('without script: two copies of the form are one effect', async ({ shop }) => {
  const [page, other] = [await withoutScript(shop), await withoutScript(shop)];
  expect([page.ran(), other.ran()]).toEqual([false, false]);
  await Promise.all([page.press(), other.press()]);
  expect(sends(await shop.oneEffect())).toHaveLength(2);
});

test('without script, then with script: the same key and the same bytes, one effect', async ({ shop }) => {
  await (await withoutScript(shop)).press();
  const scripted = show({ shop, fields: FIELDS });
  scripted.press();
  await scripted.says('Done.');
  const arrivals = await shop.oneEffect();
  expect(new Set(arrivals.map(({ key }) => key))).toEqual(new Set(['k-rendered']));
  expect(new Set(arrivals.map(({ digest }) => digest)).size).toBe(1);
  expect(scripted.outcomes[0]?.outcome).toMatchObject({ effect: 'done', type: 'replayed' });
});

test('with script, and the answer is lost; then without script, from an old page: one effect', async ({ shop }) => {
  const old = await withoutScript(shop);
  const scripted = show({ shop, client: { limits: { attempts: 1 } }, fields: FIELDS });
  await shop.meets('lose-response');
  scripted.press();
  await scripted.says(/^Not sure yet/);
  await old.press();
  await shop.oneEffect();
  scripted.press();
  await scripted.says('Done.');
  await shop.oneEffect();
});

test('the element does not change the form', async () => {
  const { form, says, press } = show({ fields: FIELDS });
  const [before, controls] = [form.outerHTML, [...form.elements]];
  press();
  await says('Done.');
  expect(form.outerHTML).toBe(before);
  expect([...form.elements]).toEqual(controls);
});

test('in a sandboxed frame, whose page has no origin, the form is left to the browser: code would be refused by CORS', async ({ shop }) => {
  onTestFinished(closeRealms);
  const frame = await openFrame({ sandbox: 'allow-scripts allow-forms' });
  const told = await frame.run(
    async ({ createOnce, defineOnceForm, memoryStore }, url, fields) => {
      const errors: string[] = [];
      addEventListener('error', ({ error }) => errors.push(String(error)));
      defineOnceForm(createOnce({ namespace: 'customer', store: memoryStore() }));
      document.body.innerHTML = `<once-form operation="pay 1"><form method="post" action="${url}" accept-charset="utf-8">${fields}</form></once-form>`;
      let byBrowser = false;
      document.addEventListener('submit', (event) => void (byBrowser = !event.defaultPrevented));
      // The browser sends the form when this function has ended, and loads another page.
      document.querySelector('button')?.click();
      return { byBrowser, errors };
    },
    shop.url,
    FIELDS,
  );
  expect(told.byBrowser).toBe(true);
  // WebKit hides errors in such a page from its listeners.
  expect(told.errors[0]).toMatch(/sandbox|^null$/);
  await shop.arrived(1);
  await shop.oneEffect();
});
