/**
 * Goal: "nothing was sent, and nothing will be" is said of the operation, not of the call alone. Who gives up, or has a body that
 * can't be read, while another context is about to send that very operation, is told that nobody knows.
 */
import { describe, expect } from 'vitest';
import { close, type Once } from '../../src/entries/index.js';
import { answers } from '../support/server.js';
import { NAME, newWorld, pay, rest, SECOND, test, URL_, watched } from '../support/world.js';

const REASON = () => new Error('the user pressed cancel');
type World = ReturnType<typeof newWorld>;
type Press = (once: Once, signal?: AbortSignal) => ReturnType<typeof pay>;
const streams = (body: () => ReadableStream): Press => {
  return (once, signal) => watched(once.fetch(URL_, { method: 'POST', body: body(), duplex: 'half', ...(signal && { signal }), once: NAME } as never));
};
const payNow: Press = (once, signal) => pay(once, { signal });
/** A payment whose body never comes to its end. */
const slowly = streams(() => new ReadableStream({ start() {} }));
/** One whose body is longer than the limit of bytes. */
const endlessly = streams(() => new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(100)) }));
const LIMITS = { totalMs: 2 * SECOND, bodyBytes: 1000 };

/** Presses, cancels, and says what the reason of the abort tells. */
async function cancelled(world: World, { tab, once }: ReturnType<World['open']>, press: Press) {
  const [controller, reason] = [new AbortController(), REASON()];
  const call = press(once, controller.signal);
  await rest();
  controller.abort(reason);
  await world.end(tab, call);
  await rest();
  return tab.outcomeOf(reason);
}

describe.each([
  ['tabs with locks', {}],
  ['tabs without', { locks: false }],
  ['processes', { server: true, locks: false }],
])('while a press in another context waits for the network, %s', (_, of) => {
  async function scene() {
    const world = newWorld();
    const first = world.open({}, of);
    first.tab.online = false;
    const call = pay(first.once);
    await rest();
    world.server.plays(answers(201));
    /** The other tab's press goes on, and charges. */
    const charge = async () => {
      first.tab.connect(true);
      expect((await world.end(first.tab, call)).outcome).toMatchObject({ effect: 'done' });
    };
    return { world, charge, ...world.open({ limits: LIMITS }, of) };
  }

  test.each<[string, Press]>([
    ['while it waits', payNow],
    ['while its body is read', slowly],
  ])('an abort %s is not told as none', async (_, press) => {
    const { world, charge, ...mine } = await scene();
    expect(await cancelled(world, mine, press)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await charge();
  });

  test('neither is the end of the client', async () => {
    const { world, tab, once, charge } = await scene();
    const call = pay(once);
    await rest();
    const closed = close(once);
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await closed;
    await charge();
  });

  test.each([
    ['does not end', slowly],
    ['is too long', endlessly],
  ])('nor a body that %s', async (_, press) => {
    const { world, tab, once, charge } = await scene();
    expect(await world.end(tab, press(once))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'unknown' } });
    await charge();
  });
});

describe('while another tab has the lock and asks its key strategy, with nothing stored yet', () => {
  async function scene() {
    const world = newWorld();
    let give: (key: string) => void = () => {};
    const key = () => new Promise<string>((resolve) => void (give = resolve));
    const first = world.open();
    const call = pay(first.once, { key });
    await rest();
    world.server.plays(answers(201));
    const charge = async () => {
      give('order-1');
      expect((await world.end(first.tab, call)).outcome).toMatchObject({ effect: 'done' });
    };
    return { world, charge, ...world.open({ limits: LIMITS }) };
  }

  test('an abort while the body is read is not told as none', async () => {
    const { world, charge, ...mine } = await scene();
    expect(await cancelled(world, mine, slowly)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await charge();
  });

  test('nor is a body that can not be read', async () => {
    const { world, tab, once, charge } = await scene();
    expect(await world.end(tab, slowly(once))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'unknown' } });
    await charge();
  });
});

test('where nobody else is at it, it is none, as before', async ({ world }) => {
  const { tab, once } = world.open({ limits: LIMITS });
  expect(await world.end(tab, slowly(once))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'none' } });
  expect(await cancelled(world, { tab, once }, slowly)).toMatchObject({ type: 'unsent', effect: 'none' });
});

test('without locks: who gives up what a page that is gone has begun, and never sent, gives its lease back', async ({ world }) => {
  const offline = () => {
    const opened = world.open({}, { locks: false });
    opened.tab.online = false;
    return opened;
  };
  const gone = offline();
  void pay(gone.once);
  await rest();
  gone.tab.kill();
  await world.clock.advance(20 * SECOND);
  expect(await cancelled(world, offline(), payNow)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  expect(world.record()?.lease).toBeUndefined();
  const next = world.open({}, { locks: false });
  const at = world.clock.now();
  expect((await world.end(next.tab, pay(next.once), answers(201))).outcome).toMatchObject({ type: 'fresh' });
  expect(world.clock.now()).toBe(at);
});
