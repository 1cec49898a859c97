/**
 * Goal: what docs/versioning.md says of two releases of an app whose `namespace` differs is true while pages of both are open. Method: the
 * page of the earlier release goes on pressing after the new one has continued or moved its payment.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { move, type OnceOptions, pending } from '../../src/entries/index.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { NAME, ONE, pay, test, type World } from '../support/world.js';

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

test('what the new release has moved, the open page does not find: its press has a key of its own', async ({ world }) => {
  const { old, tab, key, once } = await deployed(world, { ...SHARED, namespace: 'id-7' });
  await world.run(move(once, 'id-7'));
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key });
  expect((await world.end(old.tab, pay(old.once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.charged.size).toBe(2);
});
