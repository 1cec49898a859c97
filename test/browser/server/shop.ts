/** A shop over real HTTP for tests in browsers: the model server of `src/testing`, faults by name, and a log of the requests. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Delivery, type Fault, type FaultName, Faults, suffer } from '../../../src/testing/faults.js';
import { ModelServer, ServerKilled } from '../../../src/testing/model-server.js';

/** One copy of a request, as it arrived. */
export interface Arrival {
  readonly method: string;
  readonly key: string | undefined;
  /** The call of fetch that it belongs to, if the client says so: a browser may put several copies of one call on the wire. */
  readonly send: string | undefined;
  readonly fate: FaultName | 'none';
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body's bytes, hex. */
  readonly digest: string;
  readonly bytes: number;
  /** Whether the client was still connected when the answer was ready; absent before that. */
  there?: boolean;
}

const clock = {
  now: () => Date.now(),
  timer: (ms: number, fire: () => void) => {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

export class Shop {
  readonly arrivals: Arrival[] = [];
  /** The number of reads that passed the browser's cache. */
  reads = 0;
  readonly faults = new Faults();
  readonly #model = new ModelServer({
    clock,
    keyHeader: 'Idempotency-Key',
    replayHeader: 'Idempotent-Replayed',
    window: 86_400_000,
    retryAfter: 0,
    workMs: 0,
    requireKey: false,
    rememberRefusals: false,
    refuse: async (body) =>
      (body as { card?: string } | null)?.card === 'declined'
        ? { status: 402, headers: { 'content-type': 'application/json' }, body: '{"code":"card_declined"}' }
        : undefined,
    effect: async () => (count) => ({ status: 201, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ charge: count }) }),
  });
  readonly #fates = new Map<string, Fault | undefined>();
  #gate: { readonly open: Promise<void>; readonly lift: () => void } | undefined;

  get effects() {
    return this.#model.effects;
  }

  /** Holds all answers from now on, after their effects, until {@link release}. */
  hold(): void {
    let lift = () => {};
    const open = new Promise<void>((resolve) => void (lift = resolve));
    this.#gate ??= { open, lift };
  }

  release(): void {
    this.#gate?.lift();
    this.#gate = undefined;
  }

  /** All copies of one call of fetch meet the same fault. */
  #fateOf(send: string | undefined): Fault | undefined {
    if (send === undefined) return this.faults.draw();
    if (!this.#fates.has(send)) this.#fates.set(send, this.faults.draw());
    return this.#fates.get(send);
  }

  async pay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const sent = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    // A plain form can't send headers, so its key is a field.
    const field = /urlencoded/.test(sent['content-type'] ?? '') ? new URLSearchParams(body.toString()).get('idempotency-key') : null;
    const headers: Record<string, string> = field === null ? sent : { 'idempotency-key': field, ...sent };
    const send = headers['x-send'];
    const fault = this.#fateOf(send);
    const method = request.method ?? '';
    const arrival: Arrival = {
      method,
      key: headers['idempotency-key'],
      send,
      fate: fault?.name ?? 'none',
      headers,
      digest: createHash('sha256').update(body).digest('hex'),
      bytes: body.length,
    };
    this.arrivals.push(arrival);
    // The model server compares bodies as text, so their bytes are encoded as text.
    const pass = () => this.#model.handle({ method, url: request.url ?? '', headers, body: body.toString('latin1') });
    let delivery: Delivery;
    try {
      delivery = fault ? await suffer({ pass, fault, clock }) : { kind: 'answer', answer: await pass() };
    } catch (error) {
      if (!(error instanceof ServerKilled)) throw error;
      delivery = { kind: 'network-error' };
    }
    await this.#gate?.open;
    arrival.there = !request.socket.destroyed;
    deliver(delivery, request, response);
  }
}

function deliver(delivery: Delivery, request: IncomingMessage, response: ServerResponse): void {
  if (delivery.kind === 'network-error') request.socket.destroy();
  if (delivery.kind !== 'answer') return;
  const { status, headers, body } = delivery.answer;
  response.writeHead(status, { 'cache-control': 'no-store', ...headers, 'content-length': Buffer.byteLength(body) });
  if (delivery.cutAt === undefined) response.end(body);
  else response.write(body.slice(0, delivery.cutAt), () => request.socket.destroy());
}
