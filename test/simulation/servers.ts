/** A model server of any family. It answers copies of requests. Its log of effects is the truth. */
import { type Answer, answer, html } from './answers.js';
import { type Apart, type Effect, isLaterPart, type Layer, type OpFacts, type Send } from './facts.js';
import type { ServerOptions } from './families.js';
import { mix, type Random } from './random.js';
import type { Endpoint } from './requests.js';
import { atWork, BROKEN, DECLINED, frontRefusal, GONE, gateway, isDone, MISMATCH, pollRefusal } from './words.js';
import type { World } from './world.js';

/** Work behind a 202. The server does not lose it. */
interface Job {
  readonly op: OpFacts;
  readonly account: string;
  end: 'done' | 'failed' | undefined;
}

/** One copy of a request on the server. */
export interface Copy {
  readonly send: Send;
  readonly payload: number;
  readonly opText: string;
  readonly random: Random;
  /** The scripted answer of something in front of the server to this copy. */
  readonly front?: Answer | undefined;
  readonly dies?: boolean | undefined;
  readonly reply: (answer: Answer, layer: Layer) => void;
  readonly lost: () => void;
}

interface Entry {
  readonly payload: number;
  readonly stamp: number | undefined;
  readonly at: number;
  state: 'working' | 'done' | 'stuck';
  answer: Answer | undefined;
  layer: Layer;
  /** When the lock of a server that died releases itself. */
  freeAt: number;
  readonly held: Copy[];
}

/** How long the lock of a server that died at work holds. */
const LOCK_MS = 90_000;
/** Longer than any call waits. */
const LONG_MS = 1_800_000;

export class Server {
  readonly options: ServerOptions;
  readonly effects: Effect[] = [];
  readonly #world: World;
  /** The path below which the links to its jobs lie. */
  readonly #jobsAt: string;
  readonly #entries = new Map<string, Entry>();
  /** Keys that were ever executed. */
  readonly #executed = new Set<string>();
  readonly #jobs: Job[] = [];
  /** The replay of each answer, by the first answer. */
  readonly #replays = new Map<Answer, Answer>();
  #boot = 0;

  constructor(world: World, options: ServerOptions, number = 0) {
    this.#world = world;
    this.options = options;
    this.#jobsAt = `/jobs/${number}/`;
  }

  /** The server is killed and started again: work in progress is lost, keys and answers are kept. */
  restart(): void {
    this.#boot++;
    for (const [key, entry] of this.#entries) {
      if (entry.state !== 'working') continue;
      this.#entries.delete(key);
      for (const held of entry.held.splice(0)) held.lost();
    }
  }

