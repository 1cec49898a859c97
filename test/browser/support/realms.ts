/** Realms besides that of the test: frames, workers, shared workers. Each has a copy of the package, and runs functions of a test. */
import type * as Lib from '../realm/lib.js';

type Work<A extends unknown[], T> = (lib: typeof Lib, ...args: A) => T | Promise<T>;

export interface RealmError {
  readonly name?: string;
  readonly message: string;
  readonly code?: string;
  readonly outcome?: Lib.Outcome;
}

export interface Realm {
  /** Runs a function in the realm. It is sent as text, so it sees only `lib` and its arguments. */
  run<A extends unknown[], T>(work: Work<A, T>, ...args: A): Promise<T>;
  /** Ends the realm at once, as when its tab is closed. */
  close(): void;
}

export interface Frame extends Realm {
  readonly window: Window;
  reload(): Promise<void>;
  /** Loads the realm's page again, from whatever page the frame shows now. */
  renew(): Promise<void>;
  /** Resolves at the next load of the frame. */
  landed(): Promise<unknown>;
}

const open = new Set<Realm>();

/** Call it in `afterEach`. */
export function closeRealms(): void {
  for (const realm of open) realm.close();
  open.clear();
}

async function connected(post: (port: MessagePort) => void): Promise<Realm['run']> {
  const { port1, port2 } = new MessageChannel();
  const ready = new Promise<void>((resolve) => port1.addEventListener('message', () => resolve(), { once: true }));
  port1.start();
  post(port2);
  await ready;
  return runOver(port1);
}

function runOver(port: MessagePort): Realm['run'] {
  const waiting = new Map<number, { resolve(value: never): void; reject(error: RealmError): void }>();
  let last = 0;
  port.onmessage = ({ data }: MessageEvent<{ id: number; value?: never; error?: RealmError }>) => {
    const { resolve, reject } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if (data.error) reject?.(Object.assign(new Error(data.error.message), data.error));
    else resolve?.(data.value as never);
  };
  return (work, ...args) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      port.postMessage({ id, code: String(work), args });
    });
}

const remember = <R extends Realm>(realm: R): R => {
  open.add(realm);
  return realm;
};

/**
 * A frame of this origin, which is like another tab to the package. Frames with the same `copy` run the same script. `sandbox`: the attribute of this
 * name. Without `allow-same-origin` in it, the frame's page has no origin.
 */
export async function openFrame({ copy = 'a', path = '/site/realm.html', sandbox }: { copy?: string; path?: string; sandbox?: string } = {}): Promise<Frame> {
  const frame = document.createElement('iframe');
  if (sandbox !== undefined) frame.setAttribute('sandbox', sandbox);
  frame.src = `${path}?copy=${copy}`;
  const landed = () => new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  const load = async (go: () => void) => {
    const loaded = landed();
    go();
    await loaded;
    return connected((port) => window().postMessage('connect', sandbox === undefined ? location.origin : '*', [port]));
  };
  const window = () => frame.contentWindow as Window;
  let run = await load(() => document.body.append(frame));
  return remember({
    get window() {
      return window();
    },
    run: (work, ...args) => run(work, ...args),
    reload: async () => {
      run = await load(() => window().location.reload());
    },
    renew: async () => {
      run = await load(() => window().location.replace(`${path}?copy=${copy}`));
    },
    landed,
    close: () => frame.remove(),
  });
}

export async function openWorker({ copy = 'a' } = {}): Promise<Realm> {
  const worker = new Worker(`/site/realm/${copy}/realm.js`, { type: 'module' });
  const run = await connected((port) => worker.postMessage('connect', [port]));
  return remember({ run, close: () => worker.terminate() });
}

export async function openSharedWorker({ copy = 'a' } = {}): Promise<Realm> {
  const worker = new SharedWorker(`/site/realm/${copy}/realm.js?${crypto.randomUUID()}`, { type: 'module' });
  const ready = new Promise<void>((resolve, reject) => {
    worker.port.addEventListener('message', () => resolve(), { once: true });
    worker.addEventListener('error', () => reject(new Error('the shared worker did not start')));
  });
  worker.port.start();
  await ready;
  return remember({ run: runOver(worker.port), close: () => worker.port.close() });
}
