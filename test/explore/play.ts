/** Plays one schedule from its beginning to its end, and judges what happens. */
import { pending } from '../../src/entries/index.js';
import type { Call, KeyFacts, OpFacts, Violation } from '../simulation/facts.js';
import { simulateSignals } from '../simulation/signals.js';
import { App, type Deed, type LogIn, type Pause, type Press, type Wake } from './app.js';
import type { Chooser, Option } from './choices.js';
import type { Owner, Step } from './steps.js';
import type { Variant } from './variants.js';
import { ExploredWorld, type Slot, USERS } from './world.js';

/** Far more than any small world needs. */
const STEPS_MAX = 3000;
/** How often a persistent customer presses at most, on a network that works. */
const PRESSES_MAX = 4;
/** Longer than the lock of a server that died stays held. */
const PAUSE_MS = 120_000;

export interface Played {
  readonly violations: readonly Violation[];
  readonly lines: readonly string[];
  /** The schedule came to a state from which everything has been played already. */
  readonly known: boolean;
  readonly ends: ReadonlySet<string>;
  readonly verdicts: ReadonlySet<string>;
  readonly steps: number;
}

/** Whether everything that can follow this state has been played. */
export type Known = (state: () => string, left: Chooser['left'], at: number) => boolean;

/** The reasons of an unknown outcome that, by the guide, only the app can resolve: it asks its server. */
const ASKS: ReadonlySet<string> = new Set(['key-expired', 'burnt', 'elsewhere']);

/** Steps of the world that come by the clock. */
const ON_TIME: ReadonlySet<string> = new Set(['thaws', 'online again']);

const LANDMARK = /^(press|time)/;

interface Way {
  readonly option: Option;
  go(): void;
}

/** The budget at the end of a schedule: no choice is left. */
const NONE_LEFT = { faults: 0, switches: 0 };

/** Every microtask runs before the next immediate. */
const rest = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

class Play {
  readonly world: ExploredWorld;
  readonly app: App;
  readonly chooser: Chooser;
  readonly #variant: Variant;
  readonly #known: Known;
  #turn: Owner | undefined;
  /** The owner of the step that is being taken. */
  #inside: Owner | undefined;
  #next = 0;
  steps = 0;

  constructor(variant: Variant, chooser: Chooser, known: Known, tracing: boolean) {
    this.#variant = variant;
    this.chooser = chooser;
    this.#known = known;
    this.world = new ExploredWorld(variant, chooser, tracing);
    this.app = new App(this.world);
    // A choice within a step goes into the history of the step's owner. Which step was taken is in the histories anyway.
    chooser.chosen = (label) => this.#inside?.history.add(label);
  }

