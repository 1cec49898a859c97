/** The browser's question before a page is left, while something is being sent. */
import { check } from '../check.js';
import type { Label } from '../core/ids.js';
import { namePrefix, type OperationName } from '../core/name.js';
import type { Client } from '../engine/client.js';
import * as observe from '../engine/observe.js';
import { clientOf, type Once } from '../once.js';

/** Which operations count, and for how long. */
export interface WarnOnLeaveOptions {
  /** Only operations whose names begin so. */
  prefix?: OperationName | undefined;
  /** Ends it when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** The page, as far as this needs it: workers and servers have none. */
const page = (): Pick<Window, 'addEventListener' | 'removeEventListener'> | undefined => ('document' in globalThis ? globalThis.window : undefined);

/**
 * Lets the browser ask "Leave this page?" while this page sends something, or waits to send it again. At any other time there is no
 * listener, so that the page stays fit for the back-forward cache. Where there is no page (a worker, a server) it does nothing.
 *
 * Browsers ask only after a click or a key press in the page, in words of their own, and phones may not ask at all: an operation that
 * is left is unsettled, and the next page goes on with it.
 *
 * @returns a function that ends it
 * @throws TypeError on a wrong option
 * @see https://developer.mozilla.org/docs/Web/API/Window/beforeunload_event
 * @example
 * const stop = warnOnLeave(once, { prefix: ['pay'] });
 */
export function warnOnLeave(once: Once, options: WarnOnLeaveOptions = {}): () => void {
  const client = clientOf(once, 'warnOnLeave');
  check(options, { prefix: 'array', signal: 'object' }, 'warnOnLeave');
  const { prefix, signal } = options;
  const begins = prefix?.length ? namePrefix(prefix).begins : undefined;
  const window = page();
  const asks = (event: BeforeUnloadEvent): void => {
    if (!isSending(client, begins)) return;
    event.preventDefault();
    // Chromium before version 119 looks at this instead.
    event.returnValue = true;
  };
  const look = (): void => {
    if (isSending(client, begins)) window?.addEventListener('beforeunload', asks);
    else window?.removeEventListener('beforeunload', asks);
  };
  const unwatch = observe.watch(client, look);
  const stop = (): void => {
    unwatch();
    window?.removeEventListener('beforeunload', asks);
  };
  if (signal?.aborted) stop();
  else look();
  signal?.addEventListener('abort', stop, { once: true });
  return stop;
}

/** Whether a call of this page has sent something that it knows no end of. Who waits for another tab would lose nothing. */
function isSending({ registry, store }: Client, begins: ((label: Label) => boolean) | undefined): boolean {
  return [...registry.flights.keys()].some((operationKey) => {
    const [scope, , label] = JSON.parse(operationKey) as [string, string, Label];
    const state = registry.lives.get(operationKey)?.state;
    const sends = state?.phase === 'sending' || (state?.phase === 'waiting' && state.why !== 'another-context' && state.attempt > 0);
    return sends && scope === store.scope && (!begins || begins(label));
  });
}
