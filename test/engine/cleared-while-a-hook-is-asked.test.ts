/**
 * Goal: when `clear` has ended, no attempt leaves that was waiting for a hook, whichever client of the page called it, and what
 * callers are told is true. Method: the hook itself logs out, through the same client, a client extended from it, and an
 * unrelated one.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { around, clear, explain, extend, type OnceOptions, type Outcome, settle } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { answers, charged, delayed, lost, replays } from '../support/server.js';
import { NAME, ONE, pay, rest, SECOND, test } from '../support/world.js';

const ANN = { namespace: 'ann' };
const HOOKS: Readonly<Record<string, (act: () => Promise<unknown>) => OnceOptions>> = {
  headers: (act) => ({
    headers: async () => {
      await act();
      return {};
    },
  }),
  around: (act) => ({
    use: [
      ...everything(),
      around(async (_, send) => {
        await act();
        return send();
      }),
    ],
  }),
};

describe.each(Object.entries(HOOKS))('while the %s hook is asked', (_, hooked) => {
  test.for(['the same client', 'an extended one', 'an unrelated one'])(
    '%s clears: nothing leaves, and the error names clear()',
    async (who, { world, tab }) => {
      let asked = 0;
      const once = tab.once({
        ...ANN,
        ...hooked(async () => {
          if (asked++) return;
          await rest();
          await clear(clearing, { unsettled: 'forget' });
        }),
      });
      const clearing = who === 'the same client' ? once : who === 'an extended one' ? extend(once, { repeat: 'always' }) : tab.once(ANN);
      const { outcome, error } = await world.end(tab, pay(once));
      expect([world.server.arrivals, world.records]).toEqual([[], []]);
      expect(outcome).toMatchObject({ effect: 'unknown', reason: 'busy', attempts: 0 });
      expect((error as Error).message).toMatch(/clear\(\)|ERR_ONCE_CLAIM_LOST/);
      // If the attempt had left, and its answer had been lost, this press would have charged a second time.
      expect((await world.end(tab, pay(tab.once(ANN)), answers(201))).outcome).toMatchObject({ type: 'fresh' });
    },
  );
});

test('while the key strategy is asked: nothing leaves, and the explanation names clear()', async ({ world, tab }) => {
  let asked = 0;
  const other = tab.once(ANN);
  const once = tab.once(ANN);
  const key = async (): Promise<string> => {
    if (!asked++) await clear(other);
    return 'k-1';
  };
  const { outcome } = await world.end(tab, pay(once, { key }));
  expect(world.server.arrivals).toEqual([]);
  expect(outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
  expect(explain(outcome as Outcome).summary).toContain('clear()');
});

test('an answer of `reconcile` does not count if another client of the page has logged out meanwhile', async ({ world, tab }) => {
  const other = tab.once(ANN);
  await world.end(tab, pay(other, ONE), charged(lost()));
  const reconcile = async (): Promise<'none'> => {
    await clear(other);
    return 'none';
  };
  const { outcome } = await world.end(tab, pay(tab.once({ ...ANN, reconcile }), { limits: { inProgressMs: 0 } }), answers(409));
  expect(outcome).toMatchObject({ effect: 'unknown' });
  expect(world.record(NAME)?.state).toBe('pending');
});

test('an answer that arrives after a log-out is given to no later call, even if the operation is settled by hand', async ({ world, tab }) => {
  const once = tab.once(ANN);
  const call = pay(once);
  world.server.plays(delayed(SECOND, answers(201, { secret: 'of the session before' })));
  await rest();
  await world.run(clear(once));
  expect((await world.end(tab, call)).outcome).toMatchObject({ type: 'fresh' });
  await world.run(settle(once, NAME, 'done'));
  expect(await world.end(tab, pay(once))).toMatchObject({ response: undefined, code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
});

test('nor is one that the server repeats after a log-out, because the page had not kept it', async ({ world, tab }) => {
  const options = { ...ANN, dialect: { ...GENERIC, replays: true } };
  const first = world.open(options);
  await world.end(first.tab, pay(first.once), answers(201));
  const once = tab.once(options);
  const call = pay(once);
  world.server.plays(delayed(SECOND, replays(201, { secret: 'of the session before' })));
  await rest();
  await world.run(clear(once));
  expect((await world.end(tab, call)).status).toBe(201);
  const { response } = await world.end(tab, pay(once), replays(201, { of: 'this session' }));
  expect(await response?.json()).toEqual({ of: 'this session' });
});
