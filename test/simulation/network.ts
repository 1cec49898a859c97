/** The wire between contexts and servers. It loses, delays, copies, reorders and cuts. */
import { COPY_LIFETIME_MS } from '../../src/core/decide.js';
import { type Answer, type BodyEnd, SimulatedResponse } from './answers.js';
import { ATTEMPT_MS, speaks } from './client.js';
import type { Context } from './context.js';
import type { OpFacts, Send } from './facts.js';
import type { Random } from './random.js';
import { withoutKey } from './requests.js';
import type { Copy, Server } from './servers.js';
import type { World } from './world.js';

/** One copy: when it reaches the server, and the scripted events there, if any. */
export interface ScriptedCopy {
  readonly delayMs: number;
  /** The answer of something in front of the key layer. */
  readonly front?: Answer | undefined;
  /** The server dies while it works on this copy. */
  readonly dies?: boolean | undefined;
}

/** What becomes of one call of the transport. */
export interface Fate {
  readonly refused: boolean;
  /** The copies that reach the server, each after its delay. An empty list: none does. */
  readonly copies: readonly ScriptedCopy[];
  /** `lost`: the client sees an error. `silent`: it sees nothing. */
  readonly end: BodyEnd | 'lost' | 'silent';
  readonly answerMs: number;
  /** The error code that a client in Node sees if it sees an error. @default ECONNRESET */
  readonly code?: string | undefined;
}

/** The error that a client sees when a connection breaks: in a browser it is the same for every cause. */
const failed = (code: string): TypeError => new TypeError('Failed to fetch', { cause: { code } });

export class Network {
  readonly #world: World;
  /** Copies on the wire or on the server, by operation. */
  readonly #under = new Map<OpFacts, number>();
  #sends = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Whether no copy of this operation can take effect any more. */
  quiet(op: OpFacts): boolean {
    return !this.#under.get(op) && !this.#world.servers.some((server) => server.works(op));
  }

  send(context: Context, url: string, init: RequestInit): Promise<Response> {
    return context.port(
      'send',
      (resolve, reject) => {
        if (init.method === 'GET') return this.#ask(context, url, init.signal, { resolve: resolve as (answer: unknown) => void, reject });
        const headers = new Headers(init.headers);
        const { requests } = this.#world;
        const bare = withoutKey(url, init.body);
        const { op, payload, text, stamp } = requests.content(bare.body);
        const endpoint = requests.at(bare.url, init.method as string);
        const server = this.#world.serverAt(endpoint);
        const sent = bare.key ?? endpoint.headers.map((name) => headers.get(name)).find((one) => one !== null);
        const part = headers.get('x-part') ?? undefined;
        const key = part ? this.#world.parentOf(op, sent ?? '', part) : (sent ?? (endpoint.headers.length ? '' : this.#world.unkeyed(op)));
        const random = this.#world.faults.occasion(`net ${op.user} ${op.label}`);
        const fate = this.#world.options.script?.(op, op.sends++) ?? this.#fate(random, server, context.kind === 'tab');
        const { signal } = init;
        const abort = (): void => reject(signal?.reason);
        if (signal?.aborted) return abort();
        signal?.addEventListener('abort', abort);
        const offline = !context.device.online;
        if (fate.refused || offline) {
          // Nothing left this device. Whether the client can know that depends on its platform.
          if (offline) this.#world.faults.count('offline');
          return reject(failed(fate.refused && !offline ? 'ECONNREFUSED' : 'ENETUNREACH'));
        }
        const known = this.#world.keyOf(op, key);
        const call = this.#world.callOf(context, headers.get('x-call'), op, payload);
        const send: Send = {
          id: ++this.#sends,
          key: known,
          account: context.user,
          call,
          context: context.id,
          payload,
          at: this.#world.time.now,
          wall: known.memoryOnly ? context.device.wall() : this.#world.storeNow(context.device),
          deviceWall: context.device.wall(),
          attempt: context.attempt,
          attemptMs: call?.attemptMs ?? ATTEMPT_MS,
          thawedAt: context.thawedAt,
          hook: context.hook,
          lateByTrueTime: server.forgets(context.user, key, endpoint),
          copies: fate.copies.length,
          endpoint,
          stamp,
          part,
          keyless: sent === undefined,
          replays: context.releases.some((client) => speaks(client, endpoint)?.replays === true),
          heard: undefined,
          over: false,
        };
        this.#world.sent(send);
        this.#carry(context, send, fate, text, random, { url, signal, resolve: resolve as (answer: unknown) => void, reject });
      },
      'once',
    );
  }

