/** The network between client and server: a real HTTP server that forwards, loses, breaks, repeats and holds back. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ForwardedAnswer, forward } from '../../../src/probe/proxy.js';
import { seededRandom } from '../../../src/testing/seeded-random.js';
import { send, textOf } from './http.js';

/** Faults on the way to the server, or back. */
const ON_THE_WIRE = [
  'none',
  /** The connection breaks before the server sees the request. */
  'lose-request',
  /** The effect is committed, and the connection breaks instead of an answer. */
  'lose-response',
  /** Half of the answer's body arrives. */
  'truncate',
  /** Nothing reaches the server, and nothing comes back. */
  'hang',
  /** The effect is committed, and nothing comes back. */
  'hang-after-effect',
  /** A gateway answers 503, without an effect. */
  'unavailable',
  /** The effect is committed, and a gateway answers 503 instead of the server's answer. */
  'unavailable-after-effect',
  /** Two copies reach the server at once, and the client gets the answer to the second one. */
  'duplicate',
  /** The request reaches the server after the client gave up on it and sent it again. */
  'late',
] as const;
const KILLS = ['kill-before-commit', 'kill-after-commit'] as const;

export const FAULTS = [...ON_THE_WIRE, ...KILLS] as const;
export type Fault = (typeof FAULTS)[number];

/**
 * The faults that the first requests of the operations meet, one after another. Kills are rarer than other faults,
 * because a dying server breaks all its requests.
 */
const PLAN: readonly Fault[] = [...ON_THE_WIRE, ...KILLS, ...Array.from({ length: 5 }, () => ON_THE_WIRE).flat()];
/** Methods of requests without an effect, and the faults that they may meet. */
const READING: readonly string[] = ['GET', 'DELETE'];
const READS: readonly Fault[] = ['lose-request', 'lose-response', 'truncate', 'hang', 'unavailable'];
/** Probability that a later request meets a random fault. */
const AGAIN = 0.25;
/** When a gateway gives up on a connection that hangs. */
const CUT_MS = 1000;
/** From this request of an operation on, there are no faults. */
const CALM_FROM = 4;

export interface Wire {
  readonly origin: string;
  /** Requests that met each fault. */
  readonly met: Readonly<Record<Fault, number>>;
  close(): Promise<void>;
}

interface Copy {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const handOn = (port: number, { method, url, headers, text }: Copy, more: IncomingHttpHeaders = {}): Promise<ForwardedAnswer> =>
  forward({ method, url: new URL(url, `http://127.0.0.1:${port}`), headers: { ...headers, ...more }, body: Buffer.from(text) });

const cut = (from: IncomingMessage): void => void setTimeout(() => from.socket.destroy(), CUT_MS).unref();

/** Chooses the fault of each request: from the plan for the first one of each operation and endpoint, at random for those after it. */
function planner(seed: number, plan: readonly Fault[]): (copy: Copy) => Fault {
  const random = seededRandom(seed);
  const arrived = new Map<string, number>();
  const drawn = (from: readonly Fault[]): Fault => (random() < AGAIN ? (from[Math.floor(random() * from.length)] ?? 'none') : 'none');
  return ({ method, url, headers, text }) => {
    const [, order] = /\bo-(\d+)\b/.exec(`${url} ${text} ${JSON.stringify(headers)}`) ?? [];
    // Such a request does not name its operation: it only follows a link or sends a key.
    if (order === undefined) return drawn(READING.includes(method) ? READS : ON_THE_WIRE);
    const place = `${method} ${url.split(/[/?]/)[1]} ${order}`;
    const count = (arrived.get(place) ?? 0) + 1;
    arrived.set(place, count);
    if (READING.includes(method)) return count < CALM_FROM ? drawn(READS) : 'none';
    if (count === 1) return plan[Number(order) % plan.length] ?? 'none';
    return count < CALM_FROM ? drawn(ON_THE_WIRE) : 'none';
  };
}

/** `spared`: faults that no client can survive at this server. `lateMs`: longer than the client waits for an answer. */
export async function openWire({
  port,
  seed,
  lateMs,
  spared,
  plan = PLAN,
}: {
  port: () => Promise<number>;
  seed: number;
  lateMs: number;
  spared: readonly Fault[];
  plan?: readonly Fault[] | undefined;
}): Promise<Wire> {
  const met = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  const draw = planner(seed, plan);

  async function carry(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = from;
    const copy = { method, url, headers, text: await textOf(from) };
    const drawn = draw(copy);
    const fault = spared.includes(drawn) ? 'none' : drawn;
    met[fault]++;
    const gateway = () => send(to, { status: 503, body: { title: 'Service unavailable' } });
    if (fault === 'lose-request') return void from.socket.destroy();
    if (fault === 'hang') return cut(from);
    if (fault === 'unavailable') return gateway();
    if (fault === 'late') await sleep(lateMs);
    const kill = fault.startsWith('kill') ? { 'x-dies': fault } : {};
    if (fault === 'duplicate') handOn(await port(), copy).catch(() => {});
    const came = await handOn(await port(), copy, kill);
    if (fault === 'hang-after-effect' || fault === 'late') return cut(from);
    if (fault === 'lose-response') return void from.socket.destroy();
    if (fault === 'unavailable-after-effect') return gateway();
    to.writeHead(came.status, came.headers);
    if (fault === 'truncate') return void to.write(came.body.subarray(0, came.body.length >> 1), () => from.socket.destroy());
    to.end(came.body);
  }

  const http = createServer((from, to) => void carry(from, to).catch(() => from.socket.destroy()));
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    met,
    close: () =>
      new Promise((closed) => {
        http.close(() => closed());
        http.closeAllConnections();
      }),
  };
}
