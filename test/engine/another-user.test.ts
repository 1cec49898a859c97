/**
 * Goal: hooks and servers are asked for a user only in that user's session, and an answer that another user may have got settles
 * nothing. Method: Bob logs in at every moment of Ann's payment, for each kind of payment that asks a hook or a server more than
 * once; then Ann logs in again and presses the button.
 */
import { describe, expect } from 'vitest';
import { extend, namespace, type Once, type OnceOptions, pending, refresh, resumeOne, run, settle } from '../../src/entries/index.js';
import { answers, charged, during, type Entry, idle, lost } from '../support/server.js';
import { MINUTE, NAME, newWorld, ONE, pay, rest, resumed, saying, test, URL_, watched } from '../support/world.js';

const ACCEPTED = answers(202, '', { location: '/jobs/1' });
const IDENTITY = { effect: 'unknown', reason: 'identity' } as const;

interface Was {
  readonly once: Once;
}

/** A tab in which a user is logged in. */
function session(options: OnceOptions = {}) {
  const world = newWorld();
  const who = { user: 'ann' };
  const logIn = (user: string) => void (who.user = user);
  const all = { namespace: () => who.user, ...options };
  return { who, logIn, all, ...world.open(all) };
}

test('a list is empty if its user logs out while it is read, and the namespace function that then throws is not reported as an error of the app', async ({
  world,
}) => {
  let user: string | undefined = 'ann';
  const namespaceOf = () => {
    if (user === undefined) throw new Error('nobody is logged in');
    return user;
  };
  const { tab, once } = world.open({ namespace: namespaceOf, ...ONE });
  await world.end(tab, pay(once), charged(lost()));
  expect(await pending(once)).toHaveLength(1);
  const listed = pending(once);
  user = undefined;
  expect(await listed).toEqual([]);
  expect(tab.reported).toEqual([]);
});

describe('reconcile', () => {
  test('is not asked when another user has logged in during the attempt', async () => {
    const asked: unknown[] = [];
    const { world, logIn, tab, once } = session({ dialect: 'none', reconcile: saying(asked, 'none' as const) });
    world.server.plays(during(() => logIn('bob'), charged(lost())));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: IDENTITY });
    expect(asked).toEqual([]);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test.each<['none' | 'done' | 'a Response']>([['none'], ['done'], ['a Response']])('that says %s in another session settles nothing', async (said) => {
    const { world, logIn, tab, once } = session({
      reconcile: async () => {
        await rest();
        logIn('bob');
        return said === 'a Response' ? new Response('{}', { status: 200 }) : said;
      },
    });
    expect((await world.end(tab, pay(once, { limits: { attempts: 2 } }), charged(lost()), answers(401))).outcome).toMatchObject(IDENTITY);
    expect(world.record()).toMatchObject({ state: 'pending' });
    expect(tab.reported).toEqual([]);
  });

  test.each([
    ['refresh', async ({ once }: Was) => refresh(once)],
    ['reading the namespace', async ({ once }: Was) => expect(namespace(once)).toBe('bob')],
    ['a call of the other user', async ({ once }: Was) => pending(once)],
    ['a call through an extended client', async ({ once }: Was) => pending(extend(once, { repeat: 'always' }))],
  ])('that was answered while another user was logged in settles nothing, even if the first user is back; the client noticed by %s', async (_, notice) => {
    const { world, logIn, tab, once } = session({
      reconcile: async () => {
        logIn('bob');
        void notice({ once });
        await rest();
        logIn('ann');
        return 'none';
      },
    });
    expect((await world.end(tab, pay(once), charged(lost()), answers(401))).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.record()).toMatchObject({ state: 'pending' });
    expect((await world.end(tab, pay(once), answers(200, {}, { 'idempotent-replayed': 'true' }))).outcome).toMatchObject({ effect: 'done' });
  });

  test('counts on a server, where other users call at the same time', async ({ world }) => {
    const tab = world.tab({ server: true, locks: false });
    let user = 'ann';
    const once = tab.once({
      namespace: () => user,
      reconcile: async () => {
        user = 'bob';
        await pending(once);
        user = 'ann';
        return 'none';
      },
    });
    expect((await world.end(tab, pay(once), lost(), answers(401))).outcome).toMatchObject({ effect: 'none' });
  });

  test('is not asked about work behind a link: the outcome keeps the reason of the poll', async () => {
    const asked: unknown[] = [];
    const { world, logIn, tab, once } = session({ accepted: 'poll', reconcile: saying(asked, 'none' as const) });
    world.server.plays(
      charged(ACCEPTED),
      during(() => logIn('bob'), answers(202)),
    );
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: IDENTITY });
    expect(asked).toEqual([]);
    expect(world.record()).toMatchObject({ state: 'pending', link: expect.stringContaining('/jobs/1') });
  });

  test('is not asked by resume, nor about a key that the server may have forgotten, if another user has logged in', async () => {
    const asked: unknown[] = [];
    const { world, logIn, tab, all } = session({ reconcile: saying(asked, 'none' as const) });
    await world.end(tab, pay(tab.once(all), ONE), charged(lost()));
    for (const wait of [0, 2 * 24 * 60 * MINUTE]) {
      await world.clock.advance(wait);
      const next = tab.reload();
      const call = watched(resumeOne(next.once(all), NAME));
      logIn('bob');
      expect((await world.end(next, call)).outcome).toMatchObject(IDENTITY);
      logIn('ann');
    }
    expect(asked).toEqual([]);
  });
});

