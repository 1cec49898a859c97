/** What each action of a plan does to the world. */
import { clear, close, forget as forgetOperation, operation as operationOf, pending, settle as settleOperation } from '../../src/entries/index.js';
import type { App } from './app.js';
import type { Context } from './context.js';
import type { Device } from './device.js';
import type { OpFacts } from './facts.js';
import type { FaultName } from './faults.js';
import type { Action, Deed, DoWhat } from './plan.js';
import { GUEST, type Slot, USERS, type World } from './world.js';

const DAY_MS = 86_400_000;

interface Scene {
  readonly world: World;
  readonly app: App;
  readonly slot: Slot;
  /** The context that runs in the slot now, if there is one. */
  readonly context: Context | undefined;
}

/** What people do on a page. On a frozen page nobody can press anything, so these wait until it thaws. */
const BY_HAND = new Set<DoWhat>(['press', 'resume', 'resume-all', 'forget', 'settle', 'list', 'log-out', 'log-in', 'close', 'close-other']);

const opOf = ({ world, slot: { device }, context }: Scene, name: number): OpFacts => world.opFor(context?.user ?? device.user, name, 1);

/** Switches a condition on, and off again after `ms`. */
const awhile = ({ world }: Scene, fault: FaultName, ms: number, set: (on: boolean) => void): void => {
  world.faults.count(fault);
  set(true);
  world.time.after(ms, () => set(false));
};

const deeds: { readonly [D in DoWhat]: (action: Deed<D>, scene: Scene) => unknown } = {
  press: (action, { app }) => app.press(action),
  resume: ({ slot, name }, scene) => scene.app.resume(scene.app.open(slot), opOf(scene, name)),
  'resume-all': (action, { app }) => app.resumeAll(app.open(action.slot), action),
  list: ({ slot }, { app }) => pending(app.open(slot).anyOnce).catch(() => {}),
  forget: ({ slot, name, anyway }, scene) => forget(scene.world, scene.app.open(slot), opOf(scene, name), anyway),
  settle: ({ slot, name, lie = false, soon = false }, scene) =>
    settle(scene, scene.app.open(slot), opOf(scene, name), lie ? 'lie' : soon ? 'settle-soon' : 'settle'),
  elsewhere({ name }, scene) {
    scene.world.faults.count('elsewhere');
    opOf(scene, name).elsewhere = true;
  },
  'log-out': ({ to, forget = false }, scene) => logOut(scene, [...USERS, GUEST][to] as string, forget),
  'log-in'({ slot }, { world, app }) {
    const context = app.open(slot);
    if (context.device.user !== GUEST) return;
    world.faults.count('logIn');
    world.log(() => `${context.id} logs in`);
    // The user has one session on all machines that share the store, and each of their contexts moves what the guest left unsettled. With a lag, each page
    // has a session of its own, and only the page of the log-in has the user's at once.
    const { sharedStore } = world.options;
    for (const device of sharedStore ? world.devices : [context.device]) {
      switchUser(world, device, USERS[0], context, (one) => {
        if (!one.closed && !one.frozen && one.user === USERS[0]) void app.bring(one);
      });
    }
  },
  restart(_, { world, app, slot, context }) {
    if (!context) return;
    world.faults.count('restart');
    context.kill();
    app.boot(slot);
  },
  die(_, { world, context }) {
    if (context) world.faults.count('restart');
    context?.kill();
  },
  'close-other'(_, { context }) {
    if (context?.other) void close(context.other);
  },
  close(_, { context }) {
    if (!context) return undefined;
    context.closed = true;
    if (context.client.apart && context.other) void close(context.other);
    return close(context.once);
  },
  freeze({ ms }, { world, context }) {
    world.faults.count('frozen');
    context?.freeze(ms);
  },
  'clock-jump'({ ms }, { world, slot }) {
    world.faults.count('clockJump');
    slot.device.jump(ms);
  },
  'store-clock'({ ms }, { world }) {
    world.faults.count('clockJump');
    world.storeSetMs += ms;
  },
  'clock-slip'({ ms, days }, { world, slot }) {
    world.faults.count('clockSlip');
    slot.device.jump(days * DAY_MS);
    world.time.after(ms, () => slot.device.jump(-days * DAY_MS));
  },
  offline: ({ ms }, scene) => awhile(scene, 'offline', ms, (on) => scene.slot.device.setOnline(!on)),
  full: ({ ms }, scene) => awhile(scene, 'full', ms, (on) => void (scene.slot.device.medium.full = on)),
  deaf: ({ ms }, scene) => awhile(scene, 'lookFails', ms, (on) => void (scene.slot.device.medium.deaf = on)),
  evict(_, { world, slot }) {
    world.faults.count('evicted');
    slot.device.medium.evict();
  },
  'power-loss'(_, { world, slot }) {
    world.faults.count('powerLoss');
    slot.device.powerLoss();
  },
  'server-restart'(_, { world }) {
    world.faults.count('serverRestart');
    for (const server of world.servers) server.restart();
  },
};

