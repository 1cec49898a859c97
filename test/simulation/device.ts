/** A phone, a laptop or a server machine: what its contexts share. */
import type { Locks, Tabs } from '../../src/ports.js';
import type { Context } from './context.js';
import { Medium } from './medium.js';
import type { World } from './world.js';

/** The wall-clock time at which the world begins. */
export const BEGAN = Date.UTC(2027, 0, 4, 9);

export interface DeviceOptions {
  readonly locks: boolean;
  readonly atomic: boolean;
  /** Drift of the wall clock, parts per million. */
  readonly driftPpm: number;
  readonly skewMs: number;
}

export class Device {
  readonly name: string;
  readonly medium: Medium;
  readonly options: DeviceOptions;
  readonly locks: LockManager | undefined;
  readonly contexts = new Set<Context>();
  /** How many sessions have ended. */
  sessions = 0;
  #user: string;
  online = true;
  /** By how much the device's clock was set back, in all, ms. */
  setBackMs = 0;
  setsBack = 0;
  readonly #world: World;
  #skewMs: number;

  constructor(world: World, name: string, user: string, options: DeviceOptions, medium = new Medium(world)) {
    this.#world = world;
    this.name = name;
    this.#user = user;
    this.options = options;
    this.#skewMs = options.skewMs;
    this.medium = medium;
    this.locks = options.locks ? new LockManager() : undefined;
  }

  /** The user whose session it is. The cookie is shared by all contexts of the device. */
  get user(): string {
    return this.#user;
  }

  set user(to: string) {
    if (to !== this.#user) this.sessions++;
    this.#user = to;
    // The app tells the page in which the user logs in. The other pages look when they are shown again.
    for (const context of this.contexts) context.lookAgain();
  }

  /** The device's wall clock. */
  wall(): number {
    return Math.floor(BEGAN + this.#world.time.now * (1 + this.options.driftPpm / 1e6) + this.#skewMs);
  }

  jump(ms: number): void {
    this.#skewMs += ms;
    if (ms >= 0) return;
    this.setBackMs -= ms;
    this.setsBack++;
  }

  setOnline(online: boolean): void {
    this.online = online;
    if (online) for (const context of this.contexts) context.wakeUp();
  }

  /** The channel between the tabs of this device. */
  tabsOf(context: Context): Tabs {
    return {
      // What another tab says has the same effect as the focus.
      open: () => ({
        onmessage: null,
        postMessage: () => {
          for (const other of this.contexts) if (other !== context) other.lookAgain();
        },
        close: () => {},
      }),
      listening: ({ focus = () => {} }) => {
        context.looks.add(focus);
        return () => void context.looks.delete(focus);
      },
    };
  }

  /** All contexts die, and relaxed commits that were not on the disk yet are lost. */
  powerLoss(): void {
    for (const context of [...this.contexts]) context.kill();
    this.medium.powerLoss();
  }
}

interface Waiter {
  readonly context: Context;
  readonly grant: (release: () => void) => void;
}

/** Like Web Locks: first come, first served. The locks of a dead context are released, those of a frozen one are not. */
export class LockManager {
  readonly #held = new Map<string, { readonly context: Context }>();
  readonly #waiting = new Map<string, Waiter[]>();

  for(context: Context): Locks {
    return {
      acquire: (name, signal) =>
        context.port('lock', (resolve, reject) => {
          if (context.lockHangs()) return;
          if (!this.#held.has(name)) return resolve(this.#take(name, context));
          if (!signal) return resolve(undefined);
          const waiter: Waiter = { context, grant: resolve };
          this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), waiter]);
          const leave = (): void => {
            const queue = this.#waiting.get(name) ?? [];
            if (!queue.includes(waiter)) return;
            this.#waiting.set(
              name,
              queue.filter((one) => one !== waiter),
            );
            reject(signal.reason);
          };
          if (signal.aborted) leave();
          else signal.addEventListener('abort', leave);
        }),
    };
  }

  free(context: Context): void {
    for (const [name, queue] of this.#waiting)
      this.#waiting.set(
        name,
        queue.filter((one) => one.context !== context),
      );
    for (const [name, holder] of [...this.#held]) if (holder.context === context) this.#release(name, holder);
  }

  #take(name: string, context: Context): () => void {
    const holder = { context };
    this.#held.set(name, holder);
    return () => this.#release(name, holder);
  }

  #release(name: string, holder: { readonly context: Context }): void {
    if (this.#held.get(name) !== holder) return;
    this.#held.delete(name);
    const [next, ...others] = this.#waiting.get(name) ?? [];
    if (!next) return void this.#waiting.delete(name);
    this.#waiting.set(name, others);
    next.grant(this.#take(name, next.context));
  }
}
