/**
 * Goal: with `repeat: 'if-changed'`, a refused change does not count: the values before it are still the ones in effect, and a press that sends them again
 * is the same operation. Method: a form is saved, changed, refused and changed back; the test looks at the amounts that the server got.
 */
import { describe, expect, test, vi } from 'vitest';
import { clear, derived, extend, forget, move, type Once, type OnceOptions, pending, run, settle } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, during, idle, lost, textOf } from '../support/server.js';
import { CART, HOUR, MINUTE, NAME, newWorld, ONE, pay, resumed, type World, watched } from '../support/world.js';

const options: OnceOptions = { namespace: 'ann', repeat: 'if-changed' };
const [A, B, C] = [CART, { ...CART, amount: 20 }, { ...CART, amount: 30 }];
const DONE = charged(answers(201));
/** The application refuses it. */
const REFUSED = answers(402, { code: 'card_declined' });
/** Something in front of the application may have refused it, so its key stays in use. */
const IN_FRONT = answers(403);

/** A form whose values A are saved. */
async function saved(more: OnceOptions = {}) {
  const { world, tab, once } = newWorld().open({ ...options, ...more });
  const press = (body: unknown, ...meets: Parameters<typeof world.end>[2][]) => world.end(tab, pay(once, { body }), ...meets);
  expect((await press(A, DONE)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
  /** The amounts that were sent, in order. */
  const sent = async () =>
    (await Promise.all(world.server.arrivals.filter(({ method }) => method === 'POST').map(textOf))).map((text) => JSON.parse(text).amount);
  return { world, tab, once, press, sent };
}
const KEEPS: OnceOptions = { keep: { request: true } };
/** The server repeats its refusal of the change, long enough after the lost attempt to prove that it has no effect. */
async function resumedAndRefused(world: World, once: Once): Promise<void> {
  for (let turn = 0; turn < 2; turn++) {
    world.server.plays(REFUSED);
    await world.run(resumed(once));
    await world.clock.advance(3 * MINUTE);
  }
}
const REMEMBERED = { effect: 'done', type: 'replayed' };

describe.each<[string, OnceOptions]>([
  ['a random key', {}],
  ['each change under a key of its own', { whenChanged: 'refuse' }],
])('with %s', (_, more) => {
  test.each([
    ['by the application', REFUSED],
    ['perhaps in front of it', IN_FRONT],
  ])('values that are changed back after a refusal %s are not sent again', async (_, refusal) => {
    const { press, sent } = await saved(more);
    expect((await press(B, refusal)).outcome).toMatchObject({ effect: 'none' });
    expect((await press(A)).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 20]);
  });

  test('values that are changed back after several refusals are not sent again', async () => {
    const { press, sent } = await saved(more);
    await press(B, REFUSED);
    await press(C, REFUSED);
    await press(B, REFUSED);
    expect((await press(A)).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 20, 30, 20]);
  });

  test('a second press of the refused change sends it again; once it is done, going back to the values before it is a change', async () => {
    const { world, press, sent } = await saved(more);
    await press(B, REFUSED);
    expect((await press(A)).outcome).toMatchObject(REMEMBERED);
    expect((await press(B, DONE)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    // Now that the change is done, its record no longer keeps the operation before it.
    expect(world.record()?.previous).toBeUndefined();
    expect((await press(B)).outcome).toMatchObject(REMEMBERED);
    expect((await press(A, DONE)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect(await sent()).toEqual([10, 20, 20, 10]);
  });

  test('values that are changed back are not sent again by a page that was loaded since, nor by a second tab', async () => {
    const { world, tab, press, sent } = await saved(more);
    await press(B, REFUSED);
    for (const other of [tab.reload(), world.tab()])
      expect((await world.end(other, pay(other.once({ ...options, ...more })))).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 20]);
  });

  test('two tabs that press the old and the changed values at once have one effect', async () => {
    const { world, tab, once, sent } = await saved(more);
    const other = world.tab();
    const changing = pay(once, { body: B });
    const again = pay(other.once({ ...options, ...more }));
    expect((await world.end(tab, changing, REFUSED)).outcome).toMatchObject({ effect: 'none' });
    expect((await world.end(other, again)).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 20]);
  });
});

test.each<[string, OnceOptions, (scene: Awaited<ReturnType<typeof saved>>) => Promise<unknown>]>([
  ['settle says', {}, ({ world, once }) => world.run(settle(once, NAME, 'none'))],
  // Then the change goes on under a new key.
  ['reconcile says', { reconcile: async () => 'none' }, ({ press }) => press(B, REFUSED)],
  ['a resume in a page that was loaded since finds', {}, ({ world, tab }) => resumedAndRefused(world, tab.reload().once({ ...options, ...KEEPS }))],
])('a change whose answer was lost does not count either, once %s that it did not take effect', async (_, more, end) => {
  const scene = await saved({ ...ONE, ...KEEPS });
  await scene.press(B, lost());
  await scene.world.clock.advance(HOUR);
  await end({ ...scene, press: (body, ...meets) => scene.world.end(scene.tab, pay(scene.tab.once({ ...options, ...more }), { body }), ...meets) });
  const { tab, once } = scene.world.open({ ...options, ...KEEPS });
  expect((await scene.world.end(tab, pay(once, { body: A }))).outcome).toMatchObject(REMEMBERED);
});

/** What becomes of the change, after which the values before it are pressed again. */
const REFUSALS: Readonly<Record<string, readonly [OnceOptions, (scene: Awaited<ReturnType<typeof saved>>) => Promise<unknown>, sent: number[]]>> = {
  'whose work, behind the link of a 202, failed': [
    { accepted: 'poll' },
    ({ press }) => press(B, idle(answers(202, '', { location: '/jobs/1' })), idle(answers(200, { status: 'failed' }))),
    [10, 20],
  ],
  'whose key the server would make again (derived)': [
    { verdict: ({ status }) => (status === 402 ? 'rejected-for-good' : undefined) },
    ({ world, tab, once }) => world.end(tab, pay(once, { body: B, key: derived }), REFUSED),
    [10, 20],
  ],
  'that was refused, and pressed again while the headers hook threw': [
    {
      headers: () => {
        throw new Error('no token');
      },
    },
    async ({ press, world, tab, once }) => {
      await world.end(tab, pay(extend(once, { headers: () => ({}) }), { body: B }), REFUSED);
      expect((await press(B)).outcome).toMatchObject({ effect: 'none', attempts: 0 });
    },
    [10, 20],
  ],
  'that was refused while the store had no room for its end, and then settled as none': [
    {},
    async ({ press, world, tab, once }) => {
      await press(
        B,
        during(() => tab.faults.next('full'), REFUSED),
      );
      // The record cannot show that the attempt is over.
      await world.clock.advance(MINUTE);
      await world.run(settle(once, NAME, 'none'));
    },
    [10, 20],
  ],
};

test.each(Object.entries(REFUSALS))('a change %s does not count: the values before it are not sent again', async (_, [more, refuse, amounts]) => {
  const scene = await saved({ accepted: more.accepted });
  const once = extend(scene.once, more);
  const press: typeof scene.press = (body, ...meets) => scene.world.end(scene.tab, pay(once, { body }), ...meets);
  await refuse({ ...scene, once, press });
  expect((await press(A)).outcome).toMatchObject(REMEMBERED);
  expect(await scene.sent()).toEqual(amounts);
});

test('a refused change of a `run` does not count either: the payload before it does not run again', async () => {
  const { world, tab, once } = newWorld().open(options);
  const ran: string[] = [];
  const declined = new Error('declined');
  const runs = (value: string, refused = false) =>
    world.end(
      tab,
      watched(
        run(
          once,
          NAME,
          async ({ key }) => {
            ran.push(value);
            if (refused) throw declined;
            world.server.charged.add(key);
            return new Response(value);
          },
          { fingerprint: () => value, verdict: (end) => ('error' in end && end.error === declined ? 'rejected' : undefined) },
        ),
      ),
    );
  expect((await runs('a')).outcome).toMatchObject({ type: 'fresh' });
  expect((await runs('b', true)).error).toBe(declined);
  expect((await runs('a')).outcome).toMatchObject(REMEMBERED);
  expect(ran).toEqual(['a', 'b']);
});

test('a change whose answer is lost may have taken effect, so the values before it are sent again', async () => {
  const { press, world } = await saved(ONE);
  expect((await press(B, lost())).outcome).toMatchObject({ effect: 'unknown' });
  expect((await press(A, DONE)).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.arrivals).toHaveLength(3);
});

describe('a change that was stored and never sent does not count', () => {
  /** B is pressed offline, in a page that dies. */
  const unsent = async (scene: Awaited<ReturnType<typeof saved>>, refused = false) => {
    if (refused) await scene.press(B, IN_FRONT);
    const tab = await pressOffline(scene.tab, (page) => pay(page.once(options), { body: refused ? C : B }));
    const once = tab.once(options);
    return { tab, once, press: (body: unknown, ...meets: Parameters<World['end']>[2][]) => scene.world.end(tab, pay(once, { body }), ...meets) };
  };

  test.each([
    ['what was done', false, [10]],
    ['a change that was refused', true, [10, 20]],
  ])('it came after %s: the values that are in effect are not sent again', async (_, refused, amounts) => {
    const scene = await saved();
    const before = refused ? 'retired' : 'settled';
    const { once, press } = await unsent(scene, refused);
    expect(scene.world.record()).toMatchObject({ state: 'pending', ambiguous: false });
    expect((await press(A)).outcome).toMatchObject(REMEMBERED);
    expect(await scene.sent()).toEqual(amounts);
    // The press withdraws the stored change, and puts back the record that the change had replaced.
    expect(scene.world.record()?.state).toBe(before);
    expect(await scene.world.run(pending(once))).toEqual([]);
    expect((await press(B, DONE)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect((await press(A, DONE)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
  });

  test('other tabs hear that it was withdrawn', async () => {
    const scene = await saved();
    const { tab } = await unsent(scene);
    const postMessage = vi.fn();
    Object.assign(tab.platform, { tabs: { open: () => ({ postMessage, close: () => {} }), listening: () => () => {} } });
    await scene.world.end(tab, pay(tab.once(options), { body: A }));
    expect(postMessage).toHaveBeenCalledOnce();
  });

  test('if the store fails to withdraw it, nothing is sent, and the change stays', async () => {
    const scene = await saved();
    const { tab, press } = await unsent(scene);
    tab.faults.next('fail-before-commit');
    expect(await press(A)).toMatchObject({ error: { code: 'ERR_ONCE_STORE' } });
    expect(scene.world.record()).toMatchObject({ state: 'pending', ambiguous: false });
    expect((await press(A)).outcome).toMatchObject(REMEMBERED);
    expect(await scene.sent()).toEqual([10]);
  });

  test('once `keep.forMs` of the done operation is over, its values are sent again', async () => {
    const scene = await saved({ keep: { forMs: HOUR } });
    const { press } = await unsent(scene);
    await scene.world.clock.advance(3 * HOUR);
    expect((await press(A, DONE)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect(await scene.sent()).toEqual([10, 10]);
  });
});

describe("a user's form was saved, and a later change was refused; then a guest's press of that name moves to the user: the saved form stays done", () => {
  const guest: OnceOptions = { ...options, namespace: 'guest' };

  test("if the guest's press was never sent", async () => {
    const { world, tab, press, sent } = await saved();
    await press(B, REFUSED);
    const page = await pressOffline(tab, (own) => pay(own.once(guest), { body: C }));
    const ann = page.once(options);
    await world.run(move(ann, 'guest'));
    expect((await world.end(page, pay(ann, { body: A }))).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 20]);
  });

  test("if the guest's press was refused, perhaps in front of the application", async () => {
    const { world, tab, once, press, sent } = await saved();
    await press(B, REFUSED);
    await world.end(tab, pay(tab.once(guest), { body: C }), IN_FRONT);
    await world.run(move(once, 'guest'));
    expect((await press(B, REFUSED)).outcome).toMatchObject({ effect: 'none' });
    expect((await press(A)).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 20, 30, 20]);
  });

  test("if the guest's press was refused, perhaps in front of the application, and the user had changed nothing; the guest's key is used again", async () => {
    const { world, tab, once, press, sent } = await saved();
    const { outcome } = await world.end(tab, pay(tab.once(guest), { body: C }), IN_FRONT);
    await world.run(move(once, 'guest'));
    expect((await press(A)).outcome).toMatchObject(REMEMBERED);
    expect((await press(C, DONE)).outcome).toMatchObject({ type: 'fresh', key: outcome?.key });
    expect(await sent()).toEqual([10, 30, 30]);
  });

  test("if the guest's press takes the place of a change of the user that was never sent, and is then settled as none", async () => {
    const { world, tab, sent } = await saved();
    const page = await pressOffline(tab, (own) => pay(own.once(options), { body: B }));
    await world.end(page, pay(page.once(guest), { ...ONE, body: C }), lost());
    const ann = page.once(options);
    await world.run(move(ann, 'guest'));
    await world.run(settle(ann, NAME, 'none'));
    expect((await world.end(page, pay(ann, { body: A }))).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 30]);
  });

  test("if the guest's press was refused, and takes the place of a second change that was never sent; the refused change can be sent again", async () => {
    const { world, tab, press, sent } = await saved();
    await press(B, REFUSED);
    const page = await pressOffline(tab, (own) => pay(own.once(options), { body: { ...CART, amount: 40 } }));
    await world.end(page, pay(page.once(guest), { body: C }), IN_FRONT);
    const ann = page.once(options);
    await world.run(move(ann, 'guest'));
    expect((await world.end(page, pay(ann, { body: B }), REFUSED)).outcome).toMatchObject({ type: 'rejected' });
    expect((await world.end(page, pay(ann, { body: A }))).outcome).toMatchObject(REMEMBERED);
    expect(await sent()).toEqual([10, 20, 30, 20]);
  });

  test("if the guest's press was never sent, and the user's own record is only in memory, because the store refused it", async () => {
    const world = newWorld();
    const [tab, other] = [world.tab(), world.tab()];
    const ann = tab.once(options);
    tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
    expect((await world.end(tab, pay(ann, { body: A }), DONE)).outcome).toMatchObject({ storedIn: 'memory' });
    await world.end(tab, pay(ann, { body: B }), REFUSED);
    await pressOffline(other, (own) => pay(own.once(guest), { body: C }));
    await world.run(move(ann, 'guest'));
    expect((await world.end(tab, pay(ann, { body: A }))).outcome).toMatchObject(REMEMBERED);
  });
});

describe('the values before a refused change are sent again', () => {
  const FRESH = { effect: 'done', type: 'fresh' };

  test.each([
    ['by the application', REFUSED],
    ['perhaps in front of it', IN_FRONT],
  ])('after forget, if the change was refused %s', async (_, refusal) => {
    const { world, once, press, sent } = await saved();
    await press(B, refusal);
    await world.run(forget(once, NAME));
    expect((await press(A, DONE)).outcome).toMatchObject(FRESH);
    expect(await sent()).toEqual([10, 20, 10]);
  });

  test.each([
    ['by the application', REFUSED],
    ['perhaps in front of it', IN_FRONT],
  ])('after forget, if the change was refused %s, and pressed again in a page that died offline', async (_, refusal) => {
    const { world, tab, press, sent } = await saved();
    await press(B, refusal);
    const next = await pressOffline(tab, (page) => pay(page.once(options), { body: B }));
    const once = next.once(options);
    await world.run(forget(once, NAME));
    expect((await world.end(next, pay(once, { body: A }), DONE)).outcome).toMatchObject(FRESH);
    expect(await sent()).toEqual([10, 20, 10]);
  });

  test('after a log-out', async () => {
    const { world, once, press } = await saved();
    await press(B, REFUSED);
    await world.run(clear(once));
    expect((await press(A, DONE)).outcome).toMatchObject(FRESH);
  });

  test('once `keep.forMs` of the done operation is over', async () => {
    const { world, press } = await saved({ keep: { forMs: MINUTE } });
    // The record of the refused change is kept for longer, because its key stays in use.
    await press(B, IN_FRONT);
    await world.clock.advance(HOUR);
    expect((await press(A, DONE)).outcome).toMatchObject(FRESH);
  });

  test("with repeat: 'always'", async () => {
    const { press } = await saved({ repeat: 'always' });
    await press(B, REFUSED);
    expect((await press(A, DONE)).outcome).toMatchObject(FRESH);
  });
});
