/** One operation by its name: every verb that needs no request of its own. */
import type { OperationName } from '../core/name.js';
import type { OperationOptions, RunOptions } from '../option-types.js';
import type { Client, Place } from './client.js';
import { live, type OperationState, watch } from './observe.js';
import { NOTHING_TO_READ, operate } from './operate.js';
import { placeOf } from './place.js';
import { forget, refresh, settleByHand } from './records.js';
import type { Attempt } from './running.js';

/** fetch's `init`, with options of an operation that has its name already. */
export interface OperationRequestInit extends RequestInit {
  once?: Omit<OperationOptions, 'operation'> | undefined;
}

/** A cheap handle: make one wherever it is needed. */
export interface Operation {
  readonly name: OperationName;
  /** `fetch`, for this operation. */
  readonly fetch: (input: string | URL | Request, init?: OperationRequestInit) => Promise<Response>;
  /** `run`, for this operation. */
  run<T>(effect: (attempt: Attempt) => T | PromiseLike<T>, options?: RunOptions<T>): Promise<T>;
  /** What a screen shows: the same object until it changes. */
  readonly state: OperationState;
  /** Calls back when `state` changes, also because somebody else has logged in or another tab changed it; the result unsubscribes. */
  subscribe(listener: () => void): () => void;
  /**
   * Goes on with what is stored, under its key. Without a stored request it asks `reconcile`.
   *
   * @throws ERR_ONCE_UNKNOWN if nobody can tell what became of it, or there is nothing to resume
   */
  resume(options?: { signal?: AbortSignal | undefined }): Promise<Response>;
  /**
   * Tells what the app learned elsewhere. `'none'` means none, *and none can any more*.
   *
   * @throws ERR_ONCE_BUSY while it is being driven; for `'none'` also if another context has sent it since this was called: look again
   * @throws ERR_ONCE_ALREADY_SETTLED for `'none'` on one that is done
   */
  settle(effect: 'done' | 'none'): Promise<void>;
  /**
   * Forgets it, so that the next call under its name is another operation.
   *
   * @throws ERR_ONCE_BUSY while it is being driven
   * @throws ERR_ONCE_UNKNOWN if it may have been sent, unless `evenIfUnknown`
   */
  forget(options?: { evenIfUnknown?: boolean | undefined }): Promise<void>;
}

const LOADING: OperationState = { phase: 'loading' };

export class Handle implements Operation {
  readonly name: OperationName;
  readonly fetch: Operation['fetch'];
  readonly #client: Client;

  readonly run: Operation['run'];

  constructor(client: Client, name: OperationName, fetch: Operation['fetch'], run: Operation['run']) {
    this.run = run;
    this.#client = client;
    this.name = name;
    this.fetch = fetch;
  }

  get state(): OperationState {
    const place = this.#placeNow();
    return place ? this.#load(place).state : LOADING;
  }

  subscribe(listener: () => void): () => void {
    const client = this.#client;
    // A wrapper, so that one listener may subscribe twice.
    const entry = (): void => listener();
    let slot: string | undefined;
    const leave = (): void => void (slot && client.registry.lives.get(slot)?.listeners.delete(entry));
    /** Goes over to the operation of whoever is here now; whether that is another one. */
    const follow = (place: Place | undefined): boolean => {
      if (place?.slot === slot) return false;
      leave();
      slot = place?.slot;
      if (place) this.#load(place, true).listeners.add(entry);
      return true;
    };
    follow(this.#placeNow());
    const off = watch(client, (elsewhere) => {
      const place = this.#placeNow();
      if (follow(place)) entry();
      else if (place && elsewhere) void refresh(client, place).catch(() => {});
    });
    return () => {
      off();
      leave();
    };
  }

  async resume({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<Response> {
    const place = placeOf(this.#client, this.name);
    const settings = { ...this.#client.settings, operation: this.name };
    return operate({ client: this.#client, settings, place, read: NOTHING_TO_READ, signal, request: undefined }) as Promise<Response>;
  }

  async settle(effect: 'done' | 'none'): Promise<void> {
    await settleByHand(this.#client, placeOf(this.#client, this.name), effect);
  }

  async forget({ evenIfUnknown = false }: { evenIfUnknown?: boolean | undefined } = {}): Promise<void> {
    await forget(this.#client, placeOf(this.#client, this.name), evenIfUnknown);
  }

  /** A screen may look before anybody has logged in. */
  #placeNow(): Place | undefined {
    try {
      return placeOf(this.#client, this.name);
    } catch {
      return undefined;
    }
  }

  /** `anew`: what is known was last followed by nobody, and may have changed elsewhere since. */
  #load(place: Place, anew = false) {
    const known = this.#client.registry.lives.has(place.slot);
    const found = live(this.#client.registry, place.slot);
    // What could not be read stays "loading"; the next look at a new screen asks again, and one that listens is told when it changes.
    if (!known || (anew && !found.listeners.size))
      void refresh(this.#client, place).catch(() => found.listeners.size || this.#client.registry.lives.delete(place.slot));
    return found;
  }
}
