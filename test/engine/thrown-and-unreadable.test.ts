/**
 * Goal: what a hook throws may be anything, even a Proxy that was revoked, which throws at every look. The call ends all the same, the name is free again,
 * and the lock, too. Method: each hook throws such a value at its first question, then two tabs press again.
 */
import { expect, onTestFinished, vi } from 'vitest';
import { createOnce, type OnceOptions, outcomeOf, run, type StandardSchema, subscribe } from '../../src/entries/index.js';
import { createOn } from '../../src/once.js';
import { browserPlatform } from '../../src/platform/browser/index.js';
import { memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { answers, lost } from '../support/server.js';
import { NAME, ONE, type PayOptions, pay, rest, test, watched } from '../support/world.js';

function unreadable(): never {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  throw proxy;
}

const throws = (): never => {
  throw new Error('a hook throws');
};

/** A hook that throws at its first question, and then says `later`. */
const throwing = <T>(later: T) => {
  let asked = 0;
  return (): T => (asked++ ? later : unreadable());
};

const NONE = (): PayOptions => ({});

test.for<[string, () => OnceOptions, () => PayOptions]>([
  ['fingerprint', () => ({ fingerprint: throwing(undefined) }), NONE],
  ['key', () => ({}), () => ({ key: throwing('00000000-0000-4000-8000-000000000000') })],
  ['headers', () => ({ headers: throwing({}) }), NONE],
  ['dialect', () => ({ dialect: throwing('none' as const) }), NONE],
])('%s', async ([, options, of], { world, tab }) => {
  const once = tab.once(options());
  const call = of();
  let ended = false;
  const end = (): void => void (ended = true);
  pay(once, { ...ONE, ...call }).then(end, end);
  await rest();
  expect(ended).toBe(true);
  expect(world.locks.names).toEqual([]);
  world.server.otherwise = answers(201);
  expect((await world.end(tab, pay(once, call))).outcome).toMatchObject({ effect: 'done' });
});

test.for<[string, (other: unknown) => unknown]>([
  ['such a value', unreadable],
  ['the error of another operation', (other) => Promise.reject(other)],
])('a schema of `run` that throws %s: the effect is done all the same', async ([, validate], { world, tab }) => {
  const once = tab.once();
  const { error } = await world.end(tab, pay(once, { ...ONE, operation: ['another'] }), lost());
  const result = { '~standard': { version: 1, vendor: 'test', validate: () => validate(error) } } as unknown as StandardSchema<number>;
  const ended: unknown = await world.run(watched(run(once, NAME, () => 1, { result })).catch((reason: unknown) => reason));
  expect(ended).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  expect(outcomeOf(ended)).toMatchObject({ operation: NAME, effect: 'done' });
});

test.for<[string, Partial<OnceOptions>]>([
  ['onOutcome', { onOutcome: throws }],
  ['connectivity', { connectivity: { online: throws, subscribe: throws } }],
  ['a listener', {}],
])('%s that throws where `console.error` throws, too: the call ends as the server said', async ([, options]) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(throws);
  onTestFinished(() => printed.mockRestore());
  const once = createOnce({ store: memoryStore({ medium: memoryMedium() }), fetch: async () => new Response('{}', { status: 201 }), ...options });
  if (!('onOutcome' in options || 'connectivity' in options)) subscribe(once, throws);
  expect(outcomeOf(await pay(once))).toMatchObject({ effect: 'done' });
  expect(printed).toHaveBeenCalled();
});

test('`onOutcome` that throws in a page whose `reportError` throws, too: the call ends as the server said', async () => {
  const report = vi.fn(throws);
  vi.stubGlobal('reportError', report);
  onTestFinished(() => void vi.unstubAllGlobals());
  const once = createOn(browserPlatform(), {
    store: memoryStore({ medium: memoryMedium() }),
    fetch: async () => new Response('{}', { status: 201 }),
    onOutcome: throws,
  });
  expect(outcomeOf(await pay(once))).toMatchObject({ effect: 'done' });
  expect(report).toHaveBeenCalled();
});
