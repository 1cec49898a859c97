// @ts-nocheck: it runs in React Native, on the packed package.
/** What an app does, on the real package, in React Native's own JavaScript. Each gives what the customer would see. */
import { createOnce, outcomeOf } from 'oncefetch';
import { reactNative } from 'oncefetch/react-native';

let number = 0;
/** Not random, so that runs can be compared; what it stands for is tried in `keys`. */
const randomUUID = () => `00000000-0000-4000-8000-${String(globalThis.__launch * 1000 + ++number).padStart(12, '0')}`;

const listeners = { app: [] };
const NetInfo = {
  addEventListener(hear) {
    // As the real one: at once, and again when nothing has changed.
    hear({ isConnected: true });
    hear({ isConnected: true });
    return () => {};
  },
};
const AppState = {
  addEventListener(_, hear) {
    listeners.app.push(hear);
    return { remove() {} };
  },
};
const app = (state) => {
  for (const hear of listeners.app) hear(state);
};

const LIMITS = { attemptMs: 300, totalMs: 8000, inProgressMs: 4000 };
const RETRY = { minDelayMs: 5, maxDelayMs: 20 };

const client = (more = {}, parts = {}) =>
  createOnce({
    ...reactNative({ AsyncStorage: globalThis.__disk, NetInfo, AppState, randomUUID, ...parts }),
    namespace: 'u-7',
    limits: LIMITS,
    retry: RETRY,
    keep: { request: true },
    ...more,
  });

const call = (once, { base, path, id }, more = {}) =>
  once
    .fetch(`${base}/${path}/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"says":"héllo 世界 😀"}',
      once: { operation: ['pay', id] },
      ...more,
    })
    .catch((error) => error);

async function seen(answer) {
  const outcome = outcomeOf(answer);
  const says = typeof answer.json === 'function' ? (await answer.json()).says : (answer.code ?? `${answer.name}: ${answer.message}`);
  return { effect: outcome?.effect ?? 'no outcome', type: outcome?.type, attempts: outcome?.attempts, says };
}

const pay = (path) => async (to) => seen(await call(client(), { ...to, path }));

globalThis.scenarios = {
  'an answer': pay('ok'),
  'the answer is lost': pay('lose-answer'),
  'the server is away for a moment': pay('503'),
  'in progress': pay('in-progress'),
  declined: pay('declined'),
  'declined after a lost answer': pay('lose-then-decline'),
  'an attempt takes too long': pay('hang'),
  'the body is cut off': pay('cut'),
  'a redirect to a page': pay('redirect'),
  'nobody is there': async (to) => seen(await call(client({ limits: { ...LIMITS, attempts: 2 } }), { ...to, base: 'http://127.0.0.1:1', path: 'x' })),
  'bytes as a body': async (to) => seen(await call(client(), { ...to, path: 'ok' }, { body: new TextEncoder().encode('{"says":"héllo 世界 😀"}') })),
  'a form as a body': async (to) => {
    const body = new URLSearchParams();
    body.append('says', 'hello');
    return seen(await call(client(), { ...to, path: 'form' }, { body, headers: {} }));
  },
  'a fetch that was handed in': async (to) => {
    let calls = 0;
    const once = client({
      fetch(url, init) {
        calls++;
        return fetch(url, init);
      },
    });
    return { ...(await seen(await call(once, { ...to, path: 'lose-answer' }))), calls };
  },
  'the customer gives up': async (to) => {
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(), 60);
    return seen(await call(client(), { ...to, path: 'hang' }, { signal: leaving.signal }));
  },
  'two taps': async (to) => {
    const once = client();
    const [one, two] = await Promise.all([call(once, { ...to, path: 'slow' }), call(once, { ...to, path: 'slow' })]);
    return { one: await seen(one), two: await seen(two) };
  },
  'cut on the way to the background': async (to) => {
    const once = client({ retry: { minDelayMs: 60_000, maxDelayMs: 60_000 }, limits: { ...LIMITS, totalMs: 120_000 } });
    const paying = call(once, { ...to, path: 'lose-answer' });
    app('background');
    setTimeout(() => app('active'), 150);
    return seen(await paying);
  },
  'no source of keys': async (to) => seen(await call(client({}, { randomUUID: undefined }), { ...to, path: 'ok' })),
};

/** For an app that is killed: the first launch pays, the later ones go on with what was left. */
globalThis.launch = {
  pay: async (to) => seen(await call(client({ limits: { ...LIMITS, attemptMs: 2000 } }), { ...to, path: 'lose-answer' })),
  resume: async (to) => {
    const once = client({ limits: { ...LIMITS, attemptMs: 2000 } });
    const ends = [];
    for await (const { name, outcome } of once.resume({ prefix: ['pay'] })) ends.push([name, outcome.effect]);
    return { ends, again: await seen(await call(once, { ...to, path: 'lose-answer' })), left: (await once.pending()).length };
  },
};

/** Cores that only look right: what they use is not everywhere. */
globalThis.wrong = {
  'crypto.randomUUID': () => crypto.randomUUID(),
  'AbortSignal.timeout': () => void AbortSignal.timeout(1),
  throwIfAborted: () => new AbortController().signal.throwIfAborted(),
};
