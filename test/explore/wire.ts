/** The wire to the server. The explorer picks the fate of each copy of a request and of each answer. */
import { type Answer, answer, type BodyEnd, SimulatedResponse } from '../simulation/answers.js';
import type { KeyFacts, Send } from '../simulation/facts.js';
import { endpoint } from '../simulation/requests.js';
import type { Copy } from '../simulation/servers.js';
import type { ExploredContext } from './context.js';
import { Rolling } from './hash.js';
import type { Owner } from './steps.js';
import type { ExploredWorld } from './world.js';

const failed = (): TypeError => new TypeError('Failed to fetch', { cause: { code: 'ECONNRESET' } });

const refused = (status: number, more: Readonly<Record<string, string>> = {}) => answer(status, { code: 'refused_in_front' }, more);
/** Refusals that no application behind its key layer gives. */
const IN_FRONT = [
  { label: '401 in front', said: refused(401) },
  { label: '429 in front', said: refused(429) },
  { label: '429 in front, with Retry-After', said: refused(429, { 'retry-after': '1' }) },
];
/** A check of the application in front of its key layer. It is not offered for requests with unseen copies. */
const BEFORE_KEYS = { label: '400 in front', said: refused(400) };

/** One request on its way. There may be several copies of it. */
interface Message {
  /** Names the operation, the key, and the number of the request under that key, so that two steps with one label can be told apart. */
  readonly id: string;
  readonly context: ExploredContext;
  readonly send: Send;
  readonly text: string;
  readonly url: string;
  readonly signal: AbortSignal | null | undefined;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

export class Wire implements Owner {
  readonly id = 'wire';
  readonly dead = false;
  readonly frozen = false;
  /** What the server has seen. Its state depends on nothing else. */
  readonly history = new Rolling();
  readonly #world: ExploredWorld;
  /** The number of the last request that left. */
  sends = 0;
  /** The request at which the server is working. */
  served = '';
  #questions = 0;

  constructor(world: ExploredWorld) {
    this.#world = world;
  }

