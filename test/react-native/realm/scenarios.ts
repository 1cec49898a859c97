/** The scenarios: what an app does with the packed package, in React Native's own JavaScript. Each resolves to what the customer sees. */
import { createOnce, type Once, type OnceOptions, type OnceRequestInit, outcomeOf, pending, resume, resumeInBackground } from 'oncefetch';
import { type ReactNativeParts, reactNative } from 'oncefetch/react-native';

export interface To {
  readonly base: string;
  readonly id: string;
  /** The storage of the app, by its name in `reactNative`. @default 'AsyncStorage' */
  readonly storage?: 'AsyncStorage' | 'kvStore' | 'mmkv';
}
export type Says = Record<string, unknown>;
export type Play = (to: To) => Promise<Says>;

/** Globals that the tests set, and globals that they read. */
interface World {
  /** The number of this launch of the app. */
  readonly __launch: number;
  readonly __disks: Readonly<Record<string, object>>;
  /** A second fetch beside the global one, if the app has one. */
  readonly __otherFetch?: typeof fetch;
  scenarios: Readonly<Record<string, Play>>;
  launch: Readonly<Record<'pay' | 'resume' | 'agree' | 'task', Play>>;
  wrong: Readonly<Record<string, () => unknown>>;
}
const world = globalThis as unknown as World;

let number = 0;
/** Not random, so that runs can be compared. */
const randomUUID = () => `00000000-0000-4000-8000-${String(world.__launch * 1000 + ++number).padStart(12, '0')}`;

type HearApp = (state: string) => void;
const listeners: HearApp[] = [];
const NetInfo = {
  addEventListener(hear: (state: { isConnected: boolean }) => void) {
    // Like the real module, calls the listener at once, and again although nothing has changed.
    hear({ isConnected: true });
    hear({ isConnected: true });
    return () => {};
  },
};
const AppState = {
  addEventListener(_: string, hear: HearApp) {
    listeners.push(hear);
    return { remove() {} };
  },
};
const app = (state: string) => {
  for (const hear of listeners) hear(state);
};

const LIMITS = { attemptMs: 4000, totalMs: 12_000, inProgressMs: 4000 };
/** For servers that never answer. With other servers, a busy machine must not end an attempt. */
const BRIEF: OnceOptions = { limits: { ...LIMITS, attemptMs: 300 } };
const RETRY = { minDelayMs: 5, maxDelayMs: 20 };

const client = ({ storage = 'AsyncStorage' }: To, more: OnceOptions = {}, parts: ReactNativeParts = {}) =>
  createOnce({
    ...reactNative({ [storage]: world.__disks[storage], NetInfo, AppState, randomUUID, ...parts }),
    namespace: 'u-7',
    limits: LIMITS,
    retry: RETRY,
    keep: { request: true },
    ...more,
  });

const BODY = '{"says":"héllo 世界 😀"}';

const call = (once: Once, { base, id }: To, path: string, more: OnceRequestInit = {}) =>
  once
    .fetch(`${base}/${path}/${id}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY, once: { operation: ['pay', id] }, ...more })
    .catch((error: Error & { code?: string }) => error);

async function seen(answer: Awaited<ReturnType<typeof call>>): Promise<Says> {
  const outcome = outcomeOf(answer);
  const says = 'json' in answer ? ((await answer.json()) as { says: unknown }).says : (answer.code ?? `${answer.name}: ${answer.message}`);
  return { effect: outcome?.effect ?? 'no outcome', type: outcome?.type, attempts: outcome?.attempts, says };
}

const pay =
  (path: string, more?: OnceRequestInit, options?: OnceOptions): Play =>
  async (to) =>
    seen(await call(client(to, options), to, path, more));

const form = new URLSearchParams();
form.append('says', 'hello');

world.scenarios = {
  'an answer': pay('ok'),
  'the answer is lost': pay('lose-answer'),
  'the server is away for a moment': pay('503'),
  'in progress': pay('in-progress'),
  declined: pay('declined'),
  'declined after a lost answer': pay('lose-then-decline'),
  'an attempt takes too long': pay('hang', {}, BRIEF),
  'the body is cut off': pay('cut'),
  'a redirect to a page': pay('redirect'),
  'nobody is there': async (to) => seen(await call(client(to, { limits: { ...LIMITS, attempts: 2 } }), { ...to, base: 'http://127.0.0.1:1' }, 'x')),
  'bytes as a body': (to) => pay('ok', { body: new TextEncoder().encode(BODY) })(to),
  'a form as a body': pay('form', { body: form, headers: {} }),
  'a fetch that was handed in': async (to) => {
    let calls = 0;
    const once = client(to, {
      fetch(url, init) {
        calls++;
        return (world.__otherFetch ?? fetch)(url, init);
      },
    });
    return { ...(await seen(await call(once, to, 'lose-answer'))), calls };
  },
  'the customer gives up': async (to) => {
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(), 60);
    return seen(await call(client(to), to, 'hang', { signal: leaving.signal }));
  },
  'two taps': async (to) => {
    const once = client(to);
    const [one, two] = await Promise.all([call(once, to, 'slow'), call(once, to, 'slow')]);
    return { one: await seen(one), two: await seen(two) };
  },
  'cut on the way to the background': async (to) => {
    const once = client(to, { retry: { minDelayMs: 60_000, maxDelayMs: 60_000 }, limits: { ...LIMITS, totalMs: 120_000 } });
    const paying = call(once, to, 'lose-answer');
    app('background');
    setTimeout(() => app('active'), 150);
    return seen(await paying);
  },
  'no source of keys': async (to) => seen(await call(client(to, {}, { randomUUID: undefined }), to, 'ok')),
};

const PATIENT: OnceOptions = { limits: { ...LIMITS, attemptMs: 2000 } };

/** For apps that are killed: the first launch pays, and later launches continue the operation that it left behind. */
world.launch = {
  pay: pay('lose-answer', {}, PATIENT),
  /** The customer agrees that the payment may continue when the app is closed. */
  agree: async (to) =>
    seen(await call(client(to, PATIENT), to, 'lose-answer', { once: { operation: ['pay', to.id], background: { untilMs: Date.now() + 3_600_000 } } })),
  /** The code that `expo-background-task` or `BGTaskScheduler` runs. */
  task: async (to) => {
    const ends: string[] = [];
    const { open } = await resumeInBackground(client(to, { ...PATIENT, onOutcome: ({ effect }) => void ends.push(effect) }));
    return { ends, open };
  },
  resume: async (to) => {
    const once = client(to, PATIENT);
    const ends: unknown[] = [];
    for await (const { name, outcome } of resume(once, { prefix: ['pay'] })) ends.push([name, outcome.effect]);
    return { ends, again: await seen(await call(once, to, 'lose-answer')), left: (await pending(once)).length };
  },
};

/** Functions that some React Native lacks. The controls check that calls to them fail there. */
world.wrong = {
  'crypto.randomUUID': () => crypto.randomUUID(),
  'AbortSignal.timeout': () => void AbortSignal.timeout(1),
  throwIfAborted: () => new AbortController().signal.throwIfAborted(),
};
