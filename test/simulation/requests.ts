/** What a button sends: to which address, by which method, and which bytes. */
import { hash } from 'node:crypto';
import type { OpFacts } from './facts.js';
import type { ServerOptions } from './families.js';
import type { ClientOptions } from './scenario.js';

/** An address of a server. */
export interface Endpoint {
  readonly url: string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** The headers in which this endpoint looks for the key. If there are none, the client sends no key there. */
  readonly headers: readonly string[];
  /** The server behind this address. @default the world's */
  readonly server?: ServerOptions | undefined;
}

export const endpoint = (url: string, more: Partial<Endpoint> = {}): Endpoint => ({ url, method: 'POST', headers: ['idempotency-key'], ...more });

/** The endpoint of most worlds. */
export const PAY = endpoint('https://shop.example/pay');

/** The same endpoint for a client that knows that the server ignores keys. */
export const KEYLESS = endpoint(PAY.url, { headers: [] });

/** The content that the app gave the client to send. */
export interface Content {
  readonly op: OpFacts;
  readonly payload: number;
  readonly text: string;
  /** A part of the body that differs from call to call, and that the app's `fingerprint` leaves out. */
  readonly stamp?: number | undefined;
}

const decoder = new TextDecoder();
const textOf = (body: unknown): string => (typeof body === 'string' ? body : decoder.decode(body as Uint8Array));
const sha256 = (data: string): string => hash('sha256', data, 'hex');

/** A request without the key that is in its body or its query, if one is, and that key. */
export function withoutKey(url: string, body: unknown): { readonly url: string; readonly body: unknown; readonly key: string | undefined } {
  const [place = '', query] = url.split('?key=');
  const text = textOf(body);
  const [member = '', key = query] = /^\{"idempotency_key":"([^"]+)",/.exec(text) ?? [];
  return { url: place, body: member ? `{${text.slice(member.length)}` : body, key };
}

export class Requests {
  readonly #endpoints: readonly Endpoint[];
  readonly #contents = new Map<string, Content>();
  /** Operations that the client names by their content, by the label of their records. */
  readonly #labels = new Map<string, OpFacts>();

  constructor({ endpoints = [PAY] }: Pick<ClientOptions, 'endpoints'>) {
    this.#endpoints = endpoints;
  }

  /** Another payload may go to another endpoint: another way to pay, or a failover origin. */
  endpoint(payload: number): Endpoint {
    return this.#endpoints[(payload - 1) % this.#endpoints.length] as Endpoint;
  }

  /** The endpoint that a request went to. */
  at(url: string, method: string): Endpoint {
    const found = this.#endpoints.find((one) => one.url === url && one.method === method);
    if (!found) throw new Error(`the client sent a ${method} to ${url}, which nobody asked it to do`);
    return found;
  }

  body(op: OpFacts, payload: number, stamp?: number): string {
    const text = `${op.user} ${op.label}`;
    const body = JSON.stringify({ op: text, payload, stamp });
    if (this.#contents.has(body)) return body;
    this.#contents.set(body, { op, payload, text, stamp });
    if (op.unnamed) this.#labels.set(`~${this.#fingerprint(body, payload)}`, op);
    if (op.byContent) this.#labels.set(JSON.stringify([`sha256:${this.#fingerprint(body, payload)}`]), op);
    return body;
  }

  /** The name under which the client has the operation. With `once: true` it is made of the payload. */
  nameOf(op: OpFacts): readonly (string | number)[] {
    if (!op.byContent) return op.name;
    const payload = op.name[2] as number;
    return [`sha256:${this.#fingerprint(this.body(op, payload), payload)}`];
  }

  #fingerprint(body: string, payload: number): string {
    const { method, url } = this.endpoint(payload);
    return sha256(`${method}\n${url}\n${sha256(body)}`);
  }

  content(body: unknown): Content {
    const text = textOf(body);
    const known = this.#contents.get(text);
    if (!known) throw new Error(`the client sent bytes that nobody gave it: ${text}`);
    return known;
  }

  /** The operation of a record whose label is made of its content. */
  labelled(label: string): OpFacts | undefined {
    return this.#labels.get(label);
  }
}
