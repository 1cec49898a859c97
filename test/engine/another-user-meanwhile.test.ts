/**
 * Goal: what a hook brings that waited while Bob was logged in, and Ann again, is not used for Ann: a key that a server issued to
 * Bob, a token or a signature that an `around` hook added. Crossed with clients that are extended from one another.
 */
import { describe, expect } from 'vitest';
import { type Around, around, extend, type Once, type OnceOptions, operation, pending, refresh, unnamed } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, lost } from '../support/server.js';
import { NAME, newWorld, pay, rest, resumed, SECOND, test, URL_, watched } from '../support/world.js';

function scene(options: OnceOptions = {}) {
  const world = newWorld();
  const who = { user: 'ann' };
  const all = { namespace: () => who.user, ...options };
  const opened = world.open(all);
  /** Bob logs in and out again, seen by `seen`; gives who was here when the hook got its token. */
  const inBetween = async (seen: (user: string) => void): Promise<string> => {
    who.user = 'bob';
    seen('bob');
    await rest();
    const token = who.user;
    who.user = 'ann';
    seen('ann');
    return token;
  };
  return { world, who, inBetween, ...opened };
}

/** Of the first attempt only. */
const onFirst = (act: () => Promise<string>) => {
  let asked = 0;
  return async () => (asked++ ? 'ann' : act());
};

describe('a key that was issued meanwhile', () => {
  test.each([
    ['to a named call', (once: Once, key: () => Promise<string>) => pay(once, { key })],
    ['to a call without a name', (once: Once, key: () => Promise<string>) => watched(once.fetch(URL_, { method: 'POST', body: '{}', once: { key } }))],
  ])('%s is not taken, and nothing leaves; the next press asks again', async (_, press) => {
    const { world, tab, once, inBetween } = scene({ use: [...everything(), unnamed()] });
    const key = onFirst(() => inBetween(() => refresh(once)));
    const end = await world.end(tab, press(once, key));
    expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
    expect([world.server.arrivals, world.records]).toEqual([[], []]);
    expect((await world.end(tab, press(once, key), answers(201))).outcome).toMatchObject({ effect: 'done', key: 'ann' });
  });
});

describe('a header that an around hook adds meanwhile', () => {
  const tokens = (arrivals: readonly { readonly headers: Headers }[]) => arrivals.map(({ headers }) => headers.get('authorization'));

  test('does not leave: the attempt is made again', async () => {
    const own = scene();
    const { world, tab, inBetween } = own;
    const token = onFirst(() => inBetween(() => refresh(once)));
    const once = extend(own.once, { use: [around(async (_, send) => send({ authorization: await token() }))] });
    expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
    expect(tokens(world.server.arrivals)).toEqual(['ann']);
  });

  test('leaves where nobody else was seen, and where the user has gone nothing does', async () => {
    const own = scene();
    const { world, tab, who } = own;
    const once = extend(own.once, { use: [around(async (_, send) => send({ authorization: who.user }))] });
    expect((await world.end(tab, pay(once), charged(lost()), answers(201))).outcome).toMatchObject({ effect: 'done' });
    expect(tokens(world.server.arrivals)).toEqual(['ann', 'ann']);
    const leave: Around = async (_, send) => {
      who.user = 'bob';
      return send();
    };
    const leaving = extend(own.once, { use: [around(leave)] });
    expect((await world.end(tab, pay(leaving, { operation: ['pay', 'c2'] }))).outcome).toMatchObject({ effect: 'none' });
    expect(world.server.arrivals).toHaveLength(2);
  });
});

