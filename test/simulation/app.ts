/** The app in a world. It makes the calls, and people react to what they are told. */
import type { Outcome } from '../../src/core/outcome.js';
import { extend, move, type Once, resumeOne, subscribe } from '../../src/entries/index.js';
import { isOnceError } from '../../src/errors.js';
import type { OnceInit, OnceOptions, OperationOptions } from '../../src/option-types.js';
import { callBack } from './calls-back.js';
import { ATTEMPT_MS, clientOptions, keyFor } from './client.js';
import { Context } from './context.js';
import type { Call, OpFacts, Told } from './facts.js';
import type { Deed } from './plan.js';
import { runCalls } from './run-calls.js';
import type { ClientOptions } from './scenario.js';
import { Screens } from './screens.js';
import { runSdk } from './sdk.js';
import { Sweep } from './sweep.js';
import { GUEST, type Slot, USERS, type World } from './world.js';

/** How often a customer presses again because of an answer, at most. */
const INSISTENCE_MAX = 4;
/** The pause before `move` is tried again after it failed. */
const AGAIN_MS = 5000;

type Press = Deed<'press'>;

export class App {
  readonly #world: World;
  #calls = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** The context in this slot. Starts one if the last one is gone. */
  open(index: number, more: Partial<OnceOptions> = {}): Context {
    const { slot, context } = this.#world.at(index);
    return context ?? this.boot(slot, more);
  }

  boot(slot: Slot, more: Partial<OnceOptions> = {}): Context {
    const world = this.#world;
    const client = world.releaseFor(slot);
    const context = new Context(world, `${slot.name}.${slot.restarts++}`, slot.name, slot.kind, slot.device);
    slot.context = context;
    world.contexts.set(context.id, context);
    world.log(() => `${context.id} starts`);
    context.client = client;
    context.boot({ ...clientOptions(world, context), ...more });
    this.#listen(context, context.once);
    const { other, apart } = client;
    if (apart) {
      context.other = context.make({ ...clientOptions(world, context, context.releases[1]), ...more }, 'other');
      this.#listen(context, context.other);
    } else if (other) context.other = context.enter(() => extend(context.once, other));
    context.callBack = (random, op) => callBack(world, this, context, random, op);
    if (world.options.screens && slot.kind === 'tab') context.screens = new Screens(world, context);
    // A worker resumes everything when it starts.
    if (world.options.client.consentMs !== undefined) context.later(0, () => void this.resumeAll(context, { concurrency: 4, takes: Number.POSITIVE_INFINITY }));
    return context;
  }

