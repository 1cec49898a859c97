/**
 * Goal: if Bob was logged in while a hook of Ann's call was awaited, and Ann is back, the result of the hook is not used for Ann:
 * a key that a server issued to Bob, or a token or signature that an `around` hook added. This also holds for clients that are
 * extended from one another.
 */
import { describe, expect } from 'vitest';
import { type Around, around, extend, move, type Once, type OnceOptions, operation, pending, refresh, run, unnamed } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, lost } from '../support/server.js';
import { MINUTE, NAME, newWorld, ONE, pay, rest, resumed, SECOND, test, URL_, type World, watched } from '../support/world.js';

function scene(options: OnceOptions = {}) {
  const world = newWorld();
  const who = { user: 'ann' };
  const all = { namespace: () => who.user, ...options };
  const opened = world.open(all);
  /** Bob logs in and out again, and `seen` lets the client notice. Gives the user for whom the hook got its token. */
  const inBetween = async (seen: (user: string) => void): Promise<string> => {
    who.user = 'bob';
    seen('bob');
    await rest();
    const token = who.user;
    who.user = 'ann';
    seen('ann');
    return token;
  };
  return { who, inBetween, ...opened };
}

/** Runs `act` for the first attempt only. */
const onFirst = (act: () => Promise<string>) => {
  let asked = 0;
  return async () => (asked++ ? 'ann' : act());
};

