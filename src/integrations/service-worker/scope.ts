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

export function scope(): { readonly own: Scope; readonly registration: ServiceWorkerRegistration } {
  if (!('ServiceWorkerGlobalScope' in globalThis)) throw new TypeError('once: outbox must be called in a service worker');
  const own = globalThis as unknown as Scope;
  return { own, registration: own.registration };
}

/** Whether this is the active worker, not a new version that is being installed. */
export const isActive = ({ serviceWorker }: Scope, { active, installing, waiting }: ServiceWorkerRegistration): boolean =>
  serviceWorker ? serviceWorker.state === 'activated' : active !== null && !installing && !waiting;
