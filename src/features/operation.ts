/** One operation for a screen: its state, and `fetch` under its name. */

import type { OperationKey } from '../core/ids.js';
import { encodeName, type OperationName } from '../core/name.js';
import { readRecord } from '../core/record.js';
import { addressOf, idsOf } from '../engine/address.js';
import type { Client, OperationAddress } from '../engine/client.js';
import { live, publish, stateOf, watch } from '../engine/observe.js';
import type { OperationState } from '../engine/observed.js';
import { readStored, storedIn, storeForOperation } from '../engine/record-access.js';
import { keyedOperationOf } from '../engine/registry.js';
import { callFetch, clientOf, type Once } from '../once.js';
import type { OperationOptions } from '../option-types.js';

/** fetch's `init`, with options of an operation that has its name already. */
export interface OperationRequestInit extends RequestInit {
  once?: Omit<OperationOptions, 'operation'> | undefined;
}

/** What a screen needs of one operation. It is cheap: make one wherever it is needed. */
export interface Operation {
  readonly name: OperationName;
  /** `once.fetch`, under this name. */
  readonly fetch: (input: string | URL | Request, init?: OperationRequestInit) => Promise<Response>;
  /** What a screen shows: the same object until it changes. */
  readonly state: OperationState;
  /** Calls back when `state` changes, also because somebody else has logged in or another tab changed it; the result unsubscribes. */
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

/** The same object each time, whatever looks found nothing. */
const IDLE: OperationState = { phase: 'idle' };

/** Reads what is stored for the screens of one operation. */
async function showStored(client: Client, address: OperationAddress): Promise<void> {
  const { operationKey } = address;
  const { flights, lives, payloads } = client.registry;
  const before = lives.get(operationKey)?.state;
  const place = { client, operationKey, ...(await idsOf(client, address)) };
  const record = readRecord(await readStored(place));
  const held = record && payloads.has(keyedOperationOf(operationKey, record.key));
  const state = stateOf(record, storedIn(storeForOperation(place)), false, held);
  // A call, or a change by hand, is at it. It may end without a word to screens, such as one that is refused.
  const flight = flights.get(operationKey);
  if (flight) await flight.landed;
  const shown = lives.get(operationKey)?.state;
  // One of those ended, or another look came first, while this one was on its way: what it found may be older than what is shown.
  if (flight ? shown === before : shown && shown !== before) return showStored(client, address);
  // An operation without an effect leaves its name free; its screen says so until something else begins.
  const stays = state.phase === 'idle' && shown?.phase === 'settled' && shown.outcome.effect === 'none';
  if (!flight && !stays) publish(client, operationKey, state);
}

/** After this time what could not be read is looked at again, ms. */
const LOOK_AGAIN_MS = 2000;

/** What will be looked at again. */
const again = new WeakSet<object>();

/** Reads what is stored; as long as that fails, and somebody listens, once more after a while. */
async function look(client: Client, address: OperationAddress): Promise<void> {
  const { lives } = client.registry;
  try {
    await showStored(client, address);
  } catch {
    const found = lives.get(address.operationKey);
    // What could not be read stays "loading"; the next look at a new screen asks again.
    if (!found?.listeners.size) lives.delete(address.operationKey);
    else if (!again.has(found)) {
      again.add(found);
      client.platform.clock.timer(LOOK_AGAIN_MS, () => {
        again.delete(found);
        if (found.listeners.size && !client.closing.aborted) void look(client, address);
      });
    }
  }
}

const LOADING: OperationState = { phase: 'loading' };

class ObservedOperation implements Operation {
  readonly name: OperationName;
  readonly fetch: Operation['fetch'];
  readonly #client: Client;

  constructor(client: Client, name: OperationName) {
    this.#client = client;
    this.name = name;
    this.fetch = (input, init) => callFetch(client, input, init, name);
  }

  get state(): OperationState {
    const address = this.#placeNow();
    const state = address ? this.#load(address).state : LOADING;
    return state.phase === 'idle' ? IDLE : state;
  }

  subscribe(listener: () => void): () => void {
    const client = this.#client;
    let over = false;
    // A wrapper, so that one listener may subscribe twice, and hears nothing more once another one has ended it.
    const entry = (): void => (over ? undefined : listener());
    let operationKey: OperationKey | undefined;
    const leave = (): void => void (operationKey && client.registry.lives.get(operationKey)?.listeners.delete(entry));
    /** Goes over to the operation of whoever is here now; whether that is another one. */
    const follow = (address: OperationAddress | undefined): boolean => {
      if (address?.operationKey === operationKey) return false;
      leave();
      operationKey = address?.operationKey;
      if (address) this.#load(address, true).listeners.add(entry);
      return true;
    };
    follow(this.#placeNow());
    const off = watch(client, (elsewhere) => {
      const address = this.#placeNow();
      if (follow(address)) entry();
      else if (address && elsewhere) void look(client, address);
    });
    return () => {
      over = true;
      off();
      leave();
    };
  }

  /** A screen may look before anybody has logged in. */
  #placeNow(): OperationAddress | undefined {
    try {
      return addressOf(this.#client, this.name);
    } catch {
      return undefined;
    }
  }

  /** `anew`: what is known was last followed by nobody, and may have changed elsewhere since. */
  #load(address: OperationAddress, anew = false) {
    const { lives } = this.#client.registry;
    const { operationKey } = address;
    const known = lives.has(operationKey);
    const found = live(this.#client.registry, operationKey);
    if (!known || (anew && !found.listeners.size)) void look(this.#client, address);
    return found;
  }
}
