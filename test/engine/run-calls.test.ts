/**
 * Goal: what a function of `run` does by calls of the client, under names of their own, counts for the run: one that had an effect is not told as "no
 * effect", and a process that slept in the function until another one took the operation over makes none any more, because the other one may have been
 * told that there was no effect. Method: processes whose platform tells where a call was made, the first of which is frozen at every crossing.
 */
import { describe, expect, test } from 'vitest';
import { type Attempt, clear, explain, move, type Once, type OnceError, type OperationName, run } from '../../src/entries/index.js';
import { nesting } from '../../src/platform/node/nesting.js';
import { type Arrival, answers, charged, delayed, type Entry, lost } from '../support/server.js';
import { slow } from '../support/slow-function.js';
import type { Tab } from '../support/tab.js';
import { CART, HOUR, MINUTE, NAME, newWorld, type PayOptions, pay, rest, SECOND, watched } from '../support/world.js';

const declines = answers(402, { code: 'card_declined' }, { 'idempotent-replayed': 'true' });
const notFound = answers(404, { code: 'no_address' });

interface Process {
  readonly tab: Tab;
  readonly once: Once;
}

function scene() {
  const world = newWorld();
  const start = (name: string): Process => {
    const tab = world.tab({ name, server: true, locks: false });
    Object.assign(tab.platform, { nesting });
    return { tab, once: tab.once({ namespace: 'orders' }) };
  };
  const calls = (once: Once, operation: OperationName, options: PayOptions = {}) => pay(once, { ...options, operation, limits: { attempts: 1 } });
  const charge = (once: Once) => calls(once, ['charge', 'c1']);
  const work = ({ tab, once }: Process, effect: (attempt: Attempt) => unknown = () => charge(once)) =>
    tab.in(() => watched(run(once, NAME, effect as () => Promise<Response>, { limits: { attempts: 1 } })));
  /** How a run ended. Its own key is never sent, so the world does not check that. */
  const told = async ({ tab }: Process, call: Promise<unknown>) => tab.outcomeOf(await world.run(call.catch((error: unknown) => error)));
  return { world, start, calls, charge, work, told };
}

