/**
 * Goal: what a release of an app may change, and what makes another operation of an earlier one, is as docs/versioning.md says. Method: clients with
 * different options on one store, one after the other; or the page of the earlier release goes on pressing after the new one has continued or moved its
 * payment. The server counts requests and keys.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { move, type OnceOptions, pending, run } from '../../src/entries/index.js';
import { answers, charged, type Entry, lost, replays } from '../support/server.js';
import { NAME, ONE, pay, test, type World } from '../support/world.js';

const ANN = { namespace: 'ann' } as const;
const OTHER_PRINT = { fingerprint: () => 'v2' } as const;

/** Presses in one release, whose process then ends, and in the next one. */
async function pressedInBoth(world: World, before: OnceOptions, first: Entry, after: OnceOptions, ...second: Entry[]) {
  const old = world.open({ ...ANN, ...before });
  await world.end(old.tab, pay(old.once, ONE), first);
  old.tab.kill();
  const present = world.open({ ...ANN, ...after });
  return world.end(present.tab, pay(present.once, ONE), ...second);
}

describe('a release with another `fingerprint`', () => {
  test('what is open goes on under its key', async ({ world }) => {
    expect(await pressedInBoth(world, {}, charged(lost()), OTHER_PRINT, replays())).toMatchObject({ outcome: { effect: 'done', type: 'replayed' } });
    expect([...world.server.charged]).toEqual([world.server.keys[1]]);
  });

  test('what is done is not done again', async ({ world }) => {
    expect(await pressedInBoth(world, {}, charged(answers(201)), OTHER_PRINT)).toMatchObject({ outcome: { effect: 'done', type: 'replayed' } });
    expect(world.server.keys).toHaveLength(1);
  });

  test.for([
    ['done', charged(answers(201)), []],
    ['open, and turns out to be done', charged(lost()), [replays()]],
  ] as const)('with if-changed, what is %s is done once more', async ([_, first, replayed], { world }) => {
    const repeat = 'if-changed';
    await pressedInBoth(world, { repeat }, first, { repeat, ...OTHER_PRINT }, ...replayed, charged(answers(201)));
    expect(world.server.charged.size).toBe(2);
  });
});

describe('a name that a release gives to another kind of call', () => {
  const elsewhere = { outcome: { effect: 'unknown', reason: 'elsewhere' } };

  test('run, after an open once.fetch: unknown, and the function does not run', async ({ world }) => {
    await world.interrupted(charged(lost()));
    const { once } = world.open();
    let ran = 0;
    await expect(world.run(run(once, NAME, () => ++ran))).rejects.toMatchObject(elsewhere);
    expect(ran).toBe(0);
  });

  test('once.fetch, after an open run: unknown, and nothing is sent', async ({ world }) => {
    const old = world.open();
    const failing = () => Promise.reject(new Error('lost'));
    await expect(world.run(run(old.once, NAME, failing, ONE))).rejects.toMatchObject({ outcome: { effect: 'unknown' } });
    old.tab.kill();
    const { once } = world.open();
    await expect(world.run(pay(once, ONE))).rejects.toMatchObject(elsewhere);
    expect(world.server.keys).toEqual([]);
  });
});

const SHARED: OnceOptions = { dialect: { ...GENERIC, perAccount: false } };

/** A page of the earlier release, whose payment was lost, and one of the new release, with a client of each kind. */
async function deployed(world: World, earlier: OnceOptions) {
  const old = world.open(earlier);
  const { outcome } = await world.end(old.tab, pay(old.once, ONE), charged(lost()));
  const tab = world.tab();
  return { old, tab, key: outcome?.key, before: tab.once(earlier), once: tab.once({ ...SHARED, namespace: 'uuid-7' }) };
}

describe.each<[string, OnceOptions]>([
  ['another namespace', { ...SHARED, namespace: 'id-7' }],
  ['no namespace', SHARED],
])('an earlier release with %s', (_, earlier) => {
  test('a client of the earlier release continues the payment, and the open page is told the same end', async ({ world }) => {
    const { old, tab, key, before } = await deployed(world, earlier);
    expect(await world.run(pending(before))).toMatchObject([{ name: NAME }]);
    expect((await world.end(tab, pay(before), replays())).outcome).toMatchObject({ effect: 'done', key });
    expect((await world.end(old.tab, pay(old.once))).outcome).toMatchObject({ effect: 'done', key });
    expect(world.server.charged.size).toBe(1);
  });

  test('what the new release begins, the open page does not find: its press has a key of its own', async ({ world }) => {
    const old = world.open(earlier);
    const { tab, once } = world.open({ ...SHARED, namespace: 'uuid-7' });
    await world.end(tab, pay(once), charged(answers(201)));
    await world.end(old.tab, pay(old.once), charged(answers(201)));
    expect(world.server.charged.size).toBe(2);
  });
});

test('what the new release has moved, the open page does not find: its press still has the key that it sent', async ({ world }) => {
  const { old, tab, key, once } = await deployed(world, { ...SHARED, namespace: 'id-7' });
  await world.run(move(once, 'id-7'));
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key });
  expect((await world.end(old.tab, pay(old.once), replays())).outcome).toMatchObject({ effect: 'done', key });
  expect(world.server.charged.size).toBe(1);
});