export function act(world: World, app: App, action: Action): unknown {
  const { slot, context } = world.at('slot' in action ? action.slot : 0);
  if (context?.frozen && BY_HAND.has(action.do)) {
    context.later(0, () => act(world, app, action));
    return undefined;
  }
  if (!BY_HAND.has(action.do)) world.log(() => `${slot.device.name}: ${action.do}`);
  return (deeds[action.do] as (action: Action, scene: Scene) => unknown)(action, { world, app, slot, context });
}

function forget(world: World, context: Context, op: OpFacts, anyway: boolean): Promise<unknown> {
  if (anyway) op.forgetsAnyway++;
  const once = context.anyOnce;
  const operation = operationOf(once, world.requests.nameOf(op));
  return world.doing(context, 'forget', op, () => forgetOperation(once, operation.name, { evenIfUnknown: anyway })).catch(() => {});
}

/**
 * Settles with the truth, if it is known. `lie`: the app settles with something untrue, or with "none" when nobody can know yet. `settle-soon`: with
 * what its server knows at this moment.
 */
function settle({ world }: Scene, context: Context, op: OpFacts, how: 'settle' | 'settle-soon' | 'lie'): Promise<unknown> | undefined {
  const truth = world.truth(op, { soon: how === 'settle-soon' });
  const word = how === 'lie' ? (truth === 'none' ? 'done' : 'none') : truth;
  if (word === 'unknown') return undefined;
  if (how === 'lie') world.faults.count('lie');
  const once = context.anyOnce;
  const operation = operationOf(once, world.requests.nameOf(op));
  return world.doing(context, how, op, () => settleOperation(once, operation.name, word)).catch(() => {});
}

/** Changes the session of `page` at once, and that of each other page when the change reaches it. */
function switchUser(world: World, device: Device, to: string, page: Context | undefined, arrived: (context: Context) => void): void {
  const { logInLagMs: lag = 0 } = world.options;
  const random = world.random.of('log-in', world.time.now);
  for (const one of device.contexts) if (lag && one !== page) one.session ??= device.user;
  device.user = to;
  for (const one of device.contexts) {
    const arrives = (): void => {
      one.session = undefined;
      arrived(one);
    };
    if (one.session) one.later(random.int(0, lag), arrives);
    else arrives();
  }
}

function logOut({ world, app, slot: { device } }: Scene, to: string, forgets: boolean): Promise<unknown> | undefined {
  world.faults.count('logOut');
  const context = [...device.contexts].find((one) => !one.closed && !one.session);
  let cleared: Promise<unknown> | undefined;
  if (context) {
    world.log(() => `${context.id} logs ${device.user} out`);
    const how = forgets ? ({ unsettled: 'forget' } as const) : {};
    cleared = world.doing(context, forgets ? 'clear-forget' : 'clear', device.user, () => clear(context.anyOnce, how)).catch(() => {});
  }
  // The cookie changes a moment later, while `clear` may still be under way.
  world.time.after(world.random.of('log-out', world.time.now).int(0, 20), () => {
    if (to === GUEST) world.carts++;
    switchUser(world, device, to, context, (one) => {
      if (world.options.guests && !one.closed && !one.frozen && one.user === USERS[0]) void app.bring(one);
    });
  });
  return cleared;
}
