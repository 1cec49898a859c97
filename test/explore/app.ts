/** What people do in a small world, and what they are told. */
import { clear, close, forget, move, settle } from '../../src/entries/index.js';
import { isOnceError } from '../../src/errors.js';
import type { Call, OpFacts, Told } from '../simulation/facts.js';
import { Sweep } from '../simulation/sweep.js';
import { GUEST, personOf } from '../simulation/world.js';
import type { ExploredContext } from './context.js';
import { byHand, clears, looks, queues } from './judges.js';
import { type ExploredWorld, type Slot, USERS } from './world.js';

export const SHOP = 'https://shop.example';

/** One press on a button. */
export interface Press {
  readonly slot: number;
  /** `null`: a request without a name. */
  readonly name?: string | null;
  /** Another payload is an edited form. */
  readonly payload: number;
  /** Another path, or another origin. */
  readonly path?: string;
}

/** A worker starts, or gets a `sync` event: it goes on with what was agreed to. */
export interface Wake {
  readonly wakes: number;
}

/** The guest logs in. */
export interface LogIn {
  readonly logsIn: number;
}

/** Time that goes by before the next press. */
export interface Pause {
  readonly waitMs: number;
}

/** What a person, an app or the browser may do between two steps. */
export type Deed =
  | 'crash'
  | 'abort'
  | 'log-out'
  | 'log-in'
  | 'another user'
  | 'settle'
  | 'forget'
  | 'forget anyway'
  | 'clear'
  | 'close'
  | 'freeze'
  | 'resume'
  | 'wake'
  | 'offline'
  | 'long offline'
  | 'server restart';

const LIMIT_MS = 120_000;
const FREEZE_MS = 45_000;
/** Shorter, and longer, than a call waits for the network. */
const OFFLINE_MS = { offline: 2000, 'long offline': 45_000 };

export class App {
  readonly #world: ExploredWorld;
  /** `move` of the guest's operations is under way. Until it ends, nothing is pressed. */
  bringing = false;
  readonly #aborts = new Map<Call, AbortController>();

  constructor(world: ExploredWorld) {
    this.#world = world;
  }

