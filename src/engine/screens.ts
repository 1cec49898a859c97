/** What screens show: the state of each operation, and when to look again. The engine only tells what happens, so a page without screens does not load this file. */
import type { OperationKey } from '../core/ids.js';
import type { Client, Registry } from './client.js';
import { guarded } from './observe.js';
import { refreshScreens } from './registry.js';
import type { OperationState, ShownState, Told } from './shown-state.js';
import { pendingOf } from './state-of-record.js';
import { hearTabs } from './tabs.js';

export const LOADING: OperationState = { phase: 'loading' };
/** From this many states on, the oldest are dropped. A screen that shows such an operation again reads the store. */
const STATES_MAX = 500;
/** How many of the oldest states each call examines to find one that can be dropped. */
const LOOKS = 32;

const isUnderWay = ({ phase }: OperationState): boolean => /^(sending|waiting)$/.test(phase);

/** From now on, the calls of this realm show on its screens what happens. */
function open({ registry }: Client): Registry {
  const { flights, states } = registry;
  if (!registry.show) {
    // A call that has ended without a word may have left the state as it was.
    for (const [key, { state }] of states) if (isUnderWay(state) && !flights.has(key)) states.delete(key);
    // Of many calls, `states` has only the last, and those that are under way may have begun before them.
    for (const [key, { told }] of flights) if (told) states.set(key, { state: told as OperationState, listeners: new Set() });
  }
  registry.show ??= show;
  return registry;
}

/** The state that screens of this realm show of an operation. Makes it if there is none yet. */
export function shownState(client: Client, operationKey: OperationKey): ShownState {
  const { states } = open(client);
  const known = states.get(operationKey);
  if (known) {
    const told = known.state as Told;
    if ('left' in told) known.state = { phase: 'unsettled', pending: pendingOf(client, operationKey, told.left) };
    return known;
  }
  // Look at only a few of them, so that a call costs the same however many states there are, and however many of them must stay.
  let looks = states.size < STATES_MAX ? 0 : LOOKS;
  for (const [oldest, one] of states) {
    if (looks-- <= 0) break;
    states.delete(oldest);
    // A screen watches it, or a call is in flight: keep it, now as the newest.
    if (one.listeners.size || isUnderWay(one.state)) states.set(oldest, one);
  }
  const made: ShownState = { state: LOADING, listeners: new Set() };
  states.set(operationKey, made);
  return made;
}

/** Shows what a call tells. If it tells nothing, resets a stale `sending` or `waiting`. */
function show(client: Client, operationKey: OperationKey, told?: Told): void {
  const { registry } = client;
  const shown = registry.states.get(operationKey);
  if (!told && !(shown && isUnderWay(shown.state))) return;
  // No screen would read the store because of this, so the next look does.
  if (!told && !shown?.listeners.size) return void registry.states.delete(operationKey);
  const target = shownState(client, operationKey);
  // What is `left` becomes a state when a screen looks at it.
  target.state = (told ?? LOADING) as OperationState;
  for (const listener of [...target.listeners]) guarded(client, listener);
  refreshScreens(registry);
}

/** Calls back whenever a screen should look again. The result unsubscribes, and takes effect even while screens are being told. */
export function watch(client: Client, screen: (stored: boolean | OperationKey) => void): () => void {
  const { screens, hearing } = open(client);
  const listener = (stored: boolean | OperationKey): void => (screens.has(listener) ? guarded(client, () => screen(stored)) : undefined);
  if (!screens.size) hearing.off = hearTabs(client);
  screens.add(listener);
  return () => {
    if (screens.delete(listener) && !screens.size) hearing.off?.();
  };
}
