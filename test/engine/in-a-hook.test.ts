/**
 * Goal: a call that an app makes inside a hook, under the same name or another one, costs no second effect, and a call that waits
 * for itself ends with the hook's time. Method: each hook makes one more call the first time, and waits for it or not.
 */
import { describe, expect } from 'vitest';
import { generic } from '../../src/entries/dialects.js';
import { around, type Once, type OnceOptions, type OperationOptions } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { honest, lost } from '../support/server.js';
import { NAME, ONE, pay, SECOND, test } from '../support/world.js';

interface Inner {
  /** Makes the inner call, and then returns what the hook is to return. */
  now<T>(value: T): T;
  after<T>(value: () => T): Promise<Awaited<T>>;
}

const CLIENTS: Readonly<Record<string, (inner: Inner) => OnceOptions>> = {
  headers: ({ after }) => ({ headers: () => after(() => ({})) }),
  verdict: ({ now }) => ({ verdict: () => now(undefined) }),
  around: ({ after }) => ({ use: [...everything(), around((_, send) => after(send))] }),
  onOutcome: ({ now }) => ({ onOutcome: () => now(undefined) }),
  fingerprint: ({ after }) => ({ fingerprint: () => after(() => 'x') }),
  key: () => ({}),
  namespace: ({ now }) => ({ namespace: () => now('ann') }),
  dialect: ({ now }) => ({ dialect: () => now(generic()) }),
  reconcile: ({ after }) => ({ dialect: 'none', reconcile: () => after(() => 'unknown' as const) }),
};
const keyOf = ({ after }: Inner): OperationOptions => ({ key: ({ operation }) => after(() => `key-of-${operation?.join('-')}`) as never });

describe.each(Object.entries(CLIENTS))('in the hook %s', (hook, client) => {
  test.for([
    ['its own name', NAME, 'waits for it'],
    ['its own name', NAME, 'goes on'],
    ['another name', ['pay', 'c2'], 'waits for it'],
    ['another name', ['pay', 'c2'], 'goes on'],
  ] as const)('the app makes a call under %s, and the hook $2', async ([of, name, waits], { world, tab }) => {
    let inside: Promise<Response> | undefined;
    let once: Once | undefined;
    const call = async (): Promise<void> => {
      if (inside || !once) return;
      // The inner call asks the hook, too.
      inside = Promise.resolve(new Response());
      inside = pay(once, { ...options, operation: name });
      if (waits === 'waits for it') await inside.catch(() => {});
    };
    const inner: Inner = {
      now(value) {
        void call();
        return value;
      },
      after: async (value) => call().then(value) as never,
    };
    const options = hook === 'key' ? keyOf(inner) : {};
    once = tab.once(client(inner));
    // `reconcile` is asked only if the outcome is open.
    const open = hook === 'reconcile';
    world.server.otherwise = honest(open ? [lost()] : []);
    const end = await world.end(tab, pay(once, { ...options, ...(open ? ONE : {}) }));
    const same = of === 'its own name';
    // The call waits for this hook before anything is sent. So if the hook waits for the call, nothing is sent.
    const stuck = same && waits === 'waits for it' && /^(fingerprint|key)$/.test(hook);
    expect(end.outcome?.effect).toBe(open ? 'unknown' : stuck ? undefined : 'done');
    expect(end.ms).toBeLessThanOrEqual(120 * SECOND);
    const { outcome } = await world.end(tab, inside as Promise<Response>);
    if (!stuck) expect(outcome?.effect).toBe(open && same ? 'unknown' : 'done');
    const sent = stuck ? 0 : same ? 1 : 2;
    expect(world.server.arrivals).toHaveLength(sent);
    expect(new Set(world.server.keys).size).toBe(open ? 1 : sent);
  });
});
