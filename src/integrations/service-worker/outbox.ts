/** The service worker's part of an outbox: when it goes on, and for whom. */
import { type Around, extend, type InBackground, type Once, type OnceOptions, resumeInBackground } from 'oncefetch';
import { isActive, type SyncEvent, scope } from './scope.js';

/** Who is logged in. */
export interface OutboxOptions {
  /**
   * Finds out who is logged in now: a worker has no page to ask. Asked before anything is looked at, and again before every
   * attempt; where it gives nothing, throws or takes longer than ten seconds, nothing is sent. @default the client's own `namespace`
   */
  namespace?: (() => string | null | undefined | Promise<string | null | undefined>) | undefined;
}

/** Who is here, as far as this is known. */
interface Here {
  user: string | undefined;
  /** Nobody could tell. */
  unsure: boolean;
  /** When that was last known, wall clock, ms. */
  at?: number;
}

const TAG = 'oncefetch';
const ASK_MS_MAX = 10_000;
/** From then on an answer is too old to send by. */
const AGED_MS = 1000;

/**
 * In a service worker: goes on with what customers agreed to (`once.background`) when the worker starts, when its browser sends a
 * `sync` event, and when the device comes online. Call it while the script is read for the first time.
 * How each one ends is told to `onOutcome` of the client; with `namespace`, what was given to `subscribe` hears nothing of it.
 *
 * @param once - the client, with the options that it has in pages
 * @returns what goes on at once, for events of your own; give its promise to their `waitUntil`
 * @throws TypeError on a wrong client or option, or where this is no service worker
 * @see https://wicg.github.io/background-sync/spec/
 * @example
 * outbox(once, { namespace: async () => (await cookieStore.get('user'))?.value });
 */
export function outbox(once: Once, options: OutboxOptions = {}): () => Promise<InBackground> {
  const { registration, own } = scope();
  const asks = checked(once, options);
  const here: Here = { user: undefined, unsure: false };
  const go = asks ? goFor(once, asks, here) : () => resumeInBackground(once);
  let running: Promise<InBackground> | undefined;
  let next: Promise<InBackground> | undefined;
  // One at a time. Whoever asks in the middle of one gets the one after it, which sees what was stored meanwhile.
  const goOn = (): Promise<InBackground> => {
    next ??= (running ?? Promise.resolve()).then(started, started);
    return next;
  };
  const started = (): Promise<InBackground> => {
    running = go().finally(() => {
      running = undefined;
    });
    next = undefined;
    return running;
  };
  const quietly = (): Promise<unknown> => goOn().catch((error: unknown) => own.reportError?.(error));
  // It is not told to wait: a browser holds what pages ask for until the worker is active, and the worker waits for pages that pay.
  own.addEventListener('activate', () => void quietly());
  own.addEventListener('online', () => void quietly());
  own.addEventListener('sync', (event) => event.tag === TAG && event.waitUntil(goOn().then(retried(event, here))));
  // A new version that waits for its turn leaves it to the one that is there.
  if (isActive(own, registration)) void quietly();
  return goOn;
}

/** A `sync` event that fails comes again, after minutes. */
const retried =
  ({ lastChance }: SyncEvent, here: Here) =>
  ({ open }: InBackground): void => {
    if (lastChance) return;
    if (here.unsure) throw new Error('once: outbox.namespace could not tell who is here');
    if (open) throw new Error(`once: ${open} operations are to go on later`);
  };

function checked(once: Once, options: OutboxOptions): OutboxOptions['namespace'] {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(`once: outbox takes a client from createOnce, got ${once === null ? 'null' : typeof once}`);
  const { namespace, ...others } = options;
  for (const name of Object.keys(others)) throw new TypeError(`once: there is no option outbox.${name}`);
  if (namespace !== undefined && typeof namespace !== 'function') throw new TypeError(`once: outbox.namespace must be a function, got ${typeof namespace}`);
  return namespace;
}

/** What is used of the inside of a client. */
interface Inside {
  readonly settings: Pick<OnceOptions, 'headers' | 'reconcile'>;
  readonly parts: object;
  readonly platform: { readonly clock: { now(): number } };
  readonly transport: { send(url: string, init: RequestInit): Promise<Response> };
}

/** Goes on for whoever is there. The client asks for its namespace right before it sends, and gets the answer of a moment before. */
function goFor(once: Once, asks: NonNullable<OutboxOptions['namespace']>, here: Here): () => Promise<InBackground> {
  const { settings, parts, platform, transport } = once['~oncefetch']() as Inside;
  const still = async (before: string | undefined): Promise<void> => {
    const { user } = await inTime(asks);
    // An answer that is slower than that to another attempt is older, too.
    if (user !== before || here.user !== before) {
      here.user = undefined;
      throw new Error('another user has logged in');
    }
    here.at = platform.clock.now();
  };
  /** A hook of the client, which asks a server with the session of whoever is here: it is not called, or not believed, where that is somebody else. */
  const inSession =
    <Q, A>(hook: (question: Q) => A | Promise<A>) =>
    async (question: Q): Promise<A> => {
      const before = here.user;
      await still(before);
      const given = await hook(question);
      // It may have taken its time, for a token of whoever is here by now.
      await still(before);
      return given;
    };
  // What `around` would give, but for the feature itself: the client has that, and a worker without hooks need not load it.
  const last: Around = (_, send) => still(here.user).then(() => send());
  /** In the last moment: a slow look at the store may have come since somebody told who is here. */
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
    // The innermost hook: those around it may have taken their time, too.
    ...('around' in parts && { use: [{ name: 'around', parts: { [Symbol('around')]: last } }] }),
  });
  return async () => {
    Object.assign(here, await inTime(asks));
    return here.user === undefined ? { open: 0 } : resumeInBackground(client);
  };
}

/** The user; `undefined`: nobody, or nobody can tell (`unsure`). */
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