describe('a poll', () => {
  test('whose answer came in another session settles nothing', async () => {
    const { world, logIn, tab, once } = session({ accepted: 'poll' });
    world.server.plays(
      charged(ACCEPTED),
      during(() => logIn('bob'), answers(200, { status: 'failed' })),
      answers(200, { status: 'succeeded' }, { 'idempotent-replayed': 'true' }),
    );
    expect((await world.end(tab, pay(once))).outcome).toMatchObject(IDENTITY);
    logIn('ann');
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { effect: 'done' } });
  });

  test('that finds the operation settled by another tab gives that outcome', async () => {
    const { world, tab, once } = session({ accepted: 'poll' });
    const other = world.open({ namespace: 'ann' });
    const [call] = await world.begin(pay(once), charged(ACCEPTED), answers(202));
    // A frozen tab loses its claim, so another tab may settle the operation that this one polls.
    tab.freeze();
    world.locks.die(tab);
    await world.run(settle(other.once, NAME, 'done'));
    tab.thaw();
    expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'done' } });
  });
});

describe('a hook', () => {
  test.each(['rejected', 'rejected-for-good', 'not-sent'] as const)(
    'verdict that says %s of an answer that came in another session settles nothing',
    async (said) => {
      const { world, logIn, tab, once } = session({ verdict: ({ status }) => (status === 404 ? said : undefined) });
      world.server.plays(
        charged(lost()),
        during(() => logIn('bob'), answers(404)),
      );
      expect((await world.end(tab, pay(once))).outcome).toMatchObject(IDENTITY);
      expect(world.record()).toMatchObject({ state: 'pending' });
    },
  );

  test.each(['rejected', 'rejected-for-good', 'not-sent'] as const)(
    'verdict of run that says %s after another user logged in settles nothing',
    async (said) => {
      const { world, logIn, tab, once } = session();
      const effect = async () => {
        await rest();
        logIn('bob');
        throw new Error('no such order');
      };
      const call = watched(run(once, NAME, effect, { verdict: () => said })) as Promise<never>;
      expect((await world.end(tab, call)).outcome).toMatchObject(IDENTITY);
      expect(world.record()).toMatchObject({ state: 'pending' });
    },
  );

  test.each(['named', 'unnamed'])('key whose answer comes in another session: the key is not stored, and nothing is sent (%s)', async (kind) => {
    const { world, logIn, tab, once } = session();
    const key = async () => {
      await rest();
      logIn('bob');
      return 'the-key-of-bob-1';
    };
    const end = await world.end(tab, pay(once, { key, operation: kind === 'named' ? NAME : undefined }));
    expect(end.outcome).toMatchObject({ ...IDENTITY, sent: 'maybe' });
    expect(world.writes).toEqual([]);
  });
});

test('headers that were given while another user was logged in are not sent, even if the first user is back: the hook is asked again', async () => {
  let asked = 0;
  const { world, logIn, tab, once } = session({
    headers: async () => {
      if (++asked > 1) return { authorization: 'ann' };
      logIn('bob');
      refresh(once);
      await rest();
      logIn('ann');
      return { authorization: 'bob' };
    },
  });
  expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual(['ann']);
});

describe('a request without a name that waits to be sent again', () => {
  /** Ann's tab, whose requests without a name get these answers, one after the other. */
  function sending(...replies: readonly (number | Error)[]) {
    const sent: string[] = [];
    const own = session({
      fetch: async () => {
        const reply = replies[sent.push(own.who.user) - 1] ?? 200;
        if (reply instanceof Error) throw reply;
        return new Response(null, { status: reply });
      },
    });
    return { ...own, sent };
  }

  test.each([
    ['a PUT after a 503', { method: 'PUT', body: 'the address of Ann' }, 503, { status: 503 }],
    ['a DELETE after an error', { method: 'DELETE' }, new TypeError('down'), { error: new TypeError('down') }],
    ['a GET after a 503', {}, 503, { status: 503 }],
  ] as const)('is not sent in the session of another user, who has logged in meanwhile: %s', async (_, init, reply, end) => {
    const { world, logIn, tab, once, sent } = sending(reply);
    const [call] = await world.begin(watched(once.fetch(URL_, init)));
    logIn('bob');
    expect(await world.end(tab, call)).toMatchObject(end);
    expect(sent).toEqual(['ann']);
  });

  test('is sent again if nobody was logged in before, and nobody is now', async () => {
    const { world, logIn, tab, once, sent } = sending(503);
    logIn('');
    expect(await world.end(tab, watched(once.fetch(URL_)))).toMatchObject({ status: 200 });
    expect(sent).toHaveLength(2);
  });
});