test.each([
  ['to a named call', (once: Once, key: () => Promise<string>) => pay(once, { key })],
  ['to a call without a name', (once: Once, key: () => Promise<string>) => watched(once.fetch(URL_, { method: 'POST', body: '{}', once: { key } }))],
])('a key that was issued while Bob was logged in: %s is not used, and nothing is sent; the next press asks for a key again', async (_, press) => {
  const { world, tab, once, inBetween } = scene({ use: [...everything(), unnamed()] });
  const key = onFirst(() => inBetween(() => refresh(once)));
  expect((await world.end(tab, press(once, key))).outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
  expect([world.server.arrivals, world.records]).toEqual([[], []]);
  expect((await world.end(tab, press(once, key), answers(201))).outcome).toMatchObject({ effect: 'done', key: 'ann' });
});

describe('a header that an around hook got while Bob was logged in', () => {
  const tokens = (arrivals: readonly { readonly headers: Headers }[]) => arrivals.map(({ headers }) => headers.get('authorization'));

  test('is not sent: the attempt is made again', async () => {
    const own = scene();
    const { world, tab, inBetween } = own;
    const token = onFirst(() => inBetween(() => refresh(once)));
    const once = extend(own.once, { use: [around(async (_, send) => send({ authorization: await token() }))] });
    expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
    expect(tokens(world.server.arrivals)).toEqual(['ann']);
  });

  test('is sent if nobody else was logged in; if the user has gone, nothing is sent', async () => {
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

describe('a client that is extended', () => {
  test('with a namespace of its own can change it: that does not count as a log-in for the first client, whose headers are sent', async () => {
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
    // The other tenant has an operation of its own under this name.
    await rest();
    expect(handle.state.phase).toBe('idle');
    expect((await world.end(tab, watched(handle.fetch(URL_, { method: 'POST', body: '{}' })))).outcome).toMatchObject({ type: 'fresh' });
    expect([handle.state.phase, operation(once, NAME).state.phase, who.user]).toEqual(['settled', 'settled', 'ann']);
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('with the same namespace: a log-in that its handle notices makes the first client ask its headers hook again', async () => {
    const { world, tab, once, inBetween } = scene();
    const twin = operation(extend(once, { repeat: 'always' }), NAME);
    const token = onFirst(() => inBetween(() => void twin.state));
    world.server.plays(answers(201));
    const headers = async () => ({ authorization: await token() });
    expect((await world.end(tab, pay(once, { headers }))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual(['ann']);
  });
});

describe('a call that is named by its content belongs to the user who made it, however long reading its body takes', () => {
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
      const [call] = await world.begin(watched(client.fetch(URL_, init)));
      user = 'bob';
      end();
      const { outcome } = await world.end(tab, call);
      await world.clock.advance(SECOND);
      expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual([]);
      // With `true`, the operation of that content may have been moved or cleared at the log-in. Without a name, the operation is new.
      expect(outcome).toMatchObject({ effect: once === true ? 'unknown' : 'none' });
    },
  );

  test.for([
    ['is still logged in at the answer: nothing is sent', 'bob', 0],
    ['has logged out by then: the request is sent once, as the call of its user', 'ann', 1],
  ] as const)('another person logs in while an async fingerprint is awaited, and %s', async ([_, atTheEnd, sent], { world, tab }) => {
    let user = 'ann';
    let answer: () => void = () => {};
    const client = tab.once({
      namespace: () => user,
      headers: () => ({ authorization: user }),
      fingerprint: ({ body }) => new Promise((resolve) => (answer = () => resolve(String(body)))),
    });
    world.server.otherwise = answers(201);
    const post = () => watched(client.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"amount":10}', once: true }));
    const [call] = await world.begin(post());
    const first = answer;
    user = 'bob';
    // Bob sends the same content, which is an operation of his own.
    const [other] = await world.begin(post());
    answer();
    expect((await world.end(tab, other)).outcome).toMatchObject({ effect: 'done' });
    user = atTheEnd;
    first();
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: sent ? 'done' : 'unknown' });
    expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual(['bob', ...Array(sent).fill('ann')]);
    expect(new Set(world.server.keys).size).toBe(1 + sent);
  });
});

describe('a log-in during a resume loses nothing of the previous user', () => {
  test('an offline press is stored with its request; another user logs in while it is resumed, and the first user still finds it', async ({ world }) => {
    const next = await pressOffline(world.tab(), (page) => pay(page.once({ namespace: 'ann', keep: { request: true } })));
    let user = 'ann';
    const once = next.once({ namespace: () => user, keep: { request: true } });
    expect(await world.run(pending(once))).toMatchObject([{ sent: 'no', resumable: true }]);
    next.at(4, () => void (user = 'bob'));
    await world.run(resumed(once));
    expect(user).toBe('bob');
    user = 'ann';
    expect(await world.run(pending(once))).toMatchObject([{ sent: 'no', resumable: true }]);
    world.server.plays(answers(201));
    await world.run(resumed(once));
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('on a server, a call that has not looked yet when its user logs in', () => {
  const PROCESS = { server: true, locks: false } as const;

  /** The process is frozen before its first look, and meanwhile its user logs in. */
  async function logsIn(world: World, begin: (once: Once) => Promise<Response>, meanwhile?: () => Promise<unknown>, then: () => string = () => 'ann') {
    const who = { user: () => 'guest' };
    const { tab, once } = world.open({ ...ONE, namespace: () => who.user() }, PROCESS);
    tab.at(1, () => tab.freeze());
    const [call] = await world.begin(begin(once));
    who.user = then;
    await meanwhile?.();
    tab.thaw();
    return world.end(tab, call);
  }

  test.for<[string, (once: Once) => Promise<Response>]>([
    ['a call', (once) => pay(once)],
    ['a function', (once) => run(once, NAME, () => Promise.reject<Response>(new Error('it was called')))],
  ])('is not told that nothing was sent if `move` takes what another process has sent: %s', async ([, begin], { world }) => {
    const [first, later] = [world.open({ ...ONE, namespace: 'guest' }, PROCESS), world.open({ ...ONE, namespace: 'ann' }, PROCESS)];
    await world.end(first.tab, pay(first.once), charged(lost()));
    const { outcome } = await logsIn(world, begin, () => world.run(move(later.once, 'guest')));
    expect(outcome).toMatchObject({ effect: 'unknown', reason: 'identity', attempts: 0 });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('is not told that either if the namespace throws by then, as where the session is gone', async ({ world }) => {
    const [first, later] = [world.open({ ...ONE, namespace: 'guest' }, PROCESS), world.open({ ...ONE, namespace: 'ann' }, PROCESS)];
    await world.end(first.tab, pay(first.once), charged(lost()));
    const noSession = () => {
      throw new Error('no session');
    };
    const { outcome } = await logsIn(world, pay, () => world.run(move(later.once, 'guest')), noSession);
    expect(outcome).toMatchObject({ effect: 'unknown', reason: 'identity', attempts: 0 });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('is told that nothing was sent if it finds the record, and that says so', async ({ world }) => {
    await pressOffline(world.tab(), (page) => pay(page.once({ namespace: 'guest' })));
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false });
    await world.clock.advance(MINUTE);
    expect((await logsIn(world, (once) => pay(once))).outcome).toMatchObject({ type: 'unsent' });
  });
});
