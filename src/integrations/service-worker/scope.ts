/** The scope of a service worker, as far as the outbox uses it: TypeScript has it only beside that of pages, not with it. */

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
  /** Itself. Absent in older browsers. */
  readonly serviceWorker?: ServiceWorker | undefined;
  addEventListener<Type extends keyof Events>(type: Type, listener: (event: Events[Type]) => unknown): void;
  reportError?(error: unknown): void;
}

export function scope(): { readonly own: Scope; readonly registration: ServiceWorkerRegistration } {
  if (!('ServiceWorkerGlobalScope' in globalThis)) throw new TypeError('once: outbox belongs into a service worker');
  const own = globalThis as unknown as Scope;
  return { own, registration: own.registration };
}

/** Whether this is the worker whose turn it is, and not a new version that is being installed. */
export const isActive = ({ serviceWorker }: Scope, { active, installing, waiting }: ServiceWorkerRegistration): boolean =>
  serviceWorker ? serviceWorker.state === 'activated' : active !== null && !installing && !waiting;
