/** One operation for a screen: its state, and `fetch` under its name. */

import { checkOne } from '../check.js';
import type { OperationKey } from '../core/ids.js';
import { encodeName, type OperationName, typeOf } from '../core/name.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { addressOf, idsOf } from '../engine/address.js';
import type { Client, OperationAddress } from '../engine/client.js';
import { publish } from '../engine/observe.js';
import { readStored } from '../engine/record-access.js';
import { LOADING, shownState, watch } from '../engine/screens.js';
import type { OperationState } from '../engine/shown-state.js';
import { stateOf } from '../engine/state-of-record.js';
import { callFetch, clientOf, type Once } from '../once.js';
import type { OnceInit, OperationOptions } from '../option-types.js';
import { wrong } from '../texts/full.js';

/** fetch's `init`, plus options for an operation whose name is given already. */
export interface OperationRequestInit extends RequestInit {
  once?: Omit<OperationOptions, 'operation'> | undefined;
}

/** What a screen needs to show and send one operation. It is cheap: make one wherever you need it. */
export interface Operation {
  readonly name: OperationName;
  /** `once.fetch`, under this name. */
  readonly fetch: (input: string | URL | Request, init?: OperationRequestInit) => Promise<Response>;
  /** What a screen shows. It is the same object until it changes. */
  readonly state: OperationState;
  /** Calls back when `state` changes, also if another user has logged in or another tab made the change. The result unsubscribes. */
  subscribe(listener: () => void): () => void;
}

/**
 * One operation, for a screen that shows its state and sends it.
 *
 * @throws TypeError on a wrong name
 * @example
 * const payment = operation(once, ['pay', cart.id]);
 * payment.subscribe(() => show(payment.state.phase));
 */
export function operation(once: Once, name: OperationName): Operation {
  const client = clientOf(once, 'operation');
  encodeName(name);
  return new ObservedOperation(client, Object.freeze([...name]));
}

/** Shown for every idle state, so that screens get the same object, although each look that finds nothing makes a new one. */
const IDLE: OperationState = { phase: 'idle' };

/** A state as text; a name may have integers that JSON cannot hold. */
const textOf = (state: OperationState | undefined): string | undefined => JSON.stringify(state, (_, value) => (typeof value === 'bigint' ? `${value}` : value));

/**
 * Drops what this page last knew to be open, if another tab has ended it as none, or has forgotten it: once a sweep has removed that record, the next press
 * would otherwise go on with the old key.
 */
function dropEnded({ registry: { lastKnown } }: Client, operationKey: OperationKey, found: OnceRecord | undefined): void {
  const known = lastKnown.get(operationKey);
  if (found?.state === 'retired' && !found.keyInUse && known?.key === found.key && !known.ending) lastKnown.delete(operationKey);
}

/**
 * Reads the stored record, and shows it on the operation's screens. `mounted`: it reads because a screen has begun to listen. Then it tells
 * screens of changes only, because a component that makes a client at each render would otherwise be rendered without end.
 */
async function showStored(client: Client, address: OperationAddress, mounted: boolean): Promise<void> {
  const { operationKey } = address;
  const { flights, states } = client.registry;
  const before = states.get(operationKey)?.state;
  const place = { client, operationKey, ...(await idsOf(client, address)) };
  const stored = await readStored(place);
  dropEnded(client, operationKey, readRecord(stored));
  let state = stateOf(client, operationKey, stored);
  // A call or a change by hand is in flight. Wait for its end, because it may end without telling screens, for example if it is refused.
  const flight = flights.get(operationKey);
  if (flight) await flight.landed;
  const shown = states.get(operationKey)?.state;
  // Read again if the record may be outdated: something was in flight and told screens nothing, or the state has changed since the read began.
  if (flight ? shown === before : shown && shown !== before) return showStored(client, address, mounted);
  // After an operation without an effect nothing is stored. Its screen goes on showing that end until something else begins. A damaged record may be that,
  // but says nothing against what else was read: also not against an end that another tab has stored, while this page last knew the operation open.
  const isDamaged = stored && !readRecord(stored);
  // No `resume` finds a damaged record.
  if (isDamaged && state.phase === 'idle' && shown?.phase === 'unsettled') state = { ...shown, pending: { ...shown.pending, resumable: false } };
  const effect = shown?.phase === 'settled' && shown.outcome.effect;
  const stays = isDamaged ? effect === 'done' : state.phase === 'idle' && effect === 'none';
  if (flight || stays || (mounted && textOf(shown) === textOf(state))) return;
  const found = states.get(operationKey);
  // Nobody subscribes, so the next look shows it. If two clients disagree on whether it is resumable, and screens look whenever they are told of a change,
  // telling them here would make them look without end.
  if (found?.state.phase === state.phase && !found.listeners.size) found.state = state;
  else publish(client, operationKey, state);
}