  /** Plays until nothing is left to happen, or `enough` says so. Resolves with `true` if the rest of the schedule has been played already. */
  async run(enough: () => boolean): Promise<boolean> {
    for (; ; this.steps++) {
      await rest();
      if (this.steps > STEPS_MAX) throw new Error(`no rest after ${STEPS_MAX} steps`);
      if (this.world.books.violations.length || enough()) return false;
      const ways = this.#ways();
      const first = ways[0];
      const { chooser } = this;
      if (!first) return !chooser.calm && this.#known(() => this.world.end(), NONE_LEFT, chooser.points.length);
      // If only one way is left, it is enough to compare states from time to time.
      const options = ways.map(({ option }) => option);
      const looks = !chooser.calm && (chooser.open(options) || LANDMARK.test(first.option.label));
      if (looks && this.#known(() => this.world.state(`${this.#turn?.dead ? '' : this.#turn?.id} ${this.#next}`), chooser.left, chooser.points.length))
        return true;
      this.#inside = undefined;
      const way = ways[chooser.choose(options, () => this.#more())] as Way;
      way.go();
    }
  }

  /** Plays what happened before the world begins, without faults. */
  async before(): Promise<void> {
    const { world, chooser } = this;
    const { before = [] } = this.#variant;
    chooser.calm = true;
    for (const one of before) {
      this.#do(one);
      await this.run(() => world.steps.enabled().length === 0 && world.calls.every(({ told }) => told));
    }
    chooser.calm = false;
    if (before.length) world.lines.length = 0;
  }

  /** The ways in which the world can go on within the bounds. The first one is what happens without faults and switches. */
  #ways(): Way[] {
    const { chooser } = this;
    const ways: Way[] = [];
    for (const way of this.#orders()) {
      ways.push(ways.length > 0 ? { ...way, option: { ...way.option, switches: 1 } } : way);
      // The bounds do not allow the other ways.
      if (chooser.calm || chooser.left.switches === 0) break;
    }
    return chooser.calm || ways.length === 0 || chooser.left.faults === 0 ? ways : [...ways, ...this.#faults()];
  }

  /** Whether there is more than one way if the bounds are ignored. */
  #more(): boolean {
    const [, second] = this.#orders();
    return second !== undefined || this.#faults().length > 0;
  }

  /** The ways in which the world can go on without a fault: they differ only in order. */
  *#orders(): Generator<Way> {
    const { world, chooser } = this;
    const { steps } = world;
    const enabled = steps.enabled();
    const rank = ({ owner }: Step): number => (owner === this.#turn ? 0 : owner === world.wire ? 1 : 2);
    for (let mine = 0; mine < 3; mine++)
      for (const step of enabled) if (rank(step) === mine) yield { option: { label: `${step.owner.id}: ${step.label}` }, go: () => this.#take(step) };
    const told = world.calls.every((call) => call.told || call.dead);
    const press = this.app.bringing || chooser.calm ? undefined : this.#variant.agenda[this.#next];
    const waits = press !== undefined && 'waitMs' in press;
    const pressing: Way = { option: { label: waits ? 'hours go by' : `press ${this.#next + 1}` }, go: () => this.#press() };
    if (press && told) yield pressing;
    // Time does not pass while a step is possible, unless that step belongs to a frozen context.
    if (enabled.length === 0 && steps.waits()) yield { option: { label: 'time passes' }, go: () => void steps.pass() };
    if (press && !told && !waits) yield pressing;
    for (const step of steps.held) yield { option: { label: `late: ${step.label}` }, go: () => this.#take(step) };
  }

  /** The faults and deeds that are possible now, besides those of a message or a store. */
  #faults(): Way[] {
    const { world, app } = this;
    const ways: Way[] = [];
    const step = world.steps.enabled().find(({ owner, label }) => owner === world.wire && !ON_TIME.has(label));
    if (step && this.#variant.late !== false) ways.push({ option: { label: `held back: ${step.label}`, faults: 1 }, go: () => this.#hold(step) });
    for (const slot of world.slots)
      for (const deed of this.#variant.deeds)
        if (app.possible(deed, slot)) ways.push({ option: { label: `${deed} in ${slot.index + 1}`, faults: 1 }, go: () => this.#deed(deed, slot) });
    return ways;
  }

  #hold(step: Step): void {
    this.world.log(() => `held back: ${step.label}`);
    this.world.steps.hold(step);
  }

  #deed(deed: Deed, slot: Slot): void {
    this.#inside = slot.context;
    slot.context?.history.add(deed);
    this.app.do(deed, slot);
  }

  #take(step: Step): void {
    const { world } = this;
    this.#inside = step.owner;
    if (step.owner !== world.wire) this.#turn = step.owner;
    world.steps.take(step);
  }

  #press(): void {
    const press = this.#variant.agenda[this.#next++];
    if (press) this.#do(press);
  }

  #do(press: Press | Pause | Wake | LogIn): void {
    if ('logsIn' in press) {
      this.#deed('log-in', this.world.slots[press.logsIn] as Slot);
      return;
    }
    if ('wakes' in press) {
      this.#inside = this.#turn = this.world.open(this.world.slots[press.wakes] as Slot);
      this.#inside.history.add('wake');
      this.app.wake(press);
      return;
    }
    if ('waitMs' in press) {
      this.world.log(() => `${press.waitMs / 3_600_000} hours go by`);
      this.world.steps.now += press.waitMs;
      return;
    }
    const context = this.world.open(this.world.slots[press.slot] as Slot);
    context.history.add(JSON.stringify(press));
    this.#inside = this.#turn = context;
    this.app.press(press);
  }

  /** Faults are over. Everything comes to rest, and each customer presses again until the outcome is known. */
  async calm(): Promise<void> {
    const { world, chooser } = this;
    chooser.calm = true;
    world.device.setOnline(true);
    if (this.#variant.guest) await this.#bring();
    const users = new Set([...world.books.ops.values()].map(({ user }) => user));
    for (const user of users) await this.#list(user);
    world.books.atRest();
    for (const op of [...world.books.ops.values()]) if (op.calls.length) await this.#pressOn(op);
  }

  /** Kills all contexts, as if the user had just loaded the page. */
  #fresh(user: string): void {
    const { world } = this;
    for (const slot of world.slots) slot.context?.kill();
    world.device.user = user;
  }

  async #bring(): Promise<void> {
    this.#fresh(USERS[0]);
    let over = false;
    void this.app.bring(this.world.open(this.world.slots[0] as Slot)).finally(() => void (over = true));
    await this.run(() => over);
  }

  async #list(user: string): Promise<void> {
    this.#fresh(user);
    const { world } = this;
    const found = pending(world.open(world.slots[0] as Slot).once);
    let over = false;
    void found.finally(() => void (over = true));
    await this.run(() => over);
    if (!over) return;
    for (const { key } of await found) {
      const facts: KeyFacts | undefined = world.books.keys.get(key);
      if (facts) facts.listed = true;
    }
  }

  async #pressOn(op: OpFacts): Promise<void> {
    const { world } = this;
    let said: string | undefined;
    world.log(() => `all is calm; ${op.user} presses on`);
    const path = this.#variant.agenda.flatMap((one) => ('path' in one && one.path) || []).at(-1);
    for (const payload of [...op.payloads].reverse())
      for (let press = 0; press < PRESSES_MAX; press++) {
        this.#fresh(op.user);
        world.steps.now += PAUSE_MS;
        const before = op.calls.length;
        this.app.press({ slot: 0, name: op.unnamed ? null : String(op.name[1]), payload, ...(path ? { path } : {}) });
        this.#turn = world.slots[0]?.context;
        let call: Call | undefined;
        await this.run(() => {
          call = op.calls[before];
          return call?.told !== undefined;
        });
        if (world.books.violations.length) return;
        const outcome = call?.told?.outcome;
        if (outcome?.effect === 'done' || outcome?.effect === 'none') return;
        said = outcome && 'reason' in outcome ? outcome.reason : call?.told?.code;
        if (said !== undefined && ASKS.has(said)) world.asks = true;
      }
    world.books.violate('settles-when-calm', op, `pressed ${PRESSES_MAX} times on a network that works, and still nobody knows: ${said}`);
  }
}