  /** Polls the link of a 202. That cannot have an effect. */
  #ask(
    context: Context,
    url: string,
    signal: AbortSignal | null | undefined,
    to: { resolve: (answer: unknown) => void; reject: (reason: unknown) => void },
  ): void {
    const { faults, time } = this.#world;
    const server = this.#world.servers.find((one) => one.holds(url)) ?? this.#world.server;
    const random = faults.occasion(`net ${url}`);
    const account = context.user;
    const { refused, copies, end, answerMs } = this.#fate(random, server, false);
    signal?.addEventListener('abort', () => to.reject(signal.reason));
    if (refused || !context.device.online) {
      to.reject(failed('ENETUNREACH'));
      return;
    }
    if (end === 'silent') return;
    time.after(copies[0]?.delayMs ?? 1, () => {
      const said = server.ask(url, account, random);
      context.later(answerMs, () =>
        end === 'lost' || copies.length === 0 ? to.reject(failed('ECONNRESET')) : to.resolve(new SimulatedResponse(said, url, end as BodyEnd, context.sleep)),
      );
    });
  }

  #carry(
    context: Context,
    send: Send,
    fate: Fate,
    opText: string,
    random: Random,
    to: { url: string; signal: AbortSignal | null | undefined; resolve: (answer: unknown) => void; reject: (reason: unknown) => void },
  ): void {
    const { time } = this.#world;
    const server = this.#world.serverAt(send.endpoint);
    const { op } = send.key;
    const ends = (tell: () => void): void => {
      send.over = true;
      tell();
    };
    to.signal?.addEventListener('abort', () => ends(() => {}));
    const toClient = (ms: number, tell: () => void): void => void context.later(ms, () => ends(tell));
    if (!fate.copies.length) {
      if (fate.end !== 'silent') toClient(fate.answerMs, () => to.reject(failed(fate.code ?? 'ECONNRESET')));
      return;
    }
    // The client hears the answer to the copy that left last. The answers to the other copies are lost.
    const heard = fate.copies.length - 1;
    fate.copies.forEach(({ delayMs, front, dies }, index) => {
      this.#count(op, 1);
      const over = (): void => this.#count(op, -1);
      const copy: Copy = {
        send,
        payload: send.payload,
        opText,
        random: random.of('copy', index),
        front,
        dies,
        reply: (said, layer) => {
          over();
          if (index !== heard) return;
          const { end } = fate;
          this.#world.log(() => `  server to ${context.id} for ${op.user} ${op.label}: ${said.status} (${layer}), ${end}`);
          if (end === 'lost') toClient(fate.answerMs, () => to.reject(failed(fate.code ?? 'ECONNRESET')));
          else if (end !== 'silent')
            toClient(fate.answerMs, () => {
              if (end === 'whole' && !to.signal?.aborted) send.heard = { layer, status: said.status };
              to.resolve(new SimulatedResponse(said, to.url, end, context.sleep));
            });
        },
        lost: () => {
          over();
          if (index === heard && fate.end !== 'silent') toClient(fate.answerMs, () => to.reject(failed(fate.code ?? 'ECONNRESET')));
        },
      };
      time.after(delayMs, () => server.arrive(copy));
    });
  }

  #count(op: OpFacts, by: number): void {
    this.#under.set(op, (this.#under.get(op) ?? 0) + by);
  }

  /** Draws the fate of a request. `resends`: the platform is a browser, which repeats a request by itself when a kept-alive connection turns out to be dead. */
  #fate(random: Random, { options }: Server, resends: boolean): Fate {
    const { faults } = this.#world;
    const answerMs = random.int(1, 150);
    const refused = faults.hits(random, 'connectionRefused');
    const lost = faults.hits(random, 'requestLost');
    const silent = random.chance(0.5);
    if (refused || lost) return { refused, copies: [], end: silent ? 'silent' : 'lost', answerMs };
    const late = (): number =>
      faults.hits(random, 'delayed') ? random.int(1000, COPY_LIFETIME_MS) : faults.hits(random, 'reordered') ? random.int(200, 40_000) : 0;
    const more = resends && faults.hits(random, 'duplicated') ? random.int(1, 2) : 0;
    // No copy of a request lives longer than this.
    const bounded = (delayMs: number) => ({ delayMs: Math.min(delayMs, COPY_LIFETIME_MS) });
    const copies = [bounded(random.int(1, 150) + late())];
    // The first copy was on the wire before its connection broke. If the copies overtook each other, a server that keeps no refusals could refuse the
    // second and then execute the first, and nobody could know.
    const behind = (): number => (options.keepsRefusals ? 0 : (copies.at(-1)?.delayMs ?? 0));
    for (let i = 0; i < more; i++) copies.push(bounded(behind() + random.int(1, 400) + late()));
    const end = faults.hits(random, 'responseLost')
      ? silent
        ? 'silent'
        : 'lost'
      : faults.hits(random, 'truncated')
        ? 'cut'
        : faults.hits(random, 'stalled')
          ? 'stalled'
          : 'whole';
    return { refused, copies, end, answerMs };
  }
}