/** How long after a failed read the store is read again, ms. */
const LOOK_AGAIN_MS = 2000;

/** Reads the stored record. If that fails and a screen listens, tries again after a while. */
async function look(client: Client, address: OperationAddress, mounted = false): Promise<void> {
  const { states } = client.registry;
  try {
    await showStored(client, address, mounted);
  } catch {
    const found = states.get(address.operationKey);
    // Without listeners, drop the state, so that the next screen reads again. What is unsettled is read at each look anyway.
    if (!found?.listeners.size) found?.state.phase !== 'unsettled' && states.delete(address.operationKey);
    else if (found.scheduled?.aborted !== false) {
      found.scheduled = client.closing;
      client.platform.clock.timer(LOOK_AGAIN_MS, () => {
        found.scheduled = undefined;
        if (found.listeners.size && !client.closing.aborted) void look(client, address);
      });
    }
  }
}

/**
 * Reads the stored record in a microtask, so that many screens of one operation, which are told in one tick, share one read. Each of several reads
 * would show its result to all of them, and those that it overtakes would read again.
 */
function lookOnce(client: Client, address: OperationAddress): void {
  const found = shownState(client, address.operationKey);
  if (found.reader === client) return;
  found.reader = client;
  void Promise.resolve().then(() => {
    found.reader = undefined;
    return look(client, address);
  });
}

class ObservedOperation implements Operation {
  readonly name: OperationName;
  readonly fetch: Operation['fetch'];
  readonly #client: Client;

  constructor(client: Client, name: OperationName) {
    this.#client = client;
    this.name = name;
    this.fetch = async (input, init) => {
      const given: OnceInit | undefined = init?.once;
      const other = Array.isArray(given) ? given : (given as OperationOptions | undefined)?.operation;
      if (other) throw new TypeError(wrong('this operation', 'name-given', typeOf(other)));
      return callFetch(client, input, init, name);
    };
  }

  /** Vue and Alpine wrap the objects in their state in proxies, which cannot read private fields. They leave an object with this member alone (Vue's `markRaw`). */
  get __v_skip(): boolean {
    return true;
  }

  get state(): OperationState {
    const address = this.#placeNow();
    if (!address) return LOADING;
    const found = this.#load(address);
    const { state } = found;
    // Nobody subscribes, so nobody tells this page that another tab has settled it. One read at a time, because a store may be slower than the looks come.
    if (state.phase === 'unsettled' && !found.listeners.size && !found.looks) {
      found.looks = true;
      void look(this.#client, address, true).then(() => (found.looks = false));
    }
    return state.phase === 'idle' ? IDLE : state;
  }

  subscribe(listener: () => void): () => void {
    const client = this.#client;
    checkOne(listener, 'function', 'the listener of subscribe');
    let over = false;
    // Wrap the listener, so that it can subscribe twice, and is not called after it has unsubscribed, even if that happens while listeners are called.
    const entry = (): void => (over ? undefined : listener());
    let operationKey: OperationKey | undefined;
    const leave = (): void => void (operationKey && client.registry.states.get(operationKey)?.listeners.delete(entry));
    /** Follows the present user's operation; `true` if that is another one than before. */
    const follow = (address: OperationAddress | undefined): boolean => {
      if (address?.operationKey === operationKey) return false;
      leave();
      operationKey = address?.operationKey;
      if (address) this.#load(address, true).listeners.add(entry);
      return true;
    };
    follow(this.#placeNow());
    const off = watch(client, (stored) => {
      const address = this.#placeNow();
      if (follow(address)) entry();
      else if (address && (stored === true || stored === address.operationKey)) lookOnce(client, address);
    });
    return () => {
      over = true;
      off();
      leave();
    };
  }

  /** The present address; `undefined` while nobody is logged in. */
  #placeNow(): OperationAddress | undefined {
    try {
      return addressOf(this.#client, encodeName(this.name));
    } catch {
      return undefined;
    }
  }

  /**
   * The operation's state in this realm; reads the store if it is new. `anew`: reads it also if no screen was following, because it may
   * have changed elsewhere.
   */
  #load(address: OperationAddress, anew = false) {
    const { states } = this.#client.registry;
    const { operationKey } = address;
    const known = states.get(operationKey);
    const found = shownState(this.#client, operationKey);
    if (found !== known || (anew && !found.listeners.size)) void look(this.#client, address, true);
    return found;
  }
}