  #listen(context: Context, once: Once): void {
    const world = this.#world;
    subscribe(once, (event) => {
      if (event.type === 'attempt') {
        context.attempt = event.attempt;
        const key = world.books.keys.get(event.key);
        if (key) context.keys.set(key.op, key);
      }
      if ((event.type !== 'settled' && event.type !== 'unknown') || context.dead) return;
      const op = world.books.keys.get(event.key)?.op;
      if (op)
        world.books.see({
          kind: 'told',
          call: undefined,
          op,
          told: { at: world.time.now, by: 'event', outcome: event.outcome, status: undefined, code: undefined, error: undefined },
        });
    });
  }

  /** A press, or two in one tick. */
  press(press: Press, insisted = 0): Promise<unknown> | undefined {
    const world = this.#world;
    const context = this.open(press.slot);
    if (context.frozen) {
      context.later(0, () => void this.press(press, insisted));
      return undefined;
    }
    // What still has the guest's session is on its way to the user's.
    if (context.session) {
      context.later(AGAIN_MS, () => void this.press(press, insisted));
      return undefined;
    }
    if (world.options.guests && context.user === USERS[0]) {
      // Before any press, the app moves what the guest left unsettled. If that fails, it tries again later.
      return this.bring(context).then((brought) =>
        // Nor does anybody press if a log-out elsewhere has ended this page's session meanwhile.
        brought && !context.session ? this.#pressed(context, press, insisted) : context.later(AGAIN_MS, () => void this.press(press, insisted)),
      );
    }
    return this.#pressed(context, press, insisted);
  }

  /** Moves what the guest left unsettled into the namespace of the user who logged in. Resolves with whether that worked. */
  bring(context: Context): Promise<boolean> {
    return this.#world
      .doing(context, 'move', GUEST, () => move(context.anyOnce, GUEST))
      .then(
        () => true,
        () => false,
      );
  }

  #pressed(context: Context, press: Press, insisted: number): Promise<unknown> | undefined {
    const world = this.#world;
    if (context.dead) return undefined;
    if (press.dieAt !== undefined) context.dieAt = 2 * context.ports + press.dieAt;
    const op = world.opFor(context.user, press.name, press.payload);
    // A page that dies at the first call makes no second one.
    let last: Promise<unknown> | undefined;
    for (let n = press.double ? 2 : 1; n > 0 && !context.dead; n--) last = this.call(context, op, press, { press, insisted });
    return last;
  }

  /** Makes one call of the client, and records its end in the ledger. */
  call(
    context: Context,
    op: OpFacts,
    how: Pick<Press, 'payload' | 'abortMs' | 'totalMs'> & Pick<Call, 'within'> & Pick<OperationOptions, 'key'>,
    again?: { press: Press; insisted: number },
  ): Promise<unknown> {
    const { payload, abortMs, totalMs, within } = how;
    const world = this.#world;
    if (!op.payloads.includes(payload)) op.payloads.push(payload);
    const isOther = context.other !== undefined && !context.closed && world.random.of('other', this.#calls + 1).chance(0.5);
    const once = isOther && context.other ? context.other : context.once;
    const client = context.releases[Number(isOther)] as ClientOptions;
    const agreed = client.consentMs !== undefined && world.random.of('agreed', op.label, payload, op.calls.length).chance(0.5);
    const untilMs = agreed ? context.device.wall() + (client.consentMs ?? 0) : undefined;
    // The function of a `run` makes its own named call with `fetch`.
    const runs = client.runs !== undefined && !this.#isNested(op) && !(client.mixes && payload % 2);
    const call = this.#begin(context, op, runs ? 'run' : 'fetch', payload, { totalMs, untilMs, client, within });
    const key = how.key ?? keyFor(world, context, op);
    const { url, method } = world.requests.endpoint(payload);
    const limits = totalMs === undefined ? {} : { limits: { totalMs } };
    const aborted = abortMs === undefined ? undefined : new AbortController();
    if (aborted) {
      world.faults.count('abort');
      context.later(abortMs ?? 0, () => aborted.abort());
    }
    const init: RequestInit = {
      method,
      headers: { 'content-type': 'application/json', 'x-call': String(call.id) },
      ...bodyOf(world.requests.body(op, payload, client.picks ? call.id : undefined), client.bodies),
      ...(aborted ? { signal: aborted.signal } : {}),
      ...(context.kind === 'process' && !client.followsRedirects ? { redirect: 'manual' as const } : {}),
    };
    const between = client.nests ? () => this.#nested(context, op, payload) : undefined;
    if (client.runs === 'calls' && runs)
      return this.#await(context, call, (told) => runCalls(world, this, context, once, call, { ...limits, onOutcome: told }), again);
    if (runs) return this.#await(context, call, (told) => runSdk(world, context, once, call, init, { key, ...limits, onOutcome: told }, between), again);
    return this.#await(
      context,
      call,
      () => once.fetch(url, { ...init, once: this.#named(op, { key, ...limits, ...(agreed && { background: { untilMs: untilMs ?? 0 } }) }) }),
      again,
    );
  }

  #isNested({ name }: OpFacts): boolean {
    return name[0] !== 'pay';
  }

  /** The named call that the function of a `run` makes. The function goes on when that call has ended. */
  async #nested(context: Context, { user, name }: OpFacts, payload: number): Promise<void> {
    const told = await this.call(context, this.#world.books.op(user, ['mail', name[1] as number]), { payload });
    if ((context.outcomeOf(told)?.effect ?? 'unknown') === 'unknown') throw new Error('simulated: no word of the mail');
  }

  #named(op: OpFacts, options: OperationOptions): OnceInit {
    if (op.byContent) return true;
    return op.unnamed ? (options.limits ? { limits: options.limits } : {}) : { operation: op.name, ...options };
  }

  resume(context: Context, op: OpFacts): Promise<unknown> {
    const call = this.#begin(context, op, 'resume', 0, {});
    return this.#await(context, call, () => resumeOne(context.anyOnce, this.#world.requests.nameOf(op)));
  }

  /** One button that resumes everything that is pending. It can be pressed again only when its last run is over. */
  resumeAll(context: Context, { concurrency, takes, abortMs }: Pick<Deed<'resume-all'>, 'concurrency' | 'takes' | 'abortMs'>): Promise<unknown> | undefined {
    if (context.sweep) return undefined;
    const world = this.#world;
    const aborted = new AbortController();
    if (abortMs !== undefined) context.later(abortMs, () => aborted.abort());
    const inBackground = world.options.client.consentMs !== undefined;
    const sweep = new Sweep((op) => this.#begin(context, op, 'resume', 0, { inBackground }));
    context.sweep = sweep;
    const { sessions } = context.device;
    const { user } = context;
    world.log(() => `${context.id} resumes all, ${concurrency} at a time`);
    const over = (whole: boolean, of: unknown): void => {
      context.sweep = undefined;
      // A run that was cut short says nothing of the operations under way, and another user is not told of them: they stay pending.
      const isSame = context.device.sessions === sessions && context.user === user;
      const silent = whole && !aborted.signal.aborted && !context.closed && isSame ? sweep.open() : [];
      for (const call of silent) world.books.violate('outcome-is-true', call.op, `resume() came to its end without a word of call ${call.id}`);
      for (const call of sweep.open()) this.#told(context, call, 'error', of, undefined);
      if (sweep.most > concurrency && !inBackground) world.books.violate('scenario', undefined, `resume() drove ${sweep.most} at a time, not ${concurrency}`);
    };
    return sweep
      .run(context, { concurrency, takes, inBackground, signal: abortMs === undefined ? undefined : aborted.signal }, ({ name, outcome, response }) => {
        const op = (outcome.key === undefined ? undefined : world.books.keys.get(outcome.key)?.op) ?? world.books.op(context.user, name as OpFacts['name']);
        this.#told(context, sweep.callFor(op), 'answer', outcome.effect === 'unknown' ? undefined : response, outcome);
      })
      .then(
        (whole) => over(whole, undefined),
        (error: unknown) => over(false, error),
      );
  }

  #begin(
    context: Context,
    op: OpFacts,
    verb: Call['verb'],
    payload: number,
    {
      totalMs,
      client = context.client,
      ...more
    }: Pick<Call, 'untilMs' | 'inBackground' | 'within'> & { readonly totalMs?: number | undefined; client?: ClientOptions },
  ): Call {
    const world = this.#world;
    const limitMs = totalMs ?? client.limits?.totalMs ?? 120_000;
    const call: Call = {
      id: ++this.#calls,
      op,
      verb,
      context: context.id,
      user: context.user,
      payload,
      begunAt: world.time.now,
      limitMs,
      setBackMs: context.device.setBackMs,
      setsBack: context.device.setsBack,
      repeat: client.repeat ?? 'never',
      attemptMs: client.limits?.attemptMs ?? ATTEMPT_MS,
      required: client.durability === 'required',
      ...more,
      told: undefined,
      dead: false,
      diedAt: Number.POSITIVE_INFINITY,
    };
    op.calls.push(call);
    world.calls.set(String(call.id), call);
    world.log(() => `${context.id} calls ${verb} #${call.id} for ${op.user} ${op.label}, payload ${payload}`);
    context.mourners.add(() => void (call.told ?? Object.assign(call, { dead: true, diedAt: world.time.now })));
    world.books.see({ kind: 'called', call });
    return call;
  }

  /** Records in the ledger how a call ended. */
  #told(context: Context, call: Call, by: 'answer' | 'error', of: unknown, outcome: Outcome | undefined): Told {
    const world = this.#world;
    const word: Told = {
      at: world.time.now,
      slept: context.thawedAt >= call.begunAt,
      by,
      outcome,
      status: by === 'answer' ? (of as Response | undefined)?.status : undefined,
      code: isOnceError(of) ? of.code : undefined,
      error: by === 'error' ? of : undefined,
    };
    world.log(
      () =>
        `${context.id} is told of #${call.id} for ${call.op.user} ${call.op.label}: ${word.status ?? word.code ?? String(of)} ${outcome?.type} ${outcome?.effect === 'unknown' ? outcome.reason : ''}`,
    );
    world.books.see({ kind: 'told', call, op: call.op, told: word });
    return word;
  }

  #await(
    context: Context,
    call: Call,
    begin: (told: (outcome: Outcome) => void) => Promise<unknown>,
    again?: { press: Press; insisted: number },
  ): Promise<unknown> {
    // The value of a `run` has no outcome, so `onOutcome` has to give it.
    let said: Outcome | undefined;
    const told = (by: 'answer' | 'error', of: unknown): void => {
      if (context.dead) return;
      const word = this.#told(context, call, by, of, context.outcomeOf(of) ?? said);
      if (again) this.#react(word, again);
    };
    const promise = begin((outcome) => void (said = outcome));
    promise.then(
      (response) => told('answer', response),
      (error: unknown) => told('error', error),
    );
    return promise.catch((error: unknown) => error);
  }

  /** The customer presses again: soon after a refusal, often with another payload; later after an unknown outcome, with the same payload or another one. */
  #react({ outcome }: Told, { press, insisted }: { press: Press; insisted: number }): void {
    const world = this.#world;
    const random = world.random.of('react', press.name, press.at, insisted);
    const { insistent: will = 0, impatient = 0 } = world.options.workload;
    if (press.abortMs !== undefined && outcome?.effect === 'unknown' && random.of('impatient').chance(impatient)) {
      const { at, slot, name, payload } = press;
      world.time.after(1, () => void this.press({ do: 'press', at, slot, name, payload }, insisted + 1));
      return;
    }
    if (insisted >= INSISTENCE_MAX || !random.chance(outcome?.effect === 'done' ? will / 4 : will)) return;
    const other = random.chance(outcome?.effect === 'none' ? 0.7 : 0.3);
    const wait = outcome?.effect === 'unknown' ? random.int(500, 90_000) : random.int(200, 5000);
    const next: Press = { do: 'press', at: press.at, slot: press.slot, name: press.name, payload: other ? press.payload + 1 : press.payload };
    world.time.after(wait, () => void this.press(next, insisted + 1));
  }
}

/** The same content as text, bytes or a stream. */
function bodyOf(text: string, as: ClientOptions['bodies']): Pick<RequestInit, 'body'> {
  if (as === undefined) return { body: text };
  const bytes = new TextEncoder().encode(text);
  if (as === 'bytes') return { body: bytes };
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return { body };
}
