/** What the rows work with: sending, waiting and counting. */
import type { Dialect } from '../core/dialect.js';
import { kindOf, waitsInside } from './answers.js';
import type { Fate, FaultProxy } from './proxy.js';
import { type Came, NotTried, type ProbeRequest, type ProbeTarget, type ProbeTimes } from './request.js';

/** One operation of the probe, with its own key and id. */
export type ProbeOperation = Pick<ProbeRequest, 'key' | 'operation'>;

/** What the first row learns of the server. */
export interface Learnt {
  /** How long one request takes, ms. */
  workMs: number;
  /** The server answers a request that takes effect by a 202. */
  accepts: boolean;
}

type Variation = Partial<Pick<ProbeRequest, 'payload' | 'login'>> & { readonly elsewhere?: boolean };

const POLL_MS_FIRST = 50;
const POLL_MS_MAX = 1000;
const COUNTS_MAX = 50;
const ANSWER_MS_MAX = 60_000;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined);
    void work.then(resolve).finally(() => clearTimeout(timer));
  });
}

export class Bench {
  readonly target: ProbeTarget;
  readonly times: ProbeTimes;
  readonly dialect: Dialect;
  readonly learnt: Learnt;
  /** How long the quickest request took, ms. The first one may have taken longer than others do. */
  quickestMs = Number.POSITIVE_INFINITY;
  readonly #proxy: FaultProxy;

  constructor(target: ProbeTarget, times: ProbeTimes, dialect: Dialect, proxy: FaultProxy, learnt: Learnt) {
    this.learnt = learnt;
    this.target = target;
    this.times = times;
    this.dialect = dialect;
    this.#proxy = proxy;
  }

  /** Half of the time that a request takes, ms: the work is likely to be under way then. */
  get halfwayMs(): number {
    return Math.floor(Math.min(this.learnt.workMs, this.quickestMs) / 2);
  }

  /** Why the last request got no answer. */
  get failure(): string | undefined {
    return this.#proxy.failure();
  }

  /** A new operation, under a new key. */
  operation(): ProbeOperation {
    return { key: crypto.randomUUID(), operation: `probe-${crypto.randomUUID().slice(0, 8)}` };
  }

  /** Sends one request; `undefined` if no answer came. */
  async send({ key, operation }: ProbeOperation, { payload = 'usual', login = 'own', elsewhere = false }: Variation = {}): Promise<Came | undefined> {
    const url = elsewhere ? this.target.elsewhere?.() : this.target.url();
    if (url === undefined) throw new NotTried('no other path was given');
    const sending = this.target.send({ url: this.#proxy.through(url), key, operation, payload, login });
    if (!sending) throw new NotTried(`there is no such request (payload: ${payload}, login: ${login})`);
    const answered = sending.then(async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      sent: this.#proxy.sent(),
    }));
    return this.#inTime(answered);
  }

  /** Sends one request, to which the proxy does what `fate` says. */
  sendInto(fate: Fate, operation: ProbeOperation): Promise<Came | undefined> {
    this.#proxy.next(fate);
    return this.send(operation);
  }

  /** Sends it again and again, as a client would, until an answer no longer says to come back. Gives all answers. */
  async insist(operation: ProbeOperation, variation?: Variation): Promise<(Came | undefined)[]> {
    const answers: (Came | undefined)[] = [];
    const end = performance.now() + this.times.patienceMs;
    for (let wait = POLL_MS_FIRST; ; wait = Math.min(2 * wait, POLL_MS_MAX)) {
      const came = await this.send(operation, variation);
      answers.push(came);
      if (!this.saysLater(came, operation.key) || performance.now() + wait > end) return answers;
      await sleep(wait);
    }
  }

  /** Sends it; if it is called a copy of itself, asks until it is done. Gives all answers. */
  async sendFirst(operation: ProbeOperation): Promise<(Came | undefined)[]> {
    const came = await this.send(operation);
    return came && this.saysBusy(came, operation.key) ? [came, ...(await this.insist(operation))] : [came];
  }

  /** Whether a client would have to ask again: no answer came, or the answer does not say how the operation ended. */
  saysLater(came: Came | undefined, key: string): boolean {
    if (!came) return true;
    if (came.status === 202) return !this.learnt.accepts;
    return this.saysBusy(came, key) || kindOf(came, this.dialect, key) === 'transient';
  }

  /** Whether the answer says that an earlier copy is at work. */
  saysBusy(came: Came, key: string): boolean {
    return kindOf(came, this.dialect, key) === 'in-progress' || waitsInside(came);
  }

  /** Sends a preflight, as a browser would. */
  async options(headers: Readonly<Record<string, string>>): Promise<Came | undefined> {
    const answered = fetch(this.#proxy.through(this.target.url()), { method: 'OPTIONS', headers });
    const came = answered.then(({ status, headers: given }) => ({ status, headers: given, text: '' }));
    return this.#inTime(came);
  }

  /** The answer; `undefined` if none comes in time. */
  #inTime(answer: Promise<Came>): Promise<Came | undefined> {
    return within(
      this.times.answerMs ?? ANSWER_MS_MAX,
      answer.catch(() => undefined),
    );
  }

  /** The number of effects so far. Throws a TypeError if `count` gives no number, because then no second effect could be seen. */
  async countNow(): Promise<number | undefined> {
    if (!this.target.count) return undefined;
    const effects: unknown = await this.target.count();
    if (typeof effects !== 'number' || !Number.isFinite(effects)) throw new TypeError(`oncefetch: count must return a number, got ${String(effects)}`);
    return effects;
  }

  /** The number of effects once it has stopped growing. */
  async countAtRest(): Promise<number | undefined> {
    if (!this.target.count) return undefined;
    await sleep(this.times.settleMs + this.learnt.workMs);
    let last = await this.countNow();
    for (let reading = 0; reading < COUNTS_MAX; reading++) {
      await sleep(this.times.settleMs);
      const now = await this.countNow();
      if (now === last) break;
      last = now;
    }
    return last;
  }

  /** Runs `play`, and counts the effects that it has. */
  async counting<T>(play: () => Promise<T>): Promise<{ value: T; effects: number | undefined }> {
    const before = await this.countNow();
    const value = await play();
    const after = await this.countAtRest();
    return { value, effects: before === undefined || after === undefined ? undefined : after - before };
  }
}
