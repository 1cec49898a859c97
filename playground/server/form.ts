/**
 * The plain form: a page that works without script, with a key that the server renders into it.
 *
 * This is a playground: anybody may log in as Ann or Bert, without a password, and the cookie with the user's id is the
 * whole session. A shop has an HttpOnly cookie with a session beside it.
 *
 * Each customer (identified by the cookie) has one open cart, and each cart has one key, however often the page is
 * requested: a reload, a second tab and a form from the back-forward cache all send the same key. A refusal uses the
 * key up, and the form that is rendered next has another one.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultLayer } from './faults.ts';
import { type Answer, json, problem, readBody, send } from './http.ts';
import { orderOf } from './ledger.ts';
import type { Payments } from './payments.ts';

const PRICE_CENTS = 2100;
const LANE = 'default';
const USERS: Readonly<Record<string, string>> = { ann: 'Ann', bert: 'Bert' };
const DECLINED = 'Your card was declined. Nothing was charged.';
const ANOTHER = 'Another card was declined before. Nothing was charged. Please pay once more.';
const ANOTHERS = 'This form is another user’s. Nothing was done.';
const LOOK_MS = 50;
const WORKING_MS_MAX = 10_000;

/** Which of the two form pages this is. */
export interface FormPage {
  readonly path: '/form/' | '/once-form/';
  /** The name of the hidden field that has the key, and of the member of a refusal that has the next key. */
  readonly field: string;
}

interface Form {
  readonly cart: string;
  readonly customer: string;
  readonly key: string;
  readonly problem: string;
}

export class PlainForm {
  readonly #db: DatabaseSync;
  readonly #payments: Payments;
  readonly #faults: FaultLayer;
  readonly #folder: string;
  readonly #page: FormPage;

  constructor(db: DatabaseSync, payments: Payments, faults: FaultLayer, folder: string, page: FormPage) {
    this.#db = db;
    this.#payments = payments;
    this.#faults = faults;
    this.#folder = folder;
    this.#page = page;
  }

