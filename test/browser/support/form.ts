/** A once-form in the page, for tests in browsers: its markup, its client, and a server for it. */
import { type Once, type OnceOptions, createOnce as plain } from 'oncefetch';
import { defineOnceForm, type FormOptions, type FormOutcome, type OnceFormElement } from 'oncefetch/form';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { createOnce, SOON } from '../realm/lib.js';
import { Shop } from './shop.js';

let tags = 0;
export let host: HTMLElement;
/** The errors that were reported, as text. */
export let reported: string[] = [];
const hear = (event: ErrorEvent): void => {
  event.preventDefault();
  event.stopImmediatePropagation();
  reported.push(String(event.error));
};

/** Call it once in a file. */
export function withForms(): void {
  beforeEach(() => {
    reported = [];
    addEventListener('error', hear, true);
    host = document.createElement('div');
    document.body.append(host);
  });
  afterEach(() => {
    removeEventListener('error', hear, true);
    host.remove();
    // The stored keys of one test must not reach the next one.
    localStorage.removeItem('once-form/refused-keys');
  });
}

export interface OnPage {
  readonly shop: Shop;
  readonly once: Once;
  readonly element: OnceFormElement;
  readonly form: HTMLFormElement;
  readonly outcomes: FormOutcome[];
  /** The submits that the element left to the browser. The page cancels them. */
  readonly byBrowser: SubmitEvent[];
  press(selector?: string): void;
  says(words: string | RegExp): Promise<void>;
  status(): string;
}

export interface Asked {
  readonly shop?: Shop;
  readonly client?: OnceOptions;
  readonly options?: FormOptions;
  /** Attributes of the element. */
  readonly element?: string;
  /** Attributes of the form; `action` is the shop's. */
  readonly form?: string;
  readonly fields?: string;
  readonly once?: Once;
}

export const client = (shop: Shop, options: OnceOptions = {}): Once => (options.fetch ? plain : createOnce)({ ...SOON, namespace: shop.namespace, ...options });

/** Each test has its own tag, because a custom element cannot be defined again. */
export function define(once: Once, options: FormOptions = {}): string {
  const tag = `once-form-${++tags}`;
  defineOnceForm(once, { tag, ...options });
  return tag;
}

/** What the element shows: the page's own elements, or those that were made, in its shadow root. */
const shown = <E extends HTMLElement>(element: Element, own: string, part: string): E | null =>
  element.querySelector<E>(own) ?? element.shadowRoot?.querySelector<E>(`[part=${part}]`) ?? null;
export const lineOf = (element: Element): HTMLElement | null => shown(element, '[role=status]', 'status');
export const checkOf = (element: Element): HTMLButtonElement | null => shown(element, '[data-once-check]', 'check');

export function show({
  shop = new Shop(),
  client: own,
  options,
  element = 'operation="pay 1"',
  form = 'method="post"',
  fields = '<button>Pay</button>',
  once = client(shop, own),
}: Asked = {}): OnPage {
  const tag = define(once, options);
  const outcomes: FormOutcome[] = [];
  const byBrowser: SubmitEvent[] = [];
  const place = document.createElement('div');
  // Cancels each submit that the element left to the browser, so that the page of the tests stays.
  place.addEventListener('submit', (event) => {
    if (event.defaultPrevented) return;
    byBrowser.push(event);
    event.preventDefault();
  });
  place.addEventListener('once-outcome', (event) => outcomes.push((event as CustomEvent<FormOutcome>).detail));
  place.innerHTML = `<${tag} ${element}><form action="${shop.url}" ${form}>${fields}</form></${tag}>`;
  host.append(place);
  const made = place.querySelector(tag) as OnceFormElement;
  const status = (): string => lineOf(made)?.textContent ?? '';
  return {
    shop,
    once,
    element: made,
    form: made.querySelector('form') as HTMLFormElement,
    outcomes,
    byBrowser,
    press: (selector = 'button') => (made.querySelector(selector) as HTMLElement).click(),
    says: (words) => vi.waitFor(() => (typeof words === 'string' ? expect(status()).toBe(words) : expect(status()).toMatch(words)), { timeout: 20_000 }),
    status,
  };
}

/** Presses the button, while the shop holds the answer. */
export async function pressAndHold(page: OnPage): Promise<void> {
  await page.shop.hold();
  page.press();
  await page.shop.arrived(1);
}

/** A shop with scripted answers, which logs bodies and keys. */
export const answers = (...all: Response[]) => {
  const bodies: (BodyInit | null | undefined)[] = [];
  const keys: (string | null)[] = [];
  const fetch = vi.fn(async (_: unknown, init?: RequestInit) => {
    bodies.push(init?.body);
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    return (all.length > 1 ? all.shift() : all[0]?.clone()) as Response;
  });
  return { fetch: fetch as unknown as typeof globalThis.fetch, bodies, keys };
};

export const paid = (): Response => Response.json({ id: 1 }, { status: 201 });