describe('a process that sleeps in the function of `run`, until another one is told that the card was declined', () => {
  /** A server that declines at first. It repeats what it has answered to a key, and marks that. */
  function bank({ server }: ReturnType<typeof newWorld>) {
    const declined = new Set<string | null>();
    const state = { declining: true };
    const charges = charged(answers(201, { id: 'ch_1' }));
    server.otherwise = (arrival: Arrival) => {
      if (state.declining) declined.add(arrival.key);
      return (declined.has(arrival.key) ? declines : charges)(arrival, server);
    };
    return state;
  }

  test('before it makes its call: it makes none, and the next delivery charges', async () => {
    const { world, start, charge, work, told } = scene();
    const [first, second] = [start('first'), start('second')];
    const card = bank(world);
    const refused: unknown[] = [];
    const { effect, end } = slow(async () => {
      const charged = charge(first.once);
      await charged.catch((error: unknown) => refused.push(error));
      return charged;
    });
    const [sleeping] = await world.begin(work(first, effect));
    first.tab.freeze();
    await world.clock.advance(40 * SECOND);
    expect(await told(second, work(second))).toMatchObject({ effect: 'none' });
    card.declining = false;
    first.tab.thaw();
    await end();
    expect(await told(first, sleeping)).toMatchObject({ effect: 'unknown' });
    expect(refused).toHaveLength(1);
    expect(explain((refused[0] as OnceError).outcome).summary).toMatch(/another process took over the function/);
    expect(world.server.arrivals.map(({ from }) => from)).toEqual(['second']);
    expect(await told(second, work(second))).toMatchObject({ effect: 'done' });
    expect(world.server.charged.size).toBe(1);
  });

  test.each([
    ['nothing', []],
    ['a refusal that leaves the key in use', [answers(429)]],
    ['an earlier effect', [charged(answers(201))]],
  ])('before its call under a child key, over a record of %s: that record is as before, and the next delivery charges', async (_, before) => {
    const { world, start, told } = scene();
    const [first, second] = [start('first'), start('second')];
    const options = { operation: ['charge', 'c1'], repeat: 'always', limits: { attempts: 1 } } as const;
    if (before.length) await world.end(first.tab, pay(first.once, options), ...before);
    const found = world.record(['charge', 'c1']);
    const charge = ({ once }: Process, { child }: Attempt) => pay(once, { ...options, key: child('charge') });
    const work = (process: Process, effect: (attempt: Attempt) => unknown) =>
      process.tab.in(() => watched(run(process.once, NAME, effect as () => Promise<Response>, { limits: { attempts: 1 } })));
    const { effect, end } = slow((attempt) => charge(first, attempt));
    const [sleeping] = await world.begin(work(first, effect));
    first.tab.freeze();
    await world.clock.advance(40 * SECOND);
    // The other process finds that the order is cancelled.
    const refused = () => new Response(null, { status: 402, headers: { 'idempotent-replayed': 'true' } });
    expect(await told(second, work(second, refused))).toMatchObject({ effect: 'none' });
    first.tab.thaw();
    await end();
    expect(await told(first, sleeping)).toMatchObject({ effect: 'unknown' });
    expect(world.record(['charge', 'c1'])).toEqual(found);
    world.server.otherwise = charged(answers(201));
    const again = work(second, (attempt) => charge(second, attempt));
    expect(await told(second, again)).toMatchObject({ effect: 'done' });
  });

  test.each([
    ['before its call under a child key that an earlier delivery has sent', true],
    ['between two attempts of its call under a child key', false],
  ])('%s: the record of that call stays', async (_, earlier) => {
    const { world, start, told } = scene();
    const [first, second] = [start('first'), start('second')];
    const charge = ({ once }: Process, { child }: Attempt) =>
      pay(once, { operation: ['charge', 'c1'], key: child('charge'), limits: { attempts: earlier ? 1 : 2 } });
    const work = (process: Process, effect: (attempt: Attempt) => unknown) =>
      process.tab.in(() => watched(run(process.once, NAME, effect as () => Promise<Response>, { limits: { attempts: 1 } })));
    world.server.plays(charged(lost()));
    if (earlier)
      await told(
        second,
        work(second, (attempt) => charge(second, attempt)),
      );
    const { effect, end } = slow((attempt) => charge(first, attempt));
    const [sleeping] = await world.begin(work(first, earlier ? effect : (attempt) => charge(first, attempt)));
    first.tab.freeze();
    await world.clock.advance(40 * SECOND);
    const refused = () => new Response(null, { status: 402, headers: { 'idempotent-replayed': 'true' } });
    await told(second, work(second, refused));
    first.tab.thaw();
    if (earlier) await end();
    await told(first, sleeping);
    expect(world.server.arrivals).toHaveLength(1);
    expect(world.record(['charge', 'c1'])).toMatchObject({ state: 'pending', ambiguous: true, key: world.server.keys[0] });
  });

  // Its claim is behind the first one.
  test.each(Array.from({ length: 23 }, (_, crossing) => crossing + 2))(
    'at crossing %i: nothing is charged after that, until the next delivery',
    async (crossing) => {
      const { world, start, work, told } = scene();
      const [first, second] = [start('first'), start('second')];
      const card = bank(world);
      first.tab.at(crossing, () => first.tab.freeze());
      const [sleeping] = await world.begin(work(first));
      await world.clock.advance(40 * SECOND);
      const outcome = await told(second, work(second));
      card.declining = false;
      first.tab.thaw();
      const own = await told(first, sleeping);
      if (outcome?.effect === 'none') expect([...world.server.charged], own?.effect).toEqual([]);
      const later = start('later');
      await world.clock.advance(40 * SECOND);
      await told(later, work(later));
      expect(world.server.charged.size).toBeLessThan(2);
    },
  );
});

