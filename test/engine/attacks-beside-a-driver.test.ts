/** Goal: a call beside another context's driver is told what is true of its own press, and of what that driver may still send. */
import { describe, expect, test } from 'vitest';
import { answers, charged, delayed, unreachable } from '../support/server.js';
import { DAY, HOUR, newWorld, pay, rest, SECOND } from '../support/world.js';

const CONTEXTS = [
  ['tabs with a lock', {}],
  ['processes with leases', { server: true, locks: false }],
] as const;

test.each(CONTEXTS)("%s: a call that waited for one that never left is not told the end of the operation before, with repeat: 'always'", async (_, of) => {
  const world = newWorld();
  const one = world.open({ namespace: 'ann', repeat: 'always' }, of);
  const two = world.open({ namespace: 'ann', repeat: 'always' }, of);
  world.server.plays(charged(answers(201)), delayed(5 * SECOND, unreachable()), charged(answers(201)));
  await world.end(one.tab, pay(one.once));
  await world.clock.advance(HOUR);
  const first = pay(one.once, { limits: { attempts: 1 } });
  await rest();
  const second = pay(two.once);
  expect((await world.end(one.tab, first)).outcome).toMatchObject({ type: 'unsent' });
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.charged.size).toBe(2);
});

test.each(CONTEXTS)('%s: nor that of one whose time is over', async (_, of) => {
  const world = newWorld();
  const one = world.open({ namespace: 'ann', keep: { forMs: HOUR } }, of);
  const two = world.open({ namespace: 'ann', keep: { forMs: HOUR } }, of);
  world.server.plays(charged(answers(201)), delayed(5 * SECOND, unreachable()), charged(answers(201)));
  await world.end(one.tab, pay(one.once));
  await world.clock.advance(DAY);
  const first = pay(one.once, { limits: { attempts: 1 } });
  await rest();
  const second = pay(two.once);
  expect((await world.end(one.tab, first)).outcome).toMatchObject({ type: 'unsent' });
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.charged.size).toBe(2);
});

describe("a call that is cut beside another context's driver, which waits for the network and has sent nothing yet, does not say that nothing was sent", () => {
  const unread = (body: ReadableStream) => ({ init: { body, duplex: 'half' } as RequestInit, limits: { bodyBytes: 1000 } });
  const hanging = () => new ReadableStream({ pull: () => new Promise(() => {}) });
  const endless = () => new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(100)) });

  test.each(
    CONTEXTS.flatMap(([name, of]) => [
      [name, 'aborted while it waits', of, {}],
      [name, 'aborted while its body is read', of, unread(hanging())],
      [name, 'its body is too long', of, unread(endless())],
    ]),
  )('%s: %s', async (_, __, of, more) => {
    const world = newWorld();
    const one = world.open({ namespace: 'ann' }, of);
    const two = world.open({ namespace: 'ann' }, of);
    one.tab.online = false;
    const first = pay(one.once);
    await rest();
    const leaves = new AbortController();
    const second = pay(two.once, { signal: leaves.signal, ...more });
    await world.clock.advance(SECOND);
    leaves.abort();
    const { outcome } = await world.end(two.tab, second);
    await rest();
    expect(outcome ?? two.tab.outcomeOf(leaves.signal.reason)).toMatchObject({ effect: 'unknown' });
    world.server.plays(charged(answers(201)));
    one.tab.online = true;
    expect((await world.end(one.tab, first)).outcome).toMatchObject({ type: 'fresh' });
  });
});
