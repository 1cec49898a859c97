/** The service worker's part of an outbox: when operations go on, and for which user. */
import { type Around, extend, hooks, type InBackground, type Once, type OnceOptions, resumeInBackground } from 'oncefetch';
import { isActive, type SyncEvent, scope } from './scope.js';

/** Who is logged in. */
export interface OutboxOptions {
  /**
   * Finds out who is logged in now, because a worker has no page to ask. It is called before the store is read, and again before every
   * attempt. If it returns nothing, throws, or takes longer than ten seconds, nothing is sent. @default the client's own `namespace`
   */
  namespace?: (() => string | null | undefined | Promise<string | null | undefined>) | undefined;
}

/** What is known of the present user. */
interface Here {
  user: string | undefined;
  /** `namespace` failed or was too slow. */
  unsure: boolean;
  /** When this was last confirmed, wall clock, ms. */
  at?: number;
}

const TAG = 'oncefetch';
const ASK_MS_MAX = 10_000;
/** An answer of `namespace` that is older than this does not allow sending, ms. */
const AGED_MS = 1000;

/**
 * In a service worker: resumes the operations that customers agreed to (`once.background`) when the worker starts, when the browser
 * sends a `sync` event, and when the device comes online. Call it synchronously while the worker's script runs for the first time.
 * How each operation ends is told to the client's `onOutcome`. With the option `namespace`, listeners given to `subscribe` are not told.
 *
 * @param once - the client, with the same options as in pages
 * @returns a function that resumes at once, for your own events; give its promise to their `waitUntil`
 * @throws TypeError on a wrong client or option, or if this is not a service worker
 * @see https://wicg.github.io/background-sync/spec/
 * @example
 * outbox(once, { namespace: async () => (await cookieStore.get('user'))?.value });
 */
export function outbox(once: Once, options: OutboxOptions = {}): () => Promise<InBackground> {
  const own = scope();
  const asks = checked(once, options);
  const here: Here = { user: undefined, unsure: false };
  const go = asks ? goFor(once, asks, here) : () => resumeInBackground(once);
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<InBackground> | undefined;
  // One run at a time. A request during a run gets the next run, which sees what was stored meanwhile.
  const goOn = (): Promise<InBackground> => {
    next ??= last.then(started, started);
    return next;
  };
  const started = (): Promise<InBackground> => {
    const run = go();
    last = run;
    next = undefined;
    return run;
  };
  const quietly = (): Promise<unknown> => goOn().catch((error: unknown) => own.reportError?.(error));
  // No `waitUntil` here: the browser holds requests of pages until the worker is active, and the worker may wait for a page that is paying.
  own.addEventListener('activate', () => void quietly());
  // A version that is not active yet leaves this to the active one. If the browser does not tell, this may be the active one.
  own.addEventListener('online', () => own.serviceWorker?.state.startsWith('inst') || void quietly());
  own.addEventListener('sync', (event) => event.tag === TAG && event.waitUntil(goOn().then(retried(event, here))));
  // A new version of the worker that is not active yet leaves this to the active one.
  if (isActive(own)) void quietly();
  return goOn;
}

/** Rejects if operations are left, so that the browser sends the `sync` event again, some minutes later. */
const retried =
  ({ lastChance }: SyncEvent, here: Here) =>
  ({ open }: InBackground): void => {
    if (lastChance) return;
    if (here.unsure) throw new Error('once: outbox.namespace could not tell who is here');
    if (open) throw new Error(`once: operations left to resume later: ${open}`);
  };

function checked(once: Once, options: OutboxOptions): OutboxOptions['namespace'] {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(`once: outbox takes a client from createOnce, got ${once === null ? 'null' : typeof once}`);
  const { namespace, ...others } = options;
  for (const name of Object.keys(others)) throw new TypeError(`once: there is no option outbox.${name}`);
  if (namespace !== undefined && typeof namespace !== 'function') throw new TypeError(`once: outbox.namespace must be a function, got ${typeof namespace}`);
  return namespace;
}

/** The part of a client's inside that is used. */
interface Inside {
  readonly settings: Pick<OnceOptions, 'headers' | 'reconcile'>;
  readonly parts: object;
  readonly platform: { readonly clock: { now(): number } };
  readonly transport: { send(url: string, init: RequestInit): Promise<Response> };
}

/**
 * Resumes operations of the present user. The client asks for its namespace synchronously right before it sends, so it gets the last
 * answer of `asks`, which must be new.
 */
function goFor(once: Once, asks: NonNullable<OutboxOptions['namespace']>, here: Here): () => Promise<InBackground> {
  const { settings, parts, platform, transport } = once['~oncefetch']() as Inside;
  const still = async (before: string | undefined): Promise<void> => {
    const at = platform.clock.now();
    const { user } = await inTime(asks);
    // Longer than `inTime` waits: the device slept. An attempt that asks in `leave` may then be hours late, and nothing after this checks its time.
    // `here.user` differs if another attempt has learned meanwhile that the user has changed.
    if (platform.clock.now() - at > ASK_MS_MAX || user !== before || here.user !== before) {
      here.user = undefined;
      throw new Error('another user has logged in');
    }
    here.at = platform.clock.now();
  };
  /** Wraps a hook of the client, which may ask a server in the present session. If the user has changed, does not call the hook, or drops its answer. */
  const inSession =
    <Q, A>(hook: (question: Q) => A | Promise<A>) =>
    async (question: Q): Promise<A> => {
      const before = here.user;
      await still(before);
      const given = await hook(question);
      // The hook may have been slow, and have returned a token of a user who logged in meanwhile.
      await still(before);
      return given;
    };
  // A hook for `around()`. The feature itself is not imported, so that a worker whose client has no such hooks need not load it.
  const last: Around = (_, send) => still(here.user).then(() => send());
  /** Checks the user once more right before sending, because a read of the store may have taken long since the last answer of `asks`. */
  const leave = async (input: unknown, init?: RequestInit): Promise<Response> => {
    if (Math.abs(platform.clock.now() - (here.at ?? 0)) > AGED_MS) await still(here.user);
    return transport.send(String(input), init ?? {});
  };
  const { headers, reconcile } = settings;
  const client = extend(once, {
    namespace: () => here.user,
    fetch: leave,
    headers: headers ? inSession(headers) : () => still(here.user).then(() => ({})),
    ...(reconcile && { reconcile: inSession(reconcile) }),
    // Added as the innermost hook, because the app's own hooks may be slow, too.
    use: [hooks(), ...('around' in parts ? [{ parts: { [Symbol('around')]: last } }] : [])],
  });
  return async () => {
    Object.assign(here, await inTime(asks));
    return here.user === undefined ? { open: 0 } : resumeInBackground(client);
  };
}

/** Asks who the user is, within ten seconds. `user` is `undefined` if nobody is logged in, or if nobody can tell (`unsure`). */
async function inTime(asks: NonNullable<OutboxOptions['namespace']>): Promise<Here> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ASK_MS_MAX);
  });
  try {
    const given = await Promise.race([asks(), late]);
    return { user: typeof given === 'string' && given !== '' ? given : undefined, unsure: false };
  } catch {
    return { user: undefined, unsure: true };
  } finally {
    clearTimeout(timer);
  }
}
