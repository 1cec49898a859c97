/** A server over real HTTP that handles keys as it should, unless one of its parts is replaced. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, answer, send, textOf } from '../../servers/support/http.js';

export interface Asked {
  readonly key: string;
  readonly path: string;
  readonly login: string;
  /** The origin of the page that asks. */
  readonly origin: string | undefined;
  readonly order: string;
  readonly payload: string;
}

/** A part gives an answer, or `undefined` to break the connection. */
type Told = Answer | undefined;

export interface Parts {
  /** Where a key counts: requests of one scope share it. */
  scope(asked: Asked): string;
  /** Does the work, and gives its answer. */
  work(asked: Asked, effect: () => void): Told;
  /** Answers a copy while the first request is at work. */
  busy(): Told;
  /** Answers a copy of a request that was answered. */
  again(stored: Answer, asked: Asked, first: Asked): Told;
  /** Whether an answer is kept under its key. */
  stores(given: Answer): boolean;
  /** Whether a key whose work failed still belongs to its payload. */
  readonly keepsPayload: boolean;
  /** Whether the log-in is checked before the key. */
  readonly loginFirst: boolean;
  /**
   * With this part, the work lasts until its client has gone. Its result is kept; without a result, the key stays busy.
   * Without this part, the work continues after the client has gone.
   */
  onGone?(): Told;
  /** How long an answer is kept, ms. */
  readonly keepsMs: number;
  /** The work lasts at least until this many copies have arrived, however slowly they come. */
  readonly copies: number;
  /** How often something in front delivers each request. The answer to the last delivery counts. */
  readonly delivers: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly preflight: Answer;
}

export const MISMATCH = answer(422, { title: 'Idempotency-Key is already used', detail: 'another payload' });
const marked = (stored: Answer): Answer => ({ ...stored, headers: { 'idempotent-replayed': 'true' } });

/** How long the work takes, ms. */
export const WORK_MS = 150;

const HONEST: Parts = {
  scope: ({ key, path, login }) => `${key} ${path} ${login === 'refused' ? 'own' : login}`,
  work: ({ payload, order }, effect) => {
    if (payload === 'refused') return answer(402, { code: 'card_declined' });
    effect();
    return answer(201, { order });
  },
  busy: () => answer(409, { title: 'A request is outstanding for this Idempotency-Key' }, { 'retry-after': '0' }),
  again: (stored, asked, first) => (asked.payload === first.payload ? marked(stored) : MISMATCH),
  stores: ({ status }) => status < 500,
  keepsPayload: true,
  loginFirst: true,
  keepsMs: 60_000,
  copies: 1,
  delivers: 1,
  headers: {},
  preflight: answer(405),
};

interface Kept {
  readonly asked: Asked;
  /** How many copies have arrived. */
  copies: number;
  given?: Told;
  /** Whether its work failed, so that the next copy does it again. */
  failed?: boolean;
}

export interface ServerByParts extends AsyncDisposable {
  readonly origin: string;
  effects: number;
}

export async function startByParts(parts: Partial<Parts>): Promise<ServerByParts> {
  const { scope, work, busy, again, stores, keepsPayload, loginFirst, onGone, keepsMs, copies, delivers, headers, preflight } = { ...HONEST, ...parts };
  const kept = new Map<string, Kept>();
  const failed = new Set<string>();
  const server = { effects: 0 };

  async function answerTo(asked: Asked, gone: AbortSignal): Promise<Told> {
    const refusesLogin = asked.login === 'refused';
    const name = scope(asked);
    const earlier = kept.get(name);
    if (earlier) earlier.copies++;
    if (refusesLogin && loginFirst) return answer(401);
    if (earlier?.failed && asked.payload !== earlier.asked.payload) return MISMATCH;
    if (earlier && !earlier.failed) return earlier.given ? again(earlier.given, asked, earlier.asked) : busy();
    const entry: Kept = { asked, copies: 1 };
    kept.set(name, entry);
    do await sleep(WORK_MS);
    while (entry.copies < copies || (onGone && !gone.aborted));
    if (onGone) {
      entry.given = onGone();
      return undefined;
    }
    const fails = asked.payload === 'fails-once' && !failed.has(asked.order);
    failed.add(asked.order);
    const given = refusesLogin ? answer(401) : fails ? answer(500) : work(asked, () => server.effects++);
    if (given && stores(given)) entry.given = given;
    else if (fails && keepsPayload) entry.failed = true;
    else kept.delete(name);
    setTimeout(() => kept.delete(name), keepsMs).unref();
    return given;
  }

  const http = createServer(async (from, to) => {
    if (from.method === 'OPTIONS') return send(to, preflight);
    const gone = new AbortController();
    to.on('close', () => gone.abort());
    const { order = '', payload = '' } = JSON.parse(await textOf(from)) as Record<string, string>;
    const { authorization, origin } = from.headers;
    const asked = { key: String(from.headers['idempotency-key']), path: from.url ?? '', login: String(authorization), origin, order, payload };
    for (let sent = 1; sent < delivers; sent++) void answerTo(asked, gone.signal);
    const told = await answerTo(asked, gone.signal);
    if (told) send(to, { ...told, headers: { ...headers, ...told.headers } });
    else from.socket.destroy();
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return Object.assign(server, {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
    },
  });
}