describe('lists', () => {
  test('pending: the next user sees only operations of their own', async () => {
    const { world, logIn, tab, once } = session();
    await world.end(tab, pay(once, ONE), charged(lost()));
    const list = pending(once);
    logIn('bob');
    expect(await world.run(list)).toEqual([]);
  });

  test('resume: ends without telling of the operations of the previous user', async () => {
    for (const when of ['before the list', 'while one is sent'] as const) {
      const { world, logIn, tab, once } = session();
      await world.end(tab, pay(once, ONE), charged(lost()));
      if (when === 'while one is sent') world.server.plays(during(() => logIn('bob'), answers(200, {}, { 'idempotent-replayed': 'true' })));
      const listing = resumed(once);
      if (when === 'before the list') logIn('bob');
      expect(await world.run(listing)).toEqual([]);
    }
  });
});

const SCENES: Record<string, { readonly fates: readonly (Entry | undefined)[]; readonly options?: OnceOptions }> = {
  'a lost answer': { fates: [lost()] },
  'a refusal after a lost answer': { fates: [lost(), idle(answers(401))] },
  'work behind a link': { fates: [ACCEPTED, idle(answers(202))], options: { accepted: 'poll' } },
  'a server that knows no keys': { fates: [lost()], options: { dialect: 'none' } },
  'a key of the app': { fates: [lost()], options: {} },
};

/**
 * Plays a scene in which Bob logs in at the `count`th crossing of Ann's tab to the world; then Ann comes back and presses again.
 * Gives the number of crossings.
 */
async function played({ fates, options }: (typeof SCENES)[string], count: number, ownKey: boolean): Promise<number> {
  const world = newWorld();
  let user = 'ann';
  let fate = 0;
  const strangers: string[] = [];
  const seen = (hook: string): void => {
    if (user !== 'ann') strangers.push(`${hook}, at ${count}`);
  };
  const tab = world.tab();
  const once = tab.once({
    namespace: () => user,
    ...options,
    headers: async () => {
      seen('headers');
      await rest();
      return {};
    },
    reconcile: async () => {
      seen('reconcile');
      await rest();
      return user === 'ann' ? 'unknown' : 'none';
    },
    fetch: (...sent) => {
      seen('fetch');
      return tab.fetch(...sent);
    },
  });
  world.server.otherwise = async (arrival, server) => {
    const next = fates[fate++];
    if (next && 'idle' in next) return next(arrival, server);
    const marked = { 'idempotent-replayed': 'true' };
    if (arrival.method === 'GET') return answers(200, {}, marked)(arrival, server);
    const known = server.charged.has(arrival.key);
    server.charged.add(arrival.key);
    return next ? next(arrival, server) : answers(known ? 200 : 201, {}, known ? marked : {})(arrival, server);
  };
  const strategy = async () => {
    seen('key');
    await rest();
    return 'order-0001-of-ann';
  };
  const key = ownKey ? strategy : undefined;
  const before = tab.crossings;
  tab.at(count, () => void (user = 'bob'));
  const told = await world.end(tab, pay(once, { key }));
  const moments = tab.crossings - before;
  expect(strangers).toEqual([]);
  if (told.outcome?.effect === 'unknown' && world.server.arrivals.length) expect(world.record()).toMatchObject({ state: 'pending' });
  tab.at(Number.POSITIVE_INFINITY, () => {});
  user = 'ann';
  if (options?.dialect === 'none') return moments;
  for (let press = 0; press < 3; press++) if ((await world.end(tab, pay(once, { key }))).outcome?.effect === 'done') break;
  expect(world.server.charged.size, `at ${count}`).toBe(1);
  return moments;
}

test.each(Object.entries(SCENES))(
  '%s: another user logs in at any await: no hook is called for that user, nothing is lost, nothing takes effect twice',
  async (name, scene) => {
    const ownKey = name === 'a key of the app';
    const moments = await played(scene, Number.POSITIVE_INFINITY, ownKey);
    expect(moments).toBeGreaterThan(5);
    for (let count = 1; count <= moments; count++) await played(scene, count, ownKey);
  },
);