describe('a client that is extended with another namespace', () => {
  test('and its screens: what they see of their user is no log-in of this one, whose hook counts', async () => {
    const headers = async () => {
      await rest();
      return { authorization: 'ann' };
    };
    const { world, tab, once, who } = scene({ headers });
    const shop = { tenant: 'shop' };
    const other = extend(once, { namespace: () => shop.tenant });
    const handle = operation(other, NAME);
    const seen: string[] = [];
    handle.subscribe(() => seen.push(handle.state.phase));
    await rest();
    world.server.plays(answers(201), answers(201));
    const call = pay(once);
    shop.tenant = 'market';
    expect([handle.state.phase, await pending(other)]).toEqual(['loading', []]);
    expect((await world.end(tab, call)).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
    // Another tenant's operation of that name is another one.
    await rest();
    expect(handle.state.phase).toBe('idle');
    expect((await world.end(tab, watched(handle.fetch(URL_, { method: 'POST', body: '{}' })))).outcome).toMatchObject({ type: 'fresh' });
    expect([handle.state.phase, operation(once, NAME).state.phase, who.user]).toEqual(['settled', 'settled', 'ann']);
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('but with the same one: what its handle saw of another user counts for a hook of this client', async () => {
    const { world, tab, once, inBetween } = scene();
    const twin = operation(extend(once, { repeat: 'always' }), NAME);
    const token = onFirst(() => inBetween(() => void twin.state));
    world.server.plays(answers(201));
    const headers = async () => ({ authorization: await token() });
    expect((await world.end(tab, pay(once, { headers }))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual(['ann']);
  });
});

describe('a call that is named by its content belongs to whoever made it, however long its body takes to be read', () => {
  test.for([[true], [{}]] as const)(
    'A12: another person logs in while the body is read: nothing goes out with the new credentials (%j)',
    async ([once], { world, tab }) => {
      let user = 'ann';
      const client = tab.once({ namespace: () => user, headers: () => ({ authorization: user }) });
      world.server.otherwise = answers(201);
      let end: () => void = () => {};
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          end = () => {
            controller.enqueue(new TextEncoder().encode('{"amount":10}'));
            controller.close();
          };
        },
      });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, once } as unknown as Parameters<typeof client.fetch>[1];
      const call = watched(client.fetch(URL_, init));
      await rest();
      user = 'bob';
      end();
      const { outcome } = await world.end(tab, call);
      await world.clock.advance(SECOND);
      expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual([]);
      // What a name stood for may have been moved or cleared at the log-in. Without one, it is a new operation.
      expect(outcome).toMatchObject({ effect: once === true ? 'unknown' : 'none' });
    },
  );

  test.for([
    ['is here by then: nothing goes out', 'bob', 0],
    ['is gone again by then: it goes out once, as the call of whoever made it', 'ann', 1],
  ] as const)('another person logs in while an async fingerprint answers, and %s', async ([_, atTheEnd, sent], { world, tab }) => {
    let user = 'ann';
    let answer: () => void = () => {};
    const client = tab.once({
      namespace: () => user,
      headers: () => ({ authorization: user }),
      fingerprint: ({ body }) => new Promise((resolve) => (answer = () => resolve(String(body)))),
    });
    world.server.otherwise = answers(201);
    const post = () => watched(client.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"amount":10}', once: true }));
    const call = post();
    await rest();
    const first = answer;
    user = 'bob';
    // Bob sends the very same content, which is an operation of his own.
    const other = post();
    await rest();
    answer();
    expect((await world.end(tab, other)).outcome).toMatchObject({ effect: 'done' });
    user = atTheEnd;
    first();
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: sent ? 'done' : 'unknown' });
    expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual(['bob', ...Array(sent).fill('ann')]);
    expect(new Set(world.server.keys).size).toBe(1 + sent);
  });
});

describe('a resume that is overtaken by a log-in loses nothing of the user before', () => {
  test('a press without a network, stored with its request: another user logs in while it is resumed, and it is still there for the first one', async () => {
    const world = newWorld();
    const next = await pressOffline(world.tab(), (page) => pay(page.once({ namespace: 'ann', keep: { request: true } })));
    let user = 'ann';
    const once = next.once({ namespace: () => user, keep: { request: true } });
    expect(await world.run(pending(once))).toMatchObject([{ sent: 'no', resumable: true }]);
    next.at(4, () => {
      user = 'bob';
    });
    await world.run(resumed(once));
    expect(user).toBe('bob');
    user = 'ann';
    expect(await world.run(pending(once))).toMatchObject([{ sent: 'no', resumable: true }]);
    world.server.plays(answers(201));
    await world.run(resumed(once));
    expect(world.server.arrivals).toHaveLength(1);
  });
});