  send(context: ExploredContext, url: string, init: RequestInit): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (context.dead) return;
      const { signal } = init;
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason));
      if (!context.device.online) return reject(new TypeError('Failed to fetch', { cause: { code: 'ENETUNREACH' } }));
      if (init.method === 'GET') {
        this.#asks(context, url, resolve as (answer: unknown) => void, reject);
        return;
      }
      const headers = new Headers(init.headers);
      const { op, payload, text } = this.#world.requestOf(init.body);
      const key = this.#world.books.keyOf(op, headers.get('idempotency-key') ?? '');
      const send: Send = {
        id: ++this.sends,
        key,
        account: context.device.user,
        call: this.#world.callOf(context, headers.get('x-call'), op),
        context: context.id,
        payload,
        at: this.#world.steps.now,
        wall: key.memoryOnly ? context.device.wall() : this.#world.storeNow(),
        deviceWall: key.memoryOnly ? context.device.wall() : this.#world.storeNow(),
        attempt: context.attempt,
        attemptMs: 30_000,
        thawedAt: context.thawedAt,
        hook: context.hook,
        lateByTrueTime: false,
        copies: 1,
        endpoint: endpoint(url),
        heard: undefined,
        over: false,
      };
      this.#world.sent(send);
      const ends = (tell: (what: unknown) => void) => (what: unknown) => {
        send.over = true;
        tell(what);
      };
      signal?.addEventListener('abort', () => void (send.over = true));
      const message: Message = {
        id: `${op.label} ${short(key)}, request ${key.sends.length}`,
        context,
        send,
        text,
        url,
        signal,
        resolve: ends(resolve as (answer: unknown) => void),
        reject: ends(reject),
      };
      // Only browsers repeat a request by themselves; Node sends each request once.
      const copied =
        context.kind === 'tab' && this.#world.faults.may('copied') ? this.#world.chooser.choose([{ label: 'sent once' }, { label: 'copied', faults: 1 }]) : 0;
      if (copied) (send as { copies: number }).copies = 2;
      // The client hears the answer to the copy that left last.
      if (copied) this.#leaves(message, false);
      this.#leaves(message, true);
    });
  }

  /** Polls the link of a 202. That cannot have an effect. */
  #asks(context: ExploredContext, url: string, resolve: (answer: unknown) => void, reject: (reason: unknown) => void): void {
    const { steps, server, faults, chooser } = this.#world;
    const id = `question ${++this.#questions}`;
    const arrives = (): void => {
      const said = server.ask(url, context.device.user, faults.random);
      this.#world.log(() => `server, of the work: ${said.status} ${said.body ?? ''}`);
      const lost = faults.may('responseLost') && chooser.strikes('the answer is lost');
      const hears = (): void => (lost ? reject(failed()) : resolve(new SimulatedResponse(said, url, 'whole', context.sleep)));
      steps.park(context, lost ? 'the connection breaks' : `answer ${said.status}`, hears, `${id} ${said.body ?? ''}`);
    };
    steps.park(this, 'a question after the work arrives', arrives, `${id} ${url}`);
  }

  #leaves(message: Message, heard: boolean): void {
    const { send, url } = message;
    const label = `${heard ? 'request' : 'first copy'} of ${short(send.key)} arrives`;
    this.#world.steps.park(this, label, () => this.#arrives(message, heard), `${message.id} ${send.payload} ${send.account} ${url}`);
  }

  #arrives(message: Message, heard: boolean): void {
    const { faults, chooser } = this.#world;
    const { send, text } = message;
    const fates = [
      { label: 'it is not lost' },
      ...(faults.may('requestLost')
        ? [
            { label: 'the request is lost', faults: 1 },
            { label: 'the request is lost, and nobody hears of it', faults: 1 },
          ]
        : []),
    ];
    const fate = heard ? chooser.choose(fates) : 0;
    if (fate > 0) this.#world.log(() => `the request under ${short(send.key)} is lost${fate === 2 ? ', and nobody hears of it' : ''}`);
    if (fate === 1) this.#breaks(message);
    if (fate > 0) return;
    const copy: Copy = {
      send,
      payload: send.payload,
      opText: text,
      random: this.#world.faults.random,
      front: this.#front(send),
      reply: (said, layer) => {
        this.#world.log(() => `server: ${said.status}${layer === 'front' ? ' from in front of it' : ''}${heard ? '' : ' to a copy that nobody listens to'}`);
        if (heard) this.#replies(message, said, layer);
      },
      lost: () => {
        if (heard) this.#breaks(message);
      },
    };
    this.served = `${message.id} ${heard}`;
    this.#world.server.arrive(copy);
    this.served = '';
  }

  /** The refusal of something in front of the key layer, if one is chosen. Each stands for all answers that the table of verdicts reads alike. */
  #front({ copies }: Send): Answer | undefined {
    const { faults, chooser } = this.#world;
    if (!faults.may('frontRefuses')) return undefined;
    const fronts = copies > 1 ? IN_FRONT : [...IN_FRONT, BEFORE_KEYS];
    const at = chooser.choose([{ label: 'nothing refuses in front' }, ...fronts.map(({ label }) => ({ label, faults: 1 }))]);
    return at === 0 ? undefined : (fronts[at - 1] as (typeof fronts)[number]).said;
  }

  #replies(message: Message, said: Answer, layer: NonNullable<Send['heard']>['layer']): void {
    const { faults, chooser } = this.#world;
    const fate = chooser.choose([
      { label: 'the answer comes' },
      ...(faults.may('responseLost')
        ? [
            { label: 'the answer is lost', faults: 1 },
            { label: 'the answer is lost, and nobody hears of it', faults: 1 },
          ]
        : []),
      ...(faults.may('truncated') && said.body !== null ? [{ label: 'the answer is cut', faults: 1 }] : []),
    ]);
    if (fate > 0) this.#world.log(() => ['', 'the answer is lost', 'the answer is lost, and nobody hears of it', 'the answer is cut'][fate] as string);
    if (fate === 1) this.#breaks(message);
    if (fate === 1 || fate === 2) return;
    const end: BodyEnd = fate === 3 ? 'cut' : 'whole';
    const marked = said.headers.has('idempotent-replayed') ? ' replayed' : '';
    const hears = (): void => {
      if (end === 'whole' && !message.signal?.aborted) message.send.heard = { layer, status: said.status };
      message.resolve(new SimulatedResponse(said, message.url, end, message.context.sleep));
    };
    this.#answers(message, hears, `answer ${said.status}${marked}${end === 'cut' ? ' cut' : ''}`, said.body ?? '');
  }

  #breaks(message: Message): void {
    this.#answers(message, () => message.reject(failed()), 'the connection breaks');
  }

  #answers({ id, context }: Message, run: () => void, label: string, value = ''): void {
    const heard = (): void => {
      context.byHand = false;
      run();
    };
    this.#world.steps.park(context, label, heard, `${id} ${value}`);
  }
}

/** A short name of a key for the log. */
export const short = ({ key, op }: KeyFacts): string => `key ${[...op.keys.keys()].indexOf(key) + 1}`;
