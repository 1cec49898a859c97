/**
 * A model of a server that honours idempotency keys. It has no transport. Its log of effects is the truth with which a test or a
 * simulation compares what a client believes.
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
  /** The body as bytes, if it may not be text. The type says `Uint8Array<ArrayBuffer>`, which TypeScript before 5.7 can't read. */
  readonly bytes?: ReturnType<InstanceType<typeof TextEncoder>['encode']> | undefined;
}

/** One effect that really happened. */
export interface Effect {
  readonly key: string | undefined;
  /** The parsed body if it is JSON, otherwise the text. */
  readonly body: unknown;
  readonly at: number;
}

export interface ModelServerOptions {
  readonly clock: Clock;
  readonly keyHeader: string;
  readonly replayHeader: string;
  /** How long an answered key is remembered, ms. After that, a request with it is executed again, as on nearly every server. */
  readonly window: number;
  /** The `Retry-After` of a `409`, seconds. */
  readonly retryAfter: number;
  /** The time between taking the key and the effect, ms. A second copy that arrives meanwhile gets a 409. */
  readonly workMs: number;
  readonly requireKey: boolean;
  /** Whether a refusal is stored under its key and replayed. If not, it releases the key. */
  readonly rememberRefusals: boolean;
  /** If it gives an answer, the request is refused with that, and has no effect. */
  readonly refuse: (body: unknown, key: string | undefined) => Promise<ModelAnswer | undefined>;
  /**
   * Makes the effect, and a function that gives its answer, which is the first answer and every replay. `count`: the number of the effect,
   * which is known only when it is committed. If it throws, nothing happened: the answer is a 500, and the key is released.
   */
  readonly effect: (body: unknown, key: string | undefined) => Promise<(count: number) => ModelAnswer>;
}

/** What {@link ModelServer.handle} rejects with if the server was killed during the request: there is no answer and no effect. */
export class ServerKilled extends Error {
  override readonly name = 'ServerKilled';
}

interface KeyRecord {
  readonly fingerprint: string;
  readonly at: number;
  /** Since which start of the server the key is taken. If the server was restarted since then, its work is dead, and the next copy takes the key over. */
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

  /** Answers one copy of a request. `payload`: identifies the body, if its text does not, because it is not UTF-8. */
  async handle(request: ModelRequest, payload = request.body): Promise<ModelAnswer> {
    const key = request.headers[this.#options.keyHeader.toLowerCase()];
    if (key === undefined || key === '') {
      return this.#options.requireKey ? keyProblem(400, 'Idempotency-Key is missing') : this.#execute(request, undefined, undefined);
    }
    // The exact body, because that is what most servers compare: the same JSON with another order of members is another payload.
    const fingerprint = `${request.method} ${request.url}\n${payload}`;
    const found = this.#find(key);
    if (found && found.fingerprint !== fingerprint) return keyProblem(422, 'Idempotency-Key is already used');
    if (found?.answer) return { ...found.answer, headers: { ...found.answer.headers, [this.#options.replayHeader.toLowerCase()]: 'true' } };
    if (found && found.boot === this.#boot) return outstanding(this.#options.retryAfter);
    // Take the key before anything else, and synchronously after the check above: this models a unique constraint.
    const record: KeyRecord = { fingerprint, at: this.#options.clock.now(), boot: this.#boot, answer: undefined };
    this.#records.set(key, record);
    return this.#execute(request, key, record);
  }

  effectsOf(key: string): readonly Effect[] {
    return this.effects.filter((effect) => effect.key === key);
  }

  /** Simulates that the server is killed and started again: work under way is lost, keys and answers are kept, and the next copy takes over. */
  restart(): void {
    this.#boot++;
  }

  /** Forgets everything. Work under way will have no effect. */
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
      const made = refusal ? () => refusal : await effect(body, key);
      if (boot !== this.#boot) throw new ServerKilled();
      const answer = made(this.effects.length + 1);
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
    // While work is under way, the key stays taken, however long that takes.
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

// draft-ietf-httpapi-idempotency-key-header, section 2.7: all three problems have one type, and differ in the title.
const keyProblem = (status: number, title: string, headers?: Readonly<Record<string, string>>): ModelAnswer =>
  problem(status, { type: 'https://developer.example.com/idempotency', title }, headers);

/** The `409` for a copy that comes while another one is being worked on. */
export const outstanding = (retryAfterSeconds: number): ModelAnswer =>
  keyProblem(409, 'A request is outstanding for this Idempotency-Key', { 'retry-after': String(retryAfterSeconds) });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
