// @vitest-environment jsdom
/** Goal: a button does what it says, to the operation that it was drawn for. Method: the operation changes between the drawing and the click. */
import { afterEach, expect, test, vi } from 'vitest';
import { devtools } from '../../src/entries/devtools.js';
import { background, createOnce, forget, memoryStore, type Once, type OnceOptions, pending, requests } from '../../src/entries/index.js';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

const lost = async (): Promise<Response> => {
  throw new TypeError('Failed to fetch');
};
const press = (once: Once, how: object = {}) =>
  once.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: { operation: ['pay', 1], ...how } }).catch(() => {});
/** Drops what this page has in memory, as a reload does. */
const reload = () => delete (globalThis as { [of: symbol]: unknown })[Symbol.for('oncefetch')];

const closes: (() => void)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
  vi.useRealTimers();
});
const root = () => document.querySelector('oncefetch-devtools')?.shadowRoot;
const says = (words: string) => vi.waitFor(() => expect(root()?.textContent).toContain(words), { timeout: 5000 });
const button = (label: string) => [...(root()?.querySelectorAll('button') ?? [])].find(({ textContent }) => textContent === label);

let users = 0;
const page = (options: OnceOptions = {}): Once =>
  createOnce({ namespace: `u-${++users}`, store: memoryStore(), fetch: lost, limits: { attempts: 1 }, ...options });
const panel = (once: Once): void => void closes.push(devtools(once, { open: true }));

/** A panel with an unsettled payment. Somebody has clicked "Settle as none", so the panel asks for confirmation. */
async function asked(options: OnceOptions = {}): Promise<Once> {
  const once = page(options);
  panel(once);
  await press(once);
  await expect.poll(() => button('Settle as none')?.disabled).toBe(false);
  button('Settle as none')?.click();
  return once;
}

/** Forgets the operation and starts another one under its name. Returns the key of the new operation. */
async function replaced(once: Once): Promise<string> {
  await forget(once, ['pay', 1], { evenIfUnknown: true });
  await press(once);
  const [newer] = await pending(once);
  return newer?.key as string;
}

test('a button of a row does not change an operation that took the name after the row was drawn', async () => {
  const once = await asked();
  const key = await replaced(once);
  button('Yes, settle as none')?.click();
  await says('Settle as none: this has changed meanwhile. Look again.');
  expect(await pending(once)).toMatchObject([{ key }]);
});

test('a confirmation that was asked for one operation is asked again once the row shows the next operation of that name', async () => {
  const once = await asked();
  await says(`${await replaced(once)}, random`);
  expect(button('Yes, settle as none')).toBeUndefined();
  button('Settle as none')?.click();
  expect(button('Yes, settle as none')).toBeDefined();
});

test('a button does not change an operation of a user who logged in after the row was drawn', async () => {
  let user = 'bert';
  const shop = { namespace: () => user, store: memoryStore() };
  await press(page(shop));
  user = 'ann';
  const once = await asked(shop);
  const yes = button('Yes, settle as none');
  user = 'bert';
  yes?.click();
  await says('Settle as none: this has changed meanwhile. Look again.');
  expect(await pending(once)).toHaveLength(1);
});

test('"Forget", which asks for no confirmation if an operation was not sent, does not forget it if another page has sent it since', async () => {
  const shop = { namespace: 'carl', store: memoryStore() };
  // This page is closed while it waits for the network.
  void press(page({ ...shop, connectivity: { online: () => false, subscribe: () => () => {} } }));
  await expect.poll(async () => (await shop.store.scan({ before: Number.MAX_SAFE_INTEGER, limit: 1 })).records).toHaveLength(1);
  reload();
  panel(page(shop));
  await says('May have had its effectno');
  const forgets = button('Forget');
  reload();
  const other = page(shop);
  await press(other);
  forgets?.click();
  await says('Forget: this has changed meanwhile. Look again.');
  expect(await pending(other)).toHaveLength(1);
});

test('the panel does not promise to send a stored request again in a page without `requests`, nor after the key window', async () => {
  const shop = { namespace: 'dora', store: memoryStore() };
  await press(page({ ...shop, use: [requests()], keep: { request: true } }));
  reload();
  panel(page(shop));
  await says('Nothing is sent, because no request is here or its key is too old');
  closes.pop()?.();
  panel(page({ ...shop, use: [requests()] }));
  await says('Sends its request again');
  vi.useFakeTimers({ now: Date.now() + 25 * HOUR, toFake: ['Date'] });
  await says('The server may have forgotten the key');
  await says('Nothing is sent, because no request is here or its key is too old');
});

test('the panel does not say "Nothing happens by itself" of an operation that may go on in the background', async () => {
  const once = page({ use: [background()] });
  panel(once);
  await press(once, { background: { untilMs: Date.now() + HOUR } });
  await says('A service worker or a background task may go on with it until');
  expect(root()?.textContent).not.toContain('Nothing happens by itself.');
});