export interface Playing {
  /** Whether to keep the log of what happens. */
  readonly tracing?: boolean;
  /** Whether to end with a calm: faults are over, and customers press until they know. */
  readonly calm?: boolean;
}

/** Plays a schedule. It stops at a state from which everything has been played (`known`). */
export async function play(variant: Variant, chooser: Chooser, known: Known = () => false, { tracing = true, calm = true }: Playing = {}): Promise<Played> {
  const nativeSignals = simulateSignals();
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const one = new Play(variant, chooser, known, tracing);
  const { world } = one;
  let stopped = false;
  const unhandled = (error: unknown): void => world.books.violate('outcome-is-true', undefined, `a rejection that nobody handles: ${String(error)}`);
  process.on('unhandledRejection', unhandled);
  try {
    await one.before();
    stopped = await one.run(() => false);
    if (calm && !stopped && !world.books.violations.length) await one.calm();
  } catch (error) {
    world.books.violate('settles-when-calm', undefined, String((error as Error).stack ?? error));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', unhandled);
    nativeSignals();
  }
  const { violations } = world.books;
  for (const { checker, says } of violations) world.lines.push(`VIOLATION of ${checker}: ${says}`);
  return { violations, lines: world.lines, known: stopped, ends: world.ends, verdicts: world.verdicts, steps: one.steps };
}
