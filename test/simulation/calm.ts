/** After the storm: every fault ends, every call returns, and whatever is pending is driven to its end. */
import { pending as listPending, move } from '../../src/entries/index.js';
import type { App } from './app.js';
import { reconcileIn } from './client.js';
import type { Context } from './context.js';
import type { OpFacts } from './facts.js';
import { GUEST, type Slot, USERS, type World } from './world.js';

const HOUR_MS = 3_600_000;
/** Longer than anything that a world leaves on the wire. */
const REST_MS = 2 * HOUR_MS;
/** The limit of a call that can ask the app. It is longer than a call waits for work in progress, so that time is left for `reconcile`. */
const PATIENT_MS = 300_000;
/** Guards against a list of pages that never ends. */
const PAGES_MAX = 1000;

export async function calmDown(world: World, app: App): Promise<void> {
  world.log(() => '--- calm');
  world.faults.stop();
  for (const device of world.devices) {
    device.medium.full = false;
    device.medium.deaf = false;
    device.setOnline(true);
    for (const context of device.contexts) context.thaw();
  }
  await world.time.run(world.time.now + REST_MS);
  for (const context of world.contexts.values()) if (!context.dead && !context.closed) context.screens?.atRest();
  const places = world.devices.map((device) => world.slots.find((slot) => slot.device === device) as Slot);
  if (world.options.guests) for (const slot of places) await settled(world, move(fresh(world, app, slot, USERS[0], false).once, GUEST));
  for (const slot of places) for (const user of USERS) await list(world, fresh(world, app, slot, user, false), user);
  world.books.atRest();
  for (const slot of places) for (const user of USERS) await drive(world, app, slot, user);
  await world.time.run(Number.POSITIVE_INFINITY);
  for (const op of world.books.ops.values())
    if (op.unsettled) world.books.violate('settles-when-calm', op, `it was driven in calm and did not settle: ${op.unsettled}`);
}

function fresh(world: World, app: App, slot: Slot, user: string, reconciles: boolean): Context {
  slot.context?.kill();
  slot.device.user = user;
  if (!reconciles) return app.boot(slot);
  const limits = { ...world.releaseFor(slot).limits, totalMs: PATIENT_MS };
  return app.boot(slot, { limits, reconcile: (question) => reconcileIn(world, slot.context as Context)(question) });
}

/** Marks every key that `pending()` lists, and returns the listed operations. */
async function list(world: World, context: Context, user: string): Promise<OpFacts[]> {
  const found = new Set<OpFacts>();
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const pending = await settled(world, listPending(context.once, { limit: 20, after }));
    for (const one of pending) {
      const key = world.books.keys.get(one.key);
      if (!key || key.op.user !== user) throw new Error(`pending() of ${user} shows a key that nobody knows: ${one.key}`);
      key.listed = true;
      found.add(key.op);
    }
    after = pending.at(-1)?.cursor;
    if (pending.length < 20) break;
  }
  return [...found];
}

/** Runs the world until the promise settles. Throws if it rejects, or has not settled after 100 rounds. */
async function settled<T>(world: World, work: Promise<T>): Promise<T> {
  const outcome: { value?: T; error?: unknown; there: boolean } = { there: false };
  work.then(
    (value) => Object.assign(outcome, { value, there: true }),
    (error) => Object.assign(outcome, { error, there: true }),
  );
  for (let i = 0; i < 100 && !outcome.there; i++) await world.time.run(world.time.now + 10_000);
  if (!outcome.there || 'error' in outcome) throw outcome.error ?? new Error('no answer in calm');
  return outcome.value as T;
}

/**
 * Drives each pending operation to its end. First the same code calls again with each payload that was ever sent, the latest first, because
 * only an app knows which payload it means. Then an app calls that can ask its server. After that, the operation must have settled.
 */
async function drive(world: World, app: App, slot: Slot, user: string): Promise<void> {
  const ops = await list(world, fresh(world, app, slot, user, false), user);
  world.stats.leftPending += ops.length;
  let open = ops;
  for (const reconciles of [false, true]) {
    for (let round = 0; open.length > 0 && round < PAYLOADS_MAX; round++) {
      // The previous context may have died while it held a lease, and an app may be set not to wait for leases.
      slot.context?.kill();
      await world.time.run(world.time.now + DRIVE_MS);
      const context = fresh(world, app, slot, user, reconciles);
      // Nobody but the function of a run makes its calls.
      for (const op of new Set(open.map((one) => world.pressed(one)))) {
        const payload = op.payloads[op.unnamed ? 0 : op.payloads.length - 1 - round];
        if (payload !== undefined) app.call(context, op, reconciles ? { payload, totalMs: PATIENT_MS } : { payload });
      }
      await world.time.run(world.time.now + DRIVE_MS);
      const pending = new Set(await list(world, fresh(world, app, slot, user, false), user));
      open = open.filter((op) => (op.unnamed ? pending.has(op) : !ended(op) && (pending.has(op) || !isForgotten(op))));
      // Unnamed calls that equal a torn record wait until the server has forgotten its key. Pressing them again would only take the others' time.
      for (const op of open.filter(isTorn)) world.books.apart('record-torn', op);
      open = open.filter((op) => !isTorn(op));
      if (open.every((op) => (op.unnamed ? UNNAMED_ROUNDS : op.payloads.length) <= round)) break;
    }
    if (!reconciles) world.stats.onlyReconcile += open.length;
  }
  for (const op of ops) op.unsettled = open.includes(op) ? (op.calls.at(-1)?.told?.outcome?.type ?? op.calls.at(-1)?.told?.code ?? 'not told') : undefined;
}

/** Longer than any call. */
const DRIVE_MS = 600_000;
/** Rounds for unnamed operations: lost calls with equal content are taken up one after another. */
const UNNAMED_ROUNDS = 20;
/** No form in these worlds is edited more often. */
const PAYLOADS_MAX = 60;

/** A sweep found the record due for the second time and removed it, while the calm was driving the operation. */
const isForgotten = ({ apart, epoch }: OpFacts): boolean => apart.has(`left-for-a-month ${epoch}`);

const isTorn = ({ unnamed, keys }: OpFacts): boolean => unnamed && [...keys.values()].some(({ damaged }) => damaged);

function ended(op: OpFacts): boolean {
  const effect = op.calls.at(-1)?.told?.outcome?.effect;
  return effect === 'done' || effect === 'none';
}
