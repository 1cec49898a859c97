/** Answers, and the part of `Response` that the client reads. A real `Response` costs more than the rest of an operation together. */

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | null;
  readonly redirected: boolean;
  /** The body streams line by line over this time, ms. */
  readonly streamsMs?: number | undefined;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const made = new Map<string, Answer>();

/** Equal answers are one object, because nobody writes into them. */
export function answer(status: number, body: unknown, more: Readonly<Record<string, string>> = {}, redirected = false): Answer {
  const id = `${status} ${redirected} ${JSON.stringify([body, more])}`;
  const known = made.get(id);
  if (known) return known;
  if (made.size > 10_000) made.clear();
  const text = body === null ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const fresh = { status, headers: new Headers(text === null || typeof body === 'string' ? more : { ...JSON_TYPE, ...more }), body: text, redirected };
  made.set(id, fresh);
  return fresh;
}

export const html = (status: number, redirected = false): Answer =>
  answer(status, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' }, redirected);

/** Problem details with a title, as in draft-ietf-httpapi-idempotency-key-header, section 2.7. */
export const aboutKey = (status: number, title: string, more: Readonly<Record<string, string>> = {}): Answer =>
  answer(status, { title, status }, { ...more, 'content-type': 'application/problem+json' });

const encoder = new TextEncoder();

/** How a body ends: as announced, cut off, or never. */
export type BodyEnd = 'whole' | 'cut' | 'stalled';
/** How many lines a streaming body has. */
const LINES = 10;

export class SimulatedResponse {
  readonly status: number;
  readonly statusText = '';
  readonly headers: Headers;
  readonly type = 'basic';
  readonly redirected: boolean;
  readonly url: string;
  readonly bodyUsed = false;
  readonly #answer: Answer;
  readonly #end: BodyEnd;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(from: Answer, url: string, end: BodyEnd, sleep: (ms: number) => Promise<void>) {
    this.status = from.status;
    this.headers = from.headers;
    this.redirected = from.redirected;
    this.url = url;
    this.#answer = from;
    this.#end = from.body === null ? 'whole' : end;
    this.#sleep = sleep;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get body(): { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }>; cancel(): Promise<void> } } | null {
    const { body, streamsMs } = this.#answer;
    if (body === null) return null;
    const end = this.#end;
    const sleep = this.#sleep;
    let reads = 0;
    return {
      getReader: () => ({
        async read() {
          const first = reads++ === 0;
          if (first) return { done: false, value: encoder.encode(end === 'whole' ? body : body.slice(0, body.length >> 1)) };
          if (streamsMs !== undefined && reads <= LINES) {
            await sleep(streamsMs / LINES);
            return { done: false, value: encoder.encode('{}\n') };
          }
          if (end === 'cut') throw new TypeError('terminated');
          return end === 'whole' ? { done: true } : new Promise(() => {});
        },
        cancel: async () => {},
      }),
    };
  }

  clone(): SimulatedResponse {
    return new SimulatedResponse(this.#answer, this.url, this.#end, this.#sleep);
  }
}