  press(press: Press): void {
    const world = this.#world;
    const context = world.open(world.slots[press.slot] as Slot);
    if (!world.variant.guest || world.device.user === GUEST) {
      this.#pressed(context, press);
      return;
    }
    // Before any press, the app moves what the guest left unsettled: the page that did so before may have died in the middle.
    const pressed = (): void => void (context.dead || this.#pressed(context, press));
    this.bring(context).then(pressed, pressed);
  }

  #pressed(context: ExploredContext, { name = 'cart', payload, path = '/pay' }: Press): void {
    const world = this.#world;
    context.byHand = false;
    const op = world.opFor(world.device.user, name, payload);
    if (!op.payloads.includes(payload)) op.payloads.push(payload);
    const { consentMs } = world.variant;
    const background = consentMs === undefined ? undefined : { untilMs: context.device.wall() + consentMs };
    const call = this.#begin(context, op, 'fetch', payload, background);
    context.queued = () => queues(call);
    world.log(() => `${context.id}: ${world.device.user} presses ${name}${path === '/pay' ? '' : ` at ${path}`}, payload ${payload}`);
    const aborting = new AbortController();
    this.#aborts.set(call, aborting);
    const answer = context.once.fetch(new URL(path, SHOP), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-call': String(call.id) },
      body: world.body(op, payload),
      signal: aborting.signal,
      once: name === null ? {} : { operation: op.name, repeat: op.repeat, background, ...(world.variant.key && { key: world.variant.key }) },
      ...(context.kind === 'process' ? { redirect: 'manual' as const } : {}),
    });
    answer.then(
      (response) => this.#told(context, call, { by: 'answer', status: response.status, error: undefined, outcome: context.outcomeOf(response) }),
      (error: unknown) => this.#told(context, call, { by: 'error', status: undefined, error, outcome: context.outcomeOf(error) }),
    );
  }

  #begin(context: ExploredContext, op: OpFacts, verb: Call['verb'], payload: number, more: Pick<Call, 'untilMs' | 'inBackground'> = {}): Call {
    const world = this.#world;
    const begun = { id: world.calls.length, op, verb, context: context.id, user: context.device.user, payload, begunAt: world.steps.now, repeat: op.repeat };
    const call: Call = {
      ...begun,
      ...more,
      limitMs: LIMIT_MS,
      attemptMs: LIMIT_MS,
      required: false,
      setBackMs: 0,
      setsBack: 0,
      told: undefined,
      dead: false,
      diedAt: Number.POSITIVE_INFINITY,
    };
    world.calls.push(call);
    op.calls.push(call);
    context.mourners.add(() => void (call.told ?? Object.assign(call, { dead: true, diedAt: world.steps.now })));
    world.books.see({ kind: 'called', call });
    return call;
  }

  wake({ wakes }: Wake): void {
    const context = this.#world.open(this.#world.slots[wakes] as Slot);
    this.#world.log(() => `${context.id}: is woken`);
    if (!context.sweep) this.#resume(context, true);
  }

  /** One button that resumes everything that is pending, or a worker that goes on `inBackground`. */
  #resume(context: ExploredContext, inBackground = false): void {
    const world = this.#world;
    const { user } = world.device;
    const sweep = new Sweep((op) => this.#begin(context, op, 'resume', 0, { inBackground }));
    context.sweep = sweep;
    const hear = (call: Call, heard: Pick<Told, 'by' | 'status' | 'error' | 'outcome'>): void => this.#told(context, call, heard);
    const over = (whole: boolean, error: unknown): void => {
      context.sweep = undefined;
      world.log(() => `${context.id}: resume() ends`);
      // If another user's log-in or a closed client cut the run short, its operations stay pending, and nothing is said of them.
      const silent = whole && !context.closed && context.thawedAt === 0 && world.device.user === user ? sweep.open() : [];
      for (const call of silent) world.books.violate('outcome-is-true', call.op, 'resume() came to its end without a word of what it sent');
      for (const call of sweep.open()) hear(call, { by: 'error', status: undefined, error, outcome: undefined });
    };
    sweep
      .run(context, { concurrency: 2, takes: Number.POSITIVE_INFINITY, signal: undefined, inBackground }, ({ outcome, response }) => {
        const op = outcome.key === undefined ? undefined : world.books.keys.get(outcome.key)?.op;
        if (!op) return;
        hear(sweep.callFor(op), { by: 'answer', status: outcome.effect === 'unknown' ? undefined : response?.status, error: undefined, outcome });
      })
      .then(
        (whole) => over(whole, undefined),
        (error: unknown) => over(false, error),
      );
  }

  #told(context: ExploredContext, call: Call, heard: Pick<Told, 'by' | 'status' | 'error' | 'outcome'>): void {
    if (context.dead) return;
    const world = this.#world;
    const { error, outcome } = heard;
    const code = error === undefined ? undefined : isOnceError(error) ? error.code : String(error);
    const says = outcome ? `${outcome.effect} (${outcome.type}${'reason' in outcome ? `: ${outcome.reason}` : ''})` : code;
    world.log(() => `${context.id}: ${call.op.user} is told ${says}`);
    world.ends.add(outcome ? `${outcome.type}${'reason' in outcome ? `: ${outcome.reason}` : ''}` : (code ?? 'an answer without an outcome'));
    looks(call, world.lookedAt(context, call.op));
    world.books.see({ kind: 'told', call, op: call.op, told: { at: world.steps.now, code, ...heard } });
  }

  /** Whether the deed is possible now for the context in this slot. */
  possible(deed: Deed, slot: Slot): boolean {
    const { context } = slot;
    const lives = context !== undefined && !context.dead && !context.closed;
    const open = this.#world.calls.some((call) => !call.told && !call.dead && call.context === context?.id);
    switch (deed) {
      case 'crash':
        return lives && open;
      case 'abort':
        return lives && open;
      case 'close':
        return lives;
      case 'freeze':
        return lives && open && !context.frozen;
      case 'another user':
        return lives && this.#world.device.user === USERS[0];
      case 'log-in':
        return lives && this.#world.device.user === GUEST;
      case 'resume':
      case 'wake':
        return lives && !context.sweep && this.#op() !== undefined;
      case 'offline':
      case 'long offline':
        return slot.index === 0 && this.#world.device.online && this.#op() !== undefined;
      case 'server restart':
        return slot.index === 0 && this.#world.steps.parked.some(({ label }) => label === 'the server works');
      case 'settle':
        // The app must wait until the guest's operations are moved.
        return !this.bringing && this.#op() !== undefined && this.#world.truth(this.#op() as OpFacts) !== 'unknown';
      default:
        return this.#op() !== undefined;
    }
  }

  do(deed: Deed, slot: Slot): void {
    const world = this.#world;
    const op = this.#op();
    if (deed === 'crash') {
      slot.context?.kill();
      return;
    }
    if (deed === 'server restart') {
      world.log(() => 'the server is restarted');
      world.server.restart();
      return;
    }
    if (deed === 'offline' || deed === 'long offline') {
      world.log(() => `offline for ${OFFLINE_MS[deed]} ms`);
      world.device.setOnline(false);
      world.steps.timer(world.wire, OFFLINE_MS[deed], 'online again', () => world.device.setOnline(true));
      return;
    }
    const context = world.open(slot);
    world.log(() => `${context.id}: ${deed === 'settle' ? `the app settles it as ${world.truth(op as OpFacts)}` : SAYS[deed]}`);
    context.byHand = BY_HAND.has(deed);
    const { once } = context;
    const quiet = (work: Promise<unknown>): void => void work.catch(() => {});
    if (deed === 'abort') {
      const call = world.calls.filter((one) => !one.told && !one.dead && one.context === context.id).at(-1);
      if (call) this.#aborts.get(call)?.abort();
    } else if (deed === 'close') {
      context.closed = true;
      quiet(close(once));
    } else if (deed === 'freeze') {
      context.frozen = true;
      world.steps.timer(world.wire, FREEZE_MS, 'thaws', () => {
        context.frozen = false;
        context.thawedAt = world.steps.now;
      });
    } else if (deed === 'clear' || deed === 'log-out') {
      quiet(this.#clear(context));
      if (deed === 'log-out') world.device.user = world.device.user === USERS[0] ? USERS[1] : USERS[0];
    } else if (deed === 'another user') world.device.user = USERS[1];
    else if (deed === 'resume' || deed === 'wake') this.#resume(context, deed === 'wake');
    else if (deed === 'log-in') {
      world.device.user = USERS[0];
      quiet(this.bring(context));
    } else if (deed === 'settle') quiet(this.#settle(context, op as OpFacts));
    else quiet(this.#forget(context, op as OpFacts, deed === 'forget anyway'));
  }

  /** Moves what the guest left unsettled into the namespace of the user who logged in. */
  bring(context: ExploredContext): Promise<void> {
    this.bringing = true;
    context.byHand = true;
    context.mourners.add(() => this.#brought());
    return this.#world.doing(context, 'move', GUEST, () => this.#move(context)).finally(() => this.#brought());
  }

  /** Tries again if the store failed, as the guide says. */
  async #move(context: ExploredContext): Promise<void> {
    while (!context.dead && !context.closed)
      try {
        await move(context.once, GUEST);
        return;
      } catch (error) {
        this.#world.log(() => `${context.id}: move fails: ${String(error)}`);
      }
  }

  #brought(): void {
    this.bringing = false;
  }

  async #clear(context: ExploredContext): Promise<void> {
    const world = this.#world;
    const over = clears(world.calls, () => world.steps.now);
    const { kept } = await world.doing(context, 'clear', world.device.user, () => clear(context.once));
    over(kept.flatMap(({ key }) => world.books.keys.get(key) ?? []));
  }

  async #settle(context: ExploredContext, op: OpFacts): Promise<void> {
    const truth = this.#world.truth(op);
    if (truth === 'unknown') return;
    const over = byHand(op, this.#world.device.user, context.id, (call) => this.#drives(call));
    await this.#world.doing(context, 'settle', op, () => settle(context.once, op.name, truth), truth);
    this.#world.log(() => `${context.id}: it is settled`);
    over(truth === 'none', (checker, says) => this.#world.books.violate(checker, op, says));
  }

  async #forget(context: ExploredContext, op: OpFacts, anyway: boolean): Promise<void> {
    const over = byHand(op, this.#world.device.user, context.id, (call) => this.#drives(call));
    if (anyway) op.forgetsAnyway++;
    await this.#world.doing(context, 'forget', op, () => forget(context.once, op.name, { evenIfUnknown: anyway }), anyway ? 'anyway' : '');
    this.#world.log(() => `${context.id}: it is forgotten`);
    over(false, (checker, says) => this.#world.books.violate(checker, op, says));
  }

  /** Whether a caller still waits for the call, in a context that has never been frozen. */
  #drives(call: Call): boolean {
    const context = this.#world.slots.find((slot) => slot.context?.id === call.context)?.context;
    return !call.told && !call.dead && context !== undefined && context.thawedAt === 0 && !context.frozen;
  }

  /** The operation that the deeds are about: the last one that this user called. */
  #op(): OpFacts | undefined {
    const { calls, device } = this.#world;
    return calls.filter((call) => call.op.user === personOf(device.user)).at(-1)?.op;
  }
}

/** Deeds that use the store themselves, beside the calls. */
const BY_HAND: ReadonlySet<Deed> = new Set(['log-out', 'log-in', 'settle', 'forget', 'forget anyway', 'clear']);

/** What the log says of each deed. */
const SAYS: Readonly<Record<Deed, string>> = {
  crash: 'dies',
  abort: 'the call is aborted',
  'log-out': 'the person logs out',
  'another user': 'another user logs in, without a log-out',
  settle: '',
  forget: 'the app forgets it',
  'forget anyway': 'the app forgets it, whatever became of it',
  clear: 'the app clears its store',
  close: 'the client is closed',
  'log-in': 'the guest logs in, and brings along what is open',
  resume: 'the app resumes all that is pending',
  wake: 'is woken',
  offline: '',
  'long offline': '',
  'server restart': '',
  freeze: `freezes for ${FREEZE_MS} ms`,
};
