/**
 * Goal: what a page knows of a guest's operation goes to the user at `move`, also if the store has lost the guest's record meanwhile: the user's press has
 * the guest's key. Method: the store loses all records between the guest's press and the log-in.
 */
import { expect, vi } from 'vitest';
import { generic } from '../../src/dialects/generic.js';
import { clear, move, type OnceOptions, pending, settle } from '../../src/entries/index.js';
import { answers, charged, during, hangs, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { MINUTE, NAME, ONE, onScreen, pay, rest, SECOND, test, type World } from '../support/world.js';

/** The guest presses, the answer and all records are lost, and `move` brings what the page knows. */
async function movedAfterLoss(world: World, tab: Tab, options: OnceOptions = {}) {
  const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, ...options, namespace: 'guest' })), charged(lost()));
  const ann = tab.once({ ...ONE, ...options, namespace: 'ann' });
  tab.faults.next('evict');
  await world.run(pending(ann));
  await world.run(move(ann, 'guest'));
  return { ann, key: outcome?.key };
}

test("the user's press has the key of the guest's, of which nobody knows how it ended", async ({ world, tab }) => {
  const { ann, key } = await movedAfterLoss(world, tab);
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key });
});

/** The guest presses, and the answer is lost. Another page moves it to the user, then this one, before the store loses it. */
async function movedElsewhere(world: World, tab: Tab) {
  const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, namespace: 'guest' })), charged(lost()));
  await world.run(move(world.open({ namespace: 'ann' }).once, 'guest'));
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  return { ann, key: outcome?.key };
}

test('so it has if another page has moved it first, and the store loses it after that', async ({ world, tab }) => {
  const { ann, key } = await movedElsewhere(world, tab);
  world.empty();
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key });
});

test('what another page has moved first does not come again after the user has paid and logged out', async ({ world, tab }) => {
  const { ann, key } = await movedElsewhere(world, tab);
  await world.end(tab, pay(ann), replays());
  await world.clock.advance(5 * MINUTE);
  await world.run(clear(ann));
  await world.run(move(ann, 'guest'));
  await world.beginsAnew({ tab, once: ann }, key);
});

test('what has moved before the store failed does not come again either', async ({ world, tab }) => {
  const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, namespace: 'guest' })), charged(lost()));
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  const { scan } = tab.store;
  vi.spyOn(tab.store, 'scan').mockImplementation(async (query) => {
    if ('state' in query && query.state === 'retired') throw new Error('denied');
    return scan(query);
  });
  await expect(world.run(move(ann, 'guest'))).rejects.toThrow();
  vi.restoreAllMocks();
  await world.end(tab, pay(ann), replays());
  await world.clock.advance(5 * MINUTE);
  await world.run(clear(ann));
  await world.run(move(ann, 'guest'));
  await world.beginsAnew({ tab, once: ann }, outcome?.key);
});

test("of two guests' payments of one name, the second does not take the place of the first", async ({ world, tab }) => {
  const keys: unknown[] = [];
  for (const guest of ['one', 'two']) {
    const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, namespace: guest })), charged(lost()));
    keys.push(outcome?.key);
  }
  world.empty();
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(ann, 'one'));
  await world.run(move(ann, 'two'));
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key: keys[0] });
});

test.for<[string, (world: World, tab: Tab) => Promise<unknown>]>([
  [
    "the user has an operation of that name, so that the guest's stays",
    async (world, tab) => {
      const ann = tab.once({ ...ONE, namespace: 'ann' });
      await world.end(tab, pay(ann), charged(lost()));
      await world.run(move(ann, 'guest'));
    },
  ],
  [
    'the store fails',
    async (world, tab) => {
      tab.faults.next('none', 'none', 'fail-before-commit');
      await expect(world.run(move(tab.once({ ...ONE, namespace: 'ann' }), 'guest'))).rejects.toThrow();
    },
  ],
])("what is not moved, because %s, this page still knows: the guest's press has the same key if the store loses it", async ([, moves], { world, tab }) => {
  const guest = tab.once({ ...ONE, namespace: 'guest' });
  const { outcome } = await world.end(tab, pay(guest), charged(lost()));
  await moves(world, tab);
  world.empty();
  expect((await world.end(tab, pay(guest), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
});

test('where keys count for one account only, it is not sent again in the account of the user', async ({ world, tab }) => {
  const { ann, key } = await movedAfterLoss(world, tab, { dialect: generic() });
  expect((await world.end(tab, pay(ann))).outcome).toMatchObject({ effect: 'unknown', key, attempts: 0 });
});

test('a second `move`, after the user has paid and logged out, does not bring it again: the next press is a payment of its own', async ({ world, tab }) => {
  const { ann, key } = await movedAfterLoss(world, tab);
  await world.end(tab, pay(ann), replays());
  await world.clock.advance(5 * MINUTE);
  await world.run(clear(ann));
  await world.run(move(ann, 'guest'));
  const end = await world.end(tab, pay(ann), charged(answers(201)));
  expect(end.outcome).toMatchObject({ type: 'fresh' });
  expect(end.outcome?.key).not.toBe(key);
});

/** The guest presses, the answer and all records are lost, and then the user presses the same name on another page, also without an answer. */
async function besideTheUsersOwn(world: World, tab: Tab) {
  const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, namespace: 'guest' })), charged(lost()));
  world.empty();
  const other = world.open({ ...ONE, namespace: 'ann' });
  const own = (await world.end(other.tab, pay(other.once), charged(lost()))).outcome?.key;
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  return { ann, key: outcome?.key, own };
}

test("beside the user's own operation of another page, this page goes on with that one, and with the guest's if the store loses it", async ({ world, tab }) => {
  const { ann, key, own } = await besideTheUsersOwn(world, tab);
  expect(world.record()).toMatchObject({ key: own });
  world.empty();
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key });
});