  arrive(copy: Copy): void {
    const refused = copy.front ?? this.#front(copy);
    if (refused) copy.reply(refused, 'front');
    else
      this.#behindFront(
        this.#world.faults.hits(copy.random, 'frontBreaksAfter') ? { ...copy, reply: (_, layer) => copy.reply(gateway(copy.random), layer) } : copy,
      );
  }

  /** The answer from in front of the key layer, if something there answers. */
  #front({ random, send }: Copy): Answer | undefined {
    const { faults } = this.#world;
    const { op } = send.key;
    if (faults.hits(random, 'frontRefuses')) return frontRefusal(random);
    if (faults.hits(random, 'frontBreaks')) return gateway(random);
    if (faults.hits(random, 'loginPage')) return html(200, random.chance(0.5));
    if (faults.hits(random, 'redirected')) return answer(302, null, { location: '/login' });
    // If the operation was done elsewhere, most checks of the application notice it; sometimes one does not.
    if (op.elsewhere && random.chance(0.7)) return isDone('done-elsewhere', send.key.key);
    const executed = [...op.keys.values()].some((key) => key.effects.length);
    return executed && faults.hits(random, 'frontKnows') ? GONE : undefined;
  }

  /** The server has an answer for this key, and the key window is over. */
  forgets(account: string, key: string, at: Endpoint): boolean {
    const entry = this.#entries.get(this.#id(account, key, at));
    return entry?.state === 'done' && this.#world.time.now - entry.at >= this.options.windowMs;
  }

  /** The key with the scope in which the server counts it: account, origin, endpoint, method. */
  #id(account: string, key: string, { url, method }: Endpoint): string {
    const { anyAccount, scope = [] } = this.options;
    const { origin } = new URL(url);
    const parts = { origin, endpoint: url, method };
    return [key, anyAccount ? '' : account, ...scope.map((part) => parts[part])].join('\n');
  }

  #behindFront(copy: Copy): void {
    const { honours, mismatch, comparesBytes, done = 'answer' } = this.options;
    const { account, key, endpoint, part = '' } = copy.send;
    const id = honours ? this.#id(account, key.key + part, endpoint) : '';
    const found = honours ? this.#find(id, copy) : undefined;
    if (!honours) this.#work(copy, undefined, '');
    else if (found && (found.payload !== copy.payload || (comparesBytes && found.stamp !== copy.send.stamp)) && mismatch !== 'replays')
      copy.reply(MISMATCH[mismatch], 'kept');
    else if (found?.answer && found.layer === 'done' && done !== 'answer') copy.reply(isDone(done, key.key), 'done');
    else if (found?.answer) copy.reply(this.#replay(found.answer), found.layer);
    else if (found) this.#busy(found, copy);
    else {
      const entry: Entry = {
        payload: copy.payload,
        stamp: copy.send.stamp,
        at: this.#world.time.now,
        state: 'working',
        answer: undefined,
        layer: 'done',
        freeAt: 0,
        held: [],
      };
      this.#entries.set(id, entry);
      if (this.options.accepts) this.#accept(copy, entry, id);
      else this.#work(copy, entry, id);
    }
  }

  /** Answers 202 and queues the work. Queued work survives restarts; if its server dies, another one takes it up later. */
  #accept(copy: Copy, entry: Entry, id: string): void {
    const { faults, time } = this.#world;
    const { random } = copy;
    const { surely = false, keepsRefusals, workMs } = this.options;
    const late = faults.hits(random, 'dies') ? LOCK_MS : 0;
    const declined = faults.hits(random, 'declines', copy.send) || this.declines(copy.opText, copy.payload);
    if (surely && declined) {
      this.#end(copy, entry, id, this.#refusal(copy), keepsRefusals ? 'kept' : undefined);
      return;
    }
    const job: Job = { op: copy.send.key.op, account: copy.send.account, end: undefined };
    const link = `${new URL(copy.send.endpoint.url).origin}${this.#jobsAt}${this.#jobs.push(job) - 1}`;
    const said = answer(202, { state: 'accepted' }, { location: link, 'retry-after': '2' });
    Object.assign(entry, { state: 'done', answer: said, layer: 'done' });
    copy.reply(said, 'done');
    if (surely) this.#execute(copy, id);
    time.after(late + random.int(...workMs), () => {
      job.end = declined ? 'failed' : 'done';
      if (!declined && !surely) this.#execute(copy, id);
    });
  }

  /** Whether this link leads to a job of this server. */
  holds(url: string): boolean {
    return url.includes(this.#jobsAt);
  }

  /** The answer at the link to a job. What may answer in front of the server may answer here too. */
  ask(url: string, account: string, random: Random): Answer {
    const { faults } = this.#world;
    if (faults.hits(random, 'frontRefuses')) return pollRefusal(random);
    if (faults.hits(random, 'frontBreaks')) return gateway(random);
    if (faults.hits(random, 'loginPage')) return html(200, random.chance(0.5));
    const job = this.#jobs[Number(url.slice(url.lastIndexOf('/') + 1))];
    // The session of another user cannot see the job.
    if (!job || job.account !== account) return answer(404, { code: 'no_such_job' });
    if (!job.end) return answer(202, { state: 'running' }, { 'retry-after': '3' });
    return answer(200, { [random.pick(['state', 'status'])]: job.end === 'failed' ? (this.options.failedWord ?? 'failed') : 'done' });
  }

  /** Work of this operation is queued. */
  works(op: OpFacts): boolean {
    return this.#jobs.some((job) => job.op === op && !job.end);
  }

  #execute(copy: Copy, id: string): void {
    const effect: Effect = { at: this.#world.time.now, account: copy.send.account, key: copy.send.key, payload: copy.payload, send: copy.send };
    this.#executed.add(id);
    this.effects.push(effect);
    this.#world.effected(effect);
  }

  #find(id: string, copy: Copy): Entry | undefined {
    const { now } = this.#world.time;
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    const over = entry.state === 'done' ? now - entry.at >= this.options.windowMs : entry.state === 'stuck' && now >= entry.freeAt;
    const early = entry.state === 'done' && this.#world.faults.hits(copy.random, 'forgetsEarly');
    if (!over && !early) return entry;
    this.#entries.delete(id);
    // Forgetting a refusal that the server had promised to keep is as bad as forgetting an effect.
    if (entry.state === 'done' || this.#executed.has(id)) copy.send.key.forgotten = early ? 'key-forgotten-early' : whyLate(copy.send);
    return undefined;
  }

  #replay(first: Answer): Answer {
    if (!this.options.marker) return first;
    const known = this.#replays.get(first);
    if (known) return known;
    const replay = { ...first, headers: new Headers([...first.headers, ['idempotent-replayed', 'true']]) };
    this.#replays.set(first, replay);
    return replay;
  }

  #busy(entry: Entry, copy: Copy): void {
    const { busy } = this.options;
    // A client takes a 202 to a first attempt for the answer to it. A server that answers duplicates with 202 must not do so if the client may send
    // copies unseen.
    const said = busy === '202' && copy.send.key.sends.some(({ copies }) => copies > 1) ? '409-retry-after' : busy;
    if (said === 'held-open' && entry.state === 'working') entry.held.push(copy);
    else copy.reply(atWork(said, copy.random), 'busy');
  }

  #work(copy: Copy, entry: Entry | undefined, id: string): void {
    const { faults, time } = this.#world;
    const { random } = copy;
    const boot = this.#boot;
    const stuck = faults.hits(random, 'dies') || copy.dies === true;
    const crash = faults.hits(random, 'crashesBefore') ? 'before' : faults.hits(random, 'crashesAfter') ? 'after' : undefined;
    // Only the first part can be declined: once the customer was charged, the fee is not refused.
    const { key, part } = copy.send;
    const later = isLaterPart(key.op, part);
    const byChance = faults.hits(random, 'declines', copy.send);
    // A fee that is refused by chance is asked for again, under another key.
    const declined = later ? byChance && part === undefined && key.random : byChance || this.declines(copy.opText, copy.payload);
    const long = random.of('long');
    time.after(faults.hits(long, 'worksLong') ? long.int(60_000, LONG_MS) : random.int(...this.options.workMs), () => {
      if (boot !== this.#boot) copy.lost();
      else if (stuck) this.#die(copy, entry);
      else if (crash === 'before') this.#end(copy, entry, id, BROKEN, this.options.keepsErrors ? 'kept' : undefined);
      else if (declined) this.#end(copy, entry, id, this.#refusal(copy), this.options.keepsRefusals ? 'kept' : undefined);
      else {
        this.#execute(copy, id);
        if (crash === 'after' && this.options.keepsErrors) this.#end(copy, entry, id, BROKEN, 'kept');
        else this.#end(copy, entry, id, this.#success(), 'done', crash === 'after' ? BROKEN : undefined);
      }
    });
  }

  #success(): Answer {
    const { streamsMs } = this.options;
    const said = answer(201, { id: this.effects.length }, streamsMs ? { 'content-type': 'application/x-ndjson' } : {});
    return streamsMs ? { ...said, streamsMs } : said;
  }

  /** The same request always gets the same refusal. */
  #refusal({ opText, payload }: Copy): Answer {
    return DECLINED[mix(this.#world.seed, 'refusal', opText, payload) % DECLINED.length] as Answer;
  }

  /** The server is killed at work: no effect, no answer, and a lock that releases itself some time later. */
  #die(copy: Copy, entry: Entry | undefined): void {
    if (entry) Object.assign(entry, { state: 'stuck', freeAt: this.#world.time.now + LOCK_MS });
    for (const held of entry?.held.splice(0) ?? []) held.lost();
    copy.lost();
  }

  /**
   * Ends the work on a copy. `kept`: the server keeps the answer for the key, on behalf of this layer; absent if the key is free again.
   * `instead`: what the caller hears in place of the answer.
   */
  #end(copy: Copy, entry: Entry | undefined, id: string, said: Answer, kept: Layer | undefined, instead?: Answer): void {
    const held = entry?.held.splice(0) ?? [];
    if (entry && kept) Object.assign(entry, { state: 'done', answer: said, layer: kept });
    else if (this.#entries.get(id) === entry) this.#entries.delete(id);
    copy.reply(instead ?? said, kept ?? 'unkept');
    for (const one of held) this.#behindFront(one);
  }

  /** Whether this payload is always declined. */
  declines(opText: string, payload: number): boolean {
    return mix(this.#world.seed, opText, payload) / 2 ** 32 < this.options.declined;
  }
}

/** Why the server had forgotten a key that arrived. `undefined`: the client sent it past the window by the clock that counts, which is the client's fault. */
function whyLate({ wall, key, lateByTrueTime }: Send): Apart | undefined {
  if (wall >= key.windowEndsAt) return undefined;
  return lateByTrueTime ? 'clock-lied' : 'copy-outlived-window';
}
