/**
 * A server that honours idempotency keys, as a model: it has no transport, and its effect log is the truth that a test
 * or a simulation compares with what a client believes.
 */
import type { Clock } from '../ports.js';

export interface ModelRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ModelAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body, where it may be no text. */
  readonly bytes?: Uint8Array<ArrayBuffer> | undefined;
}

/** One thing that really happened. */
export interface Effect {
  readonly key: string | undefined;
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
  readonly at: number;
}

export interface ModelServerOptions {
  readonly clock: Clock;
  readonly keyHeader: string;
  readonly replayHeader: string;
  /** How long an answered key is remembered, ms. Then it executes anew, as on nearly every server. */
  readonly window: number;
  /** What `409` announces in `Retry-After`, seconds. */
  readonly retryAfter: number;
  /** Time between taking the key and the effect, ms. A second copy that arrives meanwhile gets the 409. */
  readonly workMs: number;
  readonly requireKey: boolean;
  /** Whether a refusal is stored under its key, and replayed, or gives the key free again. */
  readonly rememberRefusals: boolean;
  /** An answer here means: refused, no effect. */
  readonly refuse: (body: unknown, key: string | undefined) => Promise<ModelAnswer | undefined>;
  /** Its answer is the first one and every replay. If it throws, nothing happened: 500, and the key is free again. */
  readonly effect: (body: unknown, key: string | undefined, count: number) => Promise<ModelAnswer>;
}

/** What {@link ModelServer.handle} rejects with when the server was killed under the request: no answer, no effect. */
export class ServerKilled extends Error {
  override readonly name = 'ServerKilled';
}

interface KeyRecord {
  readonly fingerprint: string;
  readonly at: number;
  /** Which life of the server took the key. Work of an earlier life is dead, hence the next copy takes it over. */
  readonly boot: number;
  answer: ModelAnswer | undefined;
}

export class ModelServer {
  readonly effects: Effect[] = [];
  readonly #options: ModelServerOptions;
  readonly #records = new Map<string, KeyRecord>();
  #boot = 1;

  constructor(options: ModelServerOptions) {
    this.#options = options;
  }

  /** Answers one copy of a request as it came off the wire. `payload`: what tells its body from others, where the text of it does not. */
  async handle(request: ModelRequest, payload = request.body): Promise<ModelAnswer> {
    const key = request.headers[this.#options.keyHeader.toLowerCase()];
    if (key === undefined || key === '') {
      return this.#options.requireKey ? keyProblem(400, 'Idempotency-Key is missing') : this.#execute(request, undefined, undefined);
    }
    // The body as it came, because that is what most servers compare: the same JSON in another order is another payload.
    const fingerprint = `${request.method} ${request.url}\n${payload}`;
    const found = this.#find(key);
    if (found && found.fingerprint !== fingerprint) return keyProblem(422, 'Idempotency-Key is already used');
    if (found?.answer) return { ...found.answer, headers: { ...found.answer.headers, [this.#options.replayHeader.toLowerCase()]: 'true' } };
    if (found && found.boot === this.#boot) return outstanding(this.#options.retryAfter);
    // The key is taken before anything else happens, and without a pause since the look: this is the unique constraint.
    const record: KeyRecord = { fingerprint, at: this.#options.clock.now(), boot: this.#boot, answer: undefined };
    this.#records.set(key, record);
    return this.#execute(request, key, record);
  }

  effectsOf(key: string): readonly Effect[] {
    return this.effects.filter((effect) => effect.key === key);
  }

  /** Killed and started again: work without its effect is lost, keys and answers are kept, the next copy takes over. */
  restart(): void {
    this.#boot++;
  }

  /** Forgets everything; work under way has no effect any more. */
  reset(): void {
    this.#boot++;
    this.#records.clear();
    this.effects.length = 0;
  }

  async #execute(request: ModelRequest, key: string | undefined, record: KeyRecord | undefined): Promise<ModelAnswer> {
    const { clock, workMs, refuse, effect, rememberRefusals } = this.#options;
    const boot = this.#boot;
    const body = parsed(request.body);
    try {
      if (workMs > 0) await new Promise<void>((resolve) => void clock.timer(workMs, resolve));
      const refusal = await refuse(body, key);
      const answer = refusal ?? (await effect(body, key, this.effects.length + 1));
      if (boot !== this.#boot) throw new ServerKilled();
      // Effect and answer become visible in one step, as in one transaction.
      if (!refusal) this.effects.push({ key, body, at: clock.now() });
      if (refusal && !rememberRefusals) this.#release(key, record);
      else if (record) record.answer = answer;
      return answer;
    } catch (error) {
      if (boot !== this.#boot) throw new ServerKilled();
      this.#release(key, record);
      return problem(500, { title: 'The effect failed', detail: String(error) });
    }
  }

  #find(key: string): KeyRecord | undefined {
    const record = this.#records.get(key);
    // Work under way holds its key however long it takes.
    if (!record?.answer || this.#options.clock.now() - record.at < this.#options.window) return record;
    this.#records.delete(key);
    return undefined;
  }

  #release(key: string | undefined, record: KeyRecord | undefined): void {
    if (key !== undefined && this.#records.get(key) === record) this.#records.delete(key);
  }
}

/** A problem document (RFC 9457). */
export const problem = (status: number, detail: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}): ModelAnswer => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ status, ...detail }),
});

// draft-ietf-httpapi-idempotency-key-header, section 2.7: one type for all three, the title tells them apart.
const keyProblem = (status: number, title: string, headers?: Readonly<Record<string, string>>): ModelAnswer =>
  problem(status, { type: 'https://developer.example.com/idempotency', title }, headers);

/** `409`: another copy is being worked on. */
export const outstanding = (retryAfterSeconds: number): ModelAnswer =>
  keyProblem(409, 'A request is outstanding for this Idempotency-Key', { 'retry-after': String(retryAfterSeconds) });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