  /** `GET` of the page */
  async show(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const customer = customerOf(request) ?? randomUUID();
    const form = this.#formOf(customer) ?? this.#newForm(customer);
    // The customer has pressed Pay and is waiting for this page. A payment in progress is almost done, so the page waits
    // for it, too.
    for (let waited = 0; orderOf(this.#db, form.cart).state === 'processing' && waited < WORKING_MS_MAX; waited += LOOK_MS) await sleep(LOOK_MS);
    const { state, charges } = orderOf(this.#db, form.cart);
    const [paid] = charges;
    const says = paid
      ? `Paid ${euros(paid.amount)}. Thank you! Receipt no. ${paid.id}.`
      : state === 'processing'
        ? 'Your bank is working on it. Reload in a moment.'
        : form.problem;
    const values: Readonly<Record<string, string>> = {
      customer,
      user: USERS[customer] ?? 'a guest',
      cart: form.cart,
      key: form.key,
      status: says,
      state: paid ? 'paid' : 'open',
      known: paid ? 'done' : '',
    };
    const page = readFileSync(join(this.#folder, `${this.#page.path}index.html`), 'utf8').replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) =>
      plain(values[name] ?? ''),
    );
    // Not `no-store`: the page may enter the back-forward cache, and what it says still holds when it comes back.
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', 'set-cookie': this.#cookieOf(customer) };
    send(response, { status: 200, headers, body: page });
  }

  /** `POST` to the page. A browser is redirected to the page; the page's script gets JSON. */
  async pay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const fields = new URLSearchParams(body);
    const byScript = request.headers.accept === 'application/json';
    const [cart, rendered] = [fields.get('cart') ?? '', fields.get(this.#page.field) ?? ''];
    const key = (request.headers['idempotency-key'] as string | undefined) ?? rendered;
    const order = { cart, amount: Number(fields.get('bags')) * PRICE_CENTS, card: fields.get('card') };
    const pay = async (): Promise<Answer> => {
      // Before the key is looked at: keys count per account, and this one may have paid in the session of whom the form was rendered for.
      if (this.#ownerOf(cart) !== customerOf(request)) return byScript ? problem(403, { title: ANOTHERS }) : this.#anothers;
      const answer = await this.#payments.pay({ method: 'POST', path: this.#page.path, body: JSON.stringify(order), key, lane: LANE });
      const told = this.#ofCart(answer, cart, key);
      return byScript ? told : this.#back;
    };
    await this.#faults.handle({ request, response, pay }, LANE, cart);
  }

  /**
   * The answer for a key that a refusal has used up, perhaps on another device. If the cart has been paid since, the
   * answer says so. Otherwise it brings the next key, even if the fields have changed: under the old key they would be
   * refused as a mismatch for as long as the server remembers it.
   */
  #ofCart(answer: Answer, cart: string, key: string): Answer {
    if (answer.status === 402) this.#refuse(cart, key);
    const next = this.#keyOf(cart);
    if ((answer.status !== 402 && answer.status !== 422) || next === key) return answer;
    const [paid] = orderOf(this.#db, cart).charges;
    if (paid) return json(200, { id: paid.id, cart, amount: paid.amount, state: 'paid' });
    const why = answer.status === 402 ? { errors: [{ pointer: '#/card', detail: DECLINED }] } : { title: ANOTHER };
    return { ...answer, status: 402, body: JSON.stringify({ ...(JSON.parse(answer.body) as object), status: 402, ...why, [this.#page.field]: next }) };
  }

  /** `POST` to `new` below the page's path: starts another purchase. */
  startAnother(request: IncomingMessage, response: ServerResponse): void {
    const customer = customerOf(request);
    if (customer !== undefined) this.#newForm(customer);
    send(response, this.#back);
  }

  /** `POST` to `user` below the page's path: logs in as this user. A guest's form stays with the guest. */
  async logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const user = new URLSearchParams(await readBody(request)).get('user') ?? '';
    const headers = Object.hasOwn(USERS, user) ? { 'set-cookie': this.#cookieOf(user) } : {};
    send(response, { ...this.#back, headers: { ...this.#back.headers, ...headers } });
  }

  /** The page's script reads it, so it is not HttpOnly. */
  #cookieOf(customer: string): string {
    return `customer=${customer}; SameSite=Lax; Path=${this.#page.path}`;
  }

  /** After a POST the browser is redirected to the page, so that a reload sends nothing. */
  get #back(): Answer {
    return { ...json(303, {}), headers: { location: this.#page.path } };
  }

  #formOf(customer: string): Form | undefined {
    return this.#db.prepare('SELECT * FROM forms WHERE customer = ? ORDER BY rowid DESC LIMIT 1').get(customer) as Form | undefined;
  }

  #newForm(customer: string): Form {
    const form: Form = { cart: `form-${randomUUID().slice(0, 8)}`, customer, key: randomUUID(), problem: '' };
    this.#db.prepare('INSERT INTO forms (cart, customer, key, problem) VALUES (?, ?, ?, ?)').run(form.cart, customer, form.key, '');
    return form;
  }

  /** Marks the key as used up, but only once, however often its refusal is repeated. */
  #refuse(cart: string, key: string): void {
    this.#db.prepare('UPDATE forms SET key = ?, problem = ? WHERE cart = ? AND key = ?').run(randomUUID(), DECLINED, cart, key);
  }

  /** Tells a browser without script that the form is another user's. */
  get #anothers(): Answer {
    const body = `<!doctype html><html lang="en"><title>Not sent</title><p role="status">${ANOTHERS} <a href="${this.#page.path}">Load the page again.</a>`;
    return { status: 403, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
  }

  /** For whom the form was rendered. */
  #ownerOf(cart: string): string | undefined {
    return (this.#db.prepare('SELECT customer FROM forms WHERE cart = ?').get(cart) as { customer: string } | undefined)?.customer;
  }

  /** The key of the next form. */
  #keyOf(cart: string): string {
    return (this.#db.prepare('SELECT key FROM forms WHERE cart = ?').get(cart) as { key: string } | undefined)?.key ?? '';
  }
}

const customerOf = ({ headers }: IncomingMessage): string | undefined => /(?:^|; )customer=([\w-]+)/.exec(headers.cookie ?? '')?.[1];
const euros = (cents: number): string => `€${(cents / 100).toFixed(2)}`;
/** Escapes markup. */
const plain = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