test("so it does if what moves to the user is the guest's operation of another page, which knew nothing of the first one", async ({ world, tab }) => {
  const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, namespace: 'guest' })), charged(lost()));
  world.empty();
  const other = world.open({ ...ONE, namespace: 'guest' });
  const own = (await world.end(other.tab, pay(other.once), charged(lost()))).outcome?.key;
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect(world.record()).toMatchObject({ key: own });
  world.empty();
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
});

test("not with the guest's once the user's own has ended: the next press after a log-out is a payment of its own", async ({ world, tab }) => {
  const { ann, key, own } = await besideTheUsersOwn(world, tab);
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key: own });
  await world.clock.advance(5 * MINUTE);
  await world.run(clear(ann));
  await world.run(move(ann, 'guest'));
  const end = await world.end(tab, pay(ann), charged(answers(201)));
  expect(end.outcome).toMatchObject({ type: 'fresh' });
  expect([key, own]).not.toContain(end.outcome?.key);
});

const torn = (world: World): void => world.damage((record) => JSON.stringify(record).slice(0, 99));

test('nor does it come again if the call of the guest ended only after the user had paid', async ({ world, tab }) => {
  const [call] = await world.begin(pay(tab.once({ ...ONE, namespace: 'guest' })), charged(hangs()));
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  const { outcome } = await world.end(tab, pay(ann), replays());
  expect(outcome).toMatchObject({ effect: 'done' });
  expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', key: outcome?.key });
  await world.clock.advance(5 * MINUTE);
  await world.run(clear(ann));
  await world.run(move(ann, 'guest'));
  await world.beginsAnew({ tab, once: ann }, outcome?.key);
});

test.for<[string, (world: World) => void, 'before' | 'after']>([
  ['torn before the move', torn, 'before'],
  ['lost before the move', (world) => world.empty(), 'before'],
  ['lost after the move', (world) => world.empty(), 'after'],
])("the user's press goes on with the key of a guest's call that is still under way, also if its record is %s", async ([, spoil, when], { world, tab }) => {
  const [call] = await world.begin(pay(tab.once({ ...ONE, namespace: 'guest' })), charged(hangs()));
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  if (when === 'before') spoil(world);
  await world.run(move(ann, 'guest'));
  if (when === 'after') spoil(world);
  const press = pay(ann);
  const { outcome } = await world.end(tab, call, replays());
  expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
});

test('so does it if the call began without a network, so that its record said at first that nothing was sent', async ({ world, tab }) => {
  tab.online = false;
  const [call] = await world.begin(pay(tab.once({ ...ONE, namespace: 'guest' })), charged(hangs()));
  await world.clock.advance(4 * SECOND);
  expect(world.server.arrivals).toHaveLength(1);
  world.empty();
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  const press = pay(ann);
  const { outcome } = await world.end(tab, call, replays());
  expect((await world.end(tab, press)).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
});

test('so does it if the call has ended and the record was torn, so that nobody can read whose it is', async ({ world, tab }) => {
  const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, namespace: 'guest' })), charged(lost()));
  torn(world);
  const ann = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
});

test('if the record was damaged, and moved as it is: the screen goes on showing it, and the press is refused', async ({ world, tab }) => {
  let user = 'guest';
  const once = tab.once({ ...ONE, namespace: () => user });
  const shown = onScreen(once);
  const { outcome } = await world.end(tab, pay(once), charged(lost()));
  world.damage((record) => ({ ...record, key: 'x' }));
  user = 'ann';
  await world.run(move(once, 'guest'));
  await rest();
  const unsettled = { phase: 'unsettled', pending: { key: outcome?.key } };
  expect(shown.state).toMatchObject(unsettled);
  expect((await world.end(tab, pay(once))).code).toBe('ERR_ONCE_RECORD');
  await rest();
  expect(shown.state).toMatchObject(unsettled);
});

test('what is done is not sent again', async ({ world, tab }) => {
  const guest = tab.once({ ...ONE, namespace: 'guest' });
  await world.end(tab, pay(guest), charged(during(() => tab.faults.rate('fail-before-commit', 1), answers(201))));
  tab.faults.clear();
  const ann = tab.once({ namespace: 'ann' });
  tab.faults.next('evict');
  await world.run(pending(ann));
  await world.run(move(ann, 'guest'));
  expect((await world.end(tab, pay(ann))).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.arrivals).toHaveLength(1);
});

test('what another page has ended as none meanwhile is not', async ({ world, tab }) => {
  const { outcome } = await world.end(tab, pay(tab.once({ ...ONE, namespace: 'guest' })), lost());
  await world.clock.advance(MINUTE);
  await world.run(settle(world.open({ namespace: 'guest' }).once, NAME, 'none'));
  const ann = tab.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  const end = await world.end(tab, pay(ann), answers(201));
  expect(end.outcome).toMatchObject({ type: 'fresh' });
  expect(end.outcome?.key).not.toBe(outcome?.key);
});

test('what another page has sent again and heard refused meanwhile is not known to be done: the next refusal counts, too', async ({ world }) => {
  const [tab, other] = [world.tab({ resends: true }), world.tab({ resends: true })];
  await world.end(tab, pay(tab.once({ ...ONE, namespace: 'guest' })), answers(401));
  await world.end(other, pay(other.once({ ...ONE, namespace: 'guest' })), answers(400, { code: 'bad_card' }));
  expect(world.record()).toMatchObject({ state: 'retired', keyInUse: true });
  const ann = tab.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect((await world.end(tab, pay(ann), answers(400, { code: 'no_money' }))).outcome).toMatchObject({ effect: 'none' });
});
