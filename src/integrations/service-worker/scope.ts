/** The part of a service worker's scope that the outbox uses. TypeScript's own types for it can't be used together with those of pages. */

interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

export interface SyncEvent extends WorkerEvent {
  readonly tag: string;
  /** The browser will not try again. */
  readonly lastChance: boolean;
}

interface Events {
  readonly activate: Event;
  readonly online: Event;
  readonly sync: SyncEvent;
}

export interface Scope {
  readonly registration: ServiceWorkerRegistration;
  /** This worker itself. Absent in older browsers. */
  readonly serviceWorker?: ServiceWorker | undefined;
  addEventListener<Type extends keyof Events>(type: Type, listener: (event: Events[Type]) => unknown): void;
  reportError?(error: unknown): void;
}

export function scope(): Scope {
  if (!('ServiceWorkerGlobalScope' in globalThis)) throw new TypeError('once: outbox must be called in a service worker');
  return globalThis as unknown as Scope;
}

/** Whether this is the active worker, not a new version that is being installed. */
export const isActive = ({ serviceWorker, registration: { active, installing, waiting } }: Scope): boolean =>
  serviceWorker ? serviceWorker.state === 'activated' : active !== null && !installing && !waiting;