describe('a function that makes several calls under names of their own', () => {
  test.each<[string, (once: Once) => Promise<Response>, Entry]>([
    ['the Response of another such call', (once) => pay(once, { operation: ['notify', 1] }), notFound],
    ['a Response of its own', async () => Response.json(CART, { status: 404 }), notFound],
  ])('of which the first one took effect, and which returns %s, a refusal: unknown', async (_, last, meets) => {
    const { world, start, charge, work, told } = scene();
    const one = start('one');
    for (let delivery = 0; delivery < 2; delivery++) {
      const effect = async () => {
        expect((await charge(one.once)).ok).toBe(true);
        return last(one.once);
      };
      world.server.otherwise = (arrival) => (world.server.charged.size ? meets : charged(answers(201)))(arrival, world.server);
      expect(await told(one, work(one, effect))).toMatchObject({ effect: 'unknown' });
      world.server.otherwise = meets;
    }
  });

  test('of which a lost answer turns out to be a refusal when the function runs again: it is refused', async () => {
    const { world, start, calls, told } = scene();
    const one = start('one');
    world.server.otherwise = declines;
    world.server.plays(lost());
    const call = one.tab.in(() => watched(run(one.once, NAME, () => calls(one.once, ['charge', 'c1']), { limits: { attempts: 2 } })));
    expect(await told(one, call)).toMatchObject({ effect: 'none' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('which were all refused: it is refused, as another card may be taken', async () => {
    const { world, start, calls, work, told } = scene();
    const one = start('one');
    world.server.otherwise = declines;
    const effect = async () => {
      await calls(one.once, ['charge', 'first card']);
      return calls(one.once, ['charge', 'second card']);
    };
    expect(await told(one, work(one, effect))).toMatchObject({ effect: 'none' });
  });

  test('which were under one name at once: what the first one was refused says nothing of the second one', async () => {
    const { world, start, calls, work, told } = scene();
    const one = start('one');
    world.server.plays(notFound, lost());
    const effect = async () => {
      await Promise.allSettled([calls(one.once, ['charge', 'c1'], { body: 'first card' }), calls(one.once, ['charge', 'c1'], { body: 'second card' })]);
      return Response.json(CART, { status: 404 });
    };
    expect(await told(one, work(one, effect))).toMatchObject({ effect: 'unknown' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('which was refused while another one under its name goes on, which the function does not wait for: unknown', async () => {
    const { world, start, calls, work, told } = scene();
    const one = start('one');
    world.server.plays(notFound, delayed(5 * SECOND, charged(answers(201))));
    const effect = async () => {
      const first = calls(one.once, ['charge', 'c1'], { body: 'first card' });
      void calls(one.once, ['charge', 'c1'], { body: 'second card' }).catch(() => {});
      return first;
    };
    expect(await told(one, work(one, effect))).toMatchObject({ effect: 'unknown' });
  });

  test.each<[string, PayOptions]>([
    ['found the operation busy', { whenBusy: 'reject' }],
    ['waited for another one until its time was over', { body: 'second card', limits: { attempts: 1, totalMs: 2 * SECOND } }],
  ])('of which one %s: when the function runs again, and the call is refused, the run is refused', async (_, options) => {
    const { world, start, calls, told } = scene();
    const one = start('one');
    world.server.plays(delayed(5 * SECOND, declines));
    world.server.otherwise = declines;
    const [beside] = await world.begin(one.tab.in(() => watched(calls(one.once, ['charge', 'c1']))));
    let deliveries = 0;
    const effect = async () => {
      deliveries++;
      if (deliveries > 1) return calls(one.once, ['charge', 'c1'], { body: 'second card' });
      try {
        return await pay(one.once, { operation: ['charge', 'c1'], limits: { attempts: 1 }, ...options });
      } finally {
        await beside.catch(() => {});
      }
    };
    const call = one.tab.in(() => watched(run(one.once, NAME, effect, { limits: { attempts: 2 } })));
    expect(await told(one, call)).toMatchObject({ effect: 'none' });
    expect(deliveries).toBe(2);
  });

  const throws = (): never => {
    throw new Error('the app');
  };
  test.each<[string, string, PayOptions]>([
    ['with a hook that throws', 'orders', { onOutcome: throws }],
    ['of a client with another namespace', 'mails', {}],
  ])('%s: what had an effect counts, and what was refused does not', async (_, namespace, options) => {
    const { world, start, calls, work, told } = scene();
    const one = start('one');
    const once = one.tab.once({ namespace });
    const effect = (meets: Entry) => async () => {
      world.server.plays(meets);
      await calls(once, ['charge', 'c1'], options).catch(() => {});
      return Response.json(CART, { status: 404 });
    };
    expect(await told(one, work(one, effect(declines)))).toMatchObject({ effect: 'none' });
    expect(await told(one, work(one, effect(charged(answers(201)))))).toMatchObject({ effect: 'unknown' });
  });

  test('of which an edited one (`if-changed`) is refused after the first one was done: unknown', async () => {
    const { world, start, calls, work, told } = scene();
    const one = start('one');
    world.server.plays(charged(answers(201)), declines);
    const effect = async () => {
      await calls(one.once, ['charge', 'c1']);
      return calls(one.once, ['charge', 'c1'], { body: 'second card', repeat: 'if-changed' });
    };
    expect(await told(one, work(one, effect))).toMatchObject({ effect: 'unknown' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('of which one that is done does not matter: `verdict` says that the run was refused', async () => {
    const { world, start, calls, told } = scene();
    const one = start('one');
    world.server.otherwise = answers(201);
    const effect = async () => {
      await calls(one.once, ['mail', 'c1']);
      return Response.json(CART, { status: 402 });
    };
    const call = one.tab.in(() =>
      watched(
        run(one.once, NAME, effect, { limits: { attempts: 1 }, verdict: (end) => ('value' in end && end.value.status === 402 ? 'rejected' : undefined) }),
      ),
    );
    expect(await told(one, call)).toMatchObject({ effect: 'none' });
  });
});

describe.each([
  ['page', false],
  ['process', true],
])('after a log-out in a %s', (_, server) => {
  /** A function that charges, and whose next call gets no answer: the run is unsettled, its charge is done. */
  async function leftOpen(limits: { keyWindowMs?: number } = {}) {
    const { world, calls, told } = scene();
    const tab = world.tab({ server, locks: !server });
    if (server) Object.assign(tab.platform, { nesting });
    const one: Process = { tab, once: tab.once({ namespace: 'ann' }) };
    const checkout = () => {
      const effect = async () => {
        await calls(one.once, ['charge', 'c1']).catch(() => {});
        return calls(one.once, ['ship', 'c1']);
      };
      return told(
        one,
        tab.in(() => watched(run(one.once, NAME, effect, { limits: { attempts: 1, ...limits } }))),
      );
    };
    world.server.plays(charged(answers(201)), lost());
    expect(await checkout()).toMatchObject({ effect: 'unknown' });
    return { world, one, calls, checkout };
  }

  test('hours later, a run that is unsettled makes no call again that is done', async () => {
    const { world, one, checkout } = await leftOpen();
    await world.run(clear(one.once));
    await world.clock.advance(12 * HOUR);
    world.server.plays(charged(answers(201)));
    expect(await checkout()).toMatchObject({ effect: 'done' });
    expect(world.server.keys).toEqual([expect.anything(), expect.anything(), world.server.keys[1]]);
    // Once the run is settled, nothing is kept of its calls.
    expect(world.record(['charge', 'c1'])).toMatchObject({ state: 'settled', answer: undefined });
    await world.run(clear(one.once));
    expect(world.record(['charge', 'c1'])).toBeUndefined();
  });

  test('so it does if its key has no end, which a store of JSON holds as null', async () => {
    const { world, one, checkout } = await leftOpen({ keyWindowMs: Infinity });
    world.damage((record) => JSON.parse(JSON.stringify(record)));
    expect(world.record()?.windowEndsAt).toBeNull();
    await world.run(clear(one.once));
    await world.clock.advance(12 * HOUR);
    world.server.plays(charged(answers(201)));
    expect(await checkout()).toMatchObject({ effect: 'done' });
    expect(world.server.keys).toEqual([expect.anything(), expect.anything(), world.server.keys[1]]);
  });

  test('what a sweep has found due does not live longer because of the run', async () => {
    const { world, one, calls } = await leftOpen();
    const other = () => world.end(one.tab, calls(one.once, ['other'], { keep: { forMs: HOUR } }), charged(answers(201)));
    await other();
    await world.clock.advance(HOUR + MINUTE);
    await world.end(one.tab, calls(one.tab.once({ namespace: 'ann' }), ['another']), charged(answers(201)));
    await rest();
    expect(world.record(['other'])).toMatchObject({ dueAt: expect.any(Number) });
    await world.run(clear(one.once));
    expect(world.record(['other'])).toBeUndefined();
    expect((await other()).outcome).toMatchObject({ type: 'fresh' });
  });

  test('that forgets what is unsettled: nothing is kept', async () => {
    const { world, one } = await leftOpen();
    await world.run(clear(one.once, { unsettled: 'forget' }));
    expect(world.records).toEqual([]);
  });
});

test('a guest logs in while the function runs: under a child key, its call charges no second time when it runs again for the user', async () => {
  const { world, told } = scene();
  const tab = world.tab({ server: true, locks: false });
  const [guest, user] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
  world.server.otherwise = charged(answers(201));
  const checkout = (once: Once, then: () => unknown) => {
    const effect = async (attempt: Attempt) => {
      await pay(once, { operation: ['charge', 'c1'], key: attempt.child('charge') });
      return then();
    };
    return told(
      { tab, once },
      tab.in(() => watched(run(once, NAME, effect, { limits: { attempts: 1 } }))),
    );
  };
  const logsIn = async () => {
    await move(user, 'guest');
    throw new Error('lost');
  };
  expect(await checkout(guest, logsIn)).toMatchObject({ effect: 'unknown' });
  await world.clock.advance(MINUTE);
  expect(await checkout(user, () => ({ shipped: true }))).toMatchObject({ effect: 'done' });
  expect(world.server.charged.size).toBe(1);
});
