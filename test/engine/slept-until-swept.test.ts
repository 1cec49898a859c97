/**
 * Goal: a call that has seen another context drive its operation, and then finds no record, begins no second one: it slept until the operation was
 * settled and swept, or `move` or a log-out has taken the record. Nor does a call with another payload that waits for one of its own realm which saw that, or which has sent the operation. Method:
 * `keep.forMs` is short, and the call that sleeps has more time than the record is kept; sweeps of later pages remove the record.
 */
import { describe, expect } from 'vitest';
import { clear, move, type Once, resumeOne, run } from '../../src/entries/index.js';
import { answers, charged, delayed, type Entry, lost, unreachable } from '../support/server.js';
import type { Tab, TabOptions } from '../support/tab.js';
import { HOUR, MINUTE, NAME, ONE, type PayOptions, pay, SECOND, test, URL_, type World, watched } from '../support/world.js';

const SHORT = { namespace: 'shop', keep: { forMs: 0 } } as const;
const PATIENT = { ...SHORT, limits: { totalMs: HOUR } } as const;
const CONTEXTS: [string, TabOptions][] = [
  ['pages', {}],
  ['processes', { server: true, locks: false }],
];

const REMOVES: [string, (world: World, of: TabOptions) => Promise<unknown>][] = [
  ['the user logs in on another page, and `move` takes the operation', (world, of) => move(world.open({ ...ONE, namespace: 'ann' }, of).once, 'shop')],
  ['a log-out drops all keys', (world, of) => clear(world.open(SHORT, of).once, { unsettled: 'forget' })],
];

/** Two later pages, each of which sweeps once: the first one notes the record, the second one removes it. */
async function swept(world: World, of: TabOptions): Promise<void> {
  for (const name of ['later', 'last']) {
    await world.clock.advance(5 * MINUTE);
    const { tab, once } = world.open(SHORT, of);
    await world.end(tab, pay(once, { operation: [name] }), answers(201));
  }
  expect(world.record()).toBeUndefined();
}

/** One context drives, a patient one waits for it and is frozen; then the first one ends. */
async function frozen(
  world: World,
  of: TabOptions,
  crossings = 0,
): Promise<{ readonly driver: { tab: Tab; once: Once }; readonly waiter: Tab; readonly call: Promise<Response> }> {
  const driver = world.open(SHORT, of);
  const { tab: waiter, once } = world.open(PATIENT, of);
  const [first] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(answers(201))));
  if (crossings) waiter.at(crossings, () => waiter.freeze());
  const [call] = await world.begin(pay(once));
  if (!crossings) waiter.freeze();
  await world.end(driver.tab, first);
  return { driver, waiter, call };
}

const NOT_SURE = { outcome: { effect: 'unknown', attempts: 0 } };

describe.each(CONTEXTS)('in %s', (_, of) => {
  test.for([0, 2, 4])(
    'a call that is frozen in its wait (at crossing %i), and thaws after the record was swept, sends nothing',
    async (crossings, { world }) => {
      const { waiter, call } = await frozen(world, of, crossings);
      await swept(world, of);
      waiter.thaw();
      expect(await world.end(waiter, call)).toMatchObject(NOT_SURE);
      expect(world.server.arrivals).toHaveLength(3);
    },
  );

  test('a call that thaws while the record is there is told that it is done', async ({ world }) => {
    const { waiter, call } = await frozen(world, of);
    await world.clock.advance(10 * MINUTE);
    waiter.thaw();
    expect(await world.end(waiter, call)).toMatchObject({ outcome: { effect: 'done' } });
  });
});

describe.each(CONTEXTS)('in %s, a call with another payload that waits behind the frozen one', (_, of) => {
  test.for<[string, PayOptions]>([
    ['is told of the end together with it', {}],
    ['has more time than it', { limits: { totalMs: MINUTE } }],
    ['outlives its caller, who has left', { signal: AbortSignal.timeout(0) }],
  ])('and %s sends nothing', async ([, first], { world }) => {
    const [driver, { tab, once }] = [world.open(SHORT, of), world.open(PATIENT, of)];
    const [theirs] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(answers(201))));
    const left = new AbortController();
    const front = pay(once, { ...first, ...(first.signal && { signal: left.signal }) });
    const [call] = await world.begin(pay(once, { body: { cart: 'c1', amount: 12 } }));
    tab.freeze();
    await world.end(driver.tab, theirs);
    await swept(world, of);
    left.abort();
    tab.thaw();
    await world.run(Promise.allSettled([front]));
    expect(await world.end(tab, call)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(3);
  });
});

test('a call that waits behind one that drove for minutes and sent nothing sends its own payload', async ({ world }) => {
  const { tab, once } = world.open(PATIENT, { server: true, locks: false });
  world.server.plays(delayed(2 * MINUTE, unreachable()), answers(201));
  const front = pay(once, { limits: { ...ONE.limits, attemptMs: 3 * MINUTE } });
  const call = pay(once, { body: { cart: 'c1', amount: 12 } });
  expect((await world.end(tab, front)).outcome).toMatchObject({ type: 'unsent' });
  expect((await world.end(tab, call)).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
});

/** A call waits for another context, and is frozen. That one's operation is dropped by a log-out, and is done afterwards. */
async function frozenUntilDropped(world: World, of: TabOptions) {
  const driver = world.open(SHORT, of);
  const { tab: waiter, once } = world.open(PATIENT, of);
  const [first] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(answers(201))));
  const [call] = await world.begin(pay(once, { body: { cart: 'c1', amount: 13 } }));
  waiter.freeze();
  await world.run(clear(driver.once, { unsettled: 'forget' }));
  await world.end(driver.tab, first);
  await world.clock.advance(MINUTE);
  return { driver, waiter, call };
}

describe.each(CONTEXTS)('in %s, a log-out drops the operation while the call is frozen, and the next press has', (_, of) => {
  const EDITED = { body: { cart: 'c1', amount: 12 } };

  test.for<[string, Entry]>([
    ['been refused', answers(400, { code: 'bad_card' })],
    ['an outcome that is unknown', lost()],
  ])('%s: the call sends nothing, because the operation that it has seen may be done', async ([, meets], { world }) => {
    const { driver, waiter, call } = await frozenUntilDropped(world, of);
    await world.end(driver.tab, pay(driver.once, { ...EDITED, ...ONE }), meets);
    const sent = world.server.arrivals.length;
    await world.clock.advance(MINUTE);
    waiter.thaw();
    expect(await world.end(waiter, call)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(sent);
  });
});

test.for<[string, TabOptions]>([
  ['processes', { server: true, locks: false }],
  ['pages without locks', { locks: false }],
])('in %s, the call sends nothing if it thaws while that press is being sent, and is refused afterwards', async ([, of], { world }) => {
  const { driver, waiter, call } = await frozenUntilDropped(world, of);
  const press = pay(driver.once, { body: { cart: 'c1', amount: 12 }, ...ONE });
  const [second] = await world.begin(press, delayed(5 * SECOND, answers(400, { code: 'bad_card' })));
  await world.clock.advance(2 * SECOND);
  waiter.thaw();
  expect((await world.end(driver.tab, second)).outcome).toMatchObject({ effect: 'none' });
  expect(await world.end(waiter, call)).toMatchObject(NOT_SURE);
  expect(world.server.arrivals).toHaveLength(2);
});

test('a log-out that removes the record while the call is frozen is the same', async ({ world }) => {
  const { driver, waiter, call } = await frozen(world, {});
  await world.clock.advance(5 * MINUTE);
  await world.run(clear(driver.once));
  expect(world.record()).toBeUndefined();
  waiter.thaw();
  expect(await world.end(waiter, call)).toMatchObject(NOT_SURE);
});

test('a call that waited for minutes, awake, sends nothing if the other one ends with nothing sent: the record could be gone for another reason', async ({
  world,
}) => {
  const process = { server: true, locks: false } as const;
  const driver = world.open(SHORT, process);
  const { tab: waiter, once } = world.open(PATIENT, process);
  world.server.plays(delayed(2 * MINUTE, unreachable()), answers(201));
  const [first] = await world.begin(pay(driver.once, { limits: { ...ONE.limits, attemptMs: 3 * MINUTE, totalMs: 5 * MINUTE } }));
  const second = pay(once);
  expect((await world.end(driver.tab, first)).outcome).toMatchObject({ type: 'unsent' });
  expect(await world.end(waiter, second)).toMatchObject(NOT_SURE);
  expect((await world.end(waiter, pay(once))).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
});

describe.each(CONTEXTS)('while a call waits in %s', (_, of) => {
  // After 2 s a process has looked several times, and has found the record each time.
  test.for(REMOVES.flatMap(([what, removes]) => [0, 2].map((s) => [what, s, removes] as const)))(
    '%s after %i s: it sends nothing',
    async ([, s, removes], { world }) => {
      const [driver, waiter] = [world.open(SHORT, of), world.open(SHORT, of)];
      const [first] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(answers(201))));
      const [second] = await world.begin(pay(waiter.once));
      await world.clock.advance(s * SECOND);
      await world.run(removes(world, of));
      expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'done' });
      expect(await world.end(waiter.tab, second)).toMatchObject(NOT_SURE);
      expect(world.server.arrivals).toHaveLength(1);
    },
  );

  test.for<[string, PayOptions]>([
    ['an equal press', {}],
    ['a press with another payload', { body: { cart: 'c1', amount: 12 } }],
  ])('the store is lost, and the answer: %s that waits sends nothing', async ([, press], { world }) => {
    const [driver, waiter] = [world.open({ ...SHORT, ...ONE }, of), world.open(SHORT, of)];
    const [first] = await world.begin(pay(driver.once), charged(delayed(5 * SECOND, lost())));
    const [second] = await world.begin(pay(waiter.once, press));
    await world.clock.advance(2 * SECOND);
    world.empty();
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'unknown' });
    expect(await world.end(waiter.tab, second)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('behind one that then gets no token: it cannot tell, and the next press is sent', async ({ world }) => {
    let refuse = (_: Error): void => {};
    const headers = () => new Promise<never>((_, reject) => void (refuse = reject));
    const [driver, waiter] = [world.open({ ...SHORT, ...ONE, headers }, of), world.open(SHORT, of)];
    const [first] = await world.begin(pay(driver.once));
    const second = pay(waiter.once);
    await world.clock.advance(2 * SECOND);
    refuse(new Error('no token'));
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ type: 'unsent' });
    expect(await world.end(waiter.tab, second)).toMatchObject(NOT_SURE);
    expect((await world.end(waiter.tab, pay(waiter.once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  });
});

describe.each(CONTEXTS)('`move` takes the operation, in %s, while for it waits', (_, of) => {
  test.for<[string, (once: Once) => Promise<unknown>]>([
    ["a press with repeat: 'if-changed'", (once) => pay(once, { repeat: 'if-changed' })],
    ["an edited form with repeat: 'if-changed'", (once) => pay(once, { repeat: 'if-changed', body: { cart: 'c1', amount: 12 } })],
    ["a press with repeat: 'always'", (once) => pay(once, { repeat: 'always' })],
    ['a press at another origin', (once) => pay(once, { url: URL_.replace('shop.', 'eu.shop.') })],
    ['resumeOne', (once) => watched(resumeOne(once, NAME))],
    ['run of that name', (once) => watched(run(once, NAME, () => Promise.reject(new Error('run was called'))))],
  ])('%s: nothing has a second effect', async ([, act], { world }) => {
    const [driver, waiter] = [world.open(SHORT, of), world.open(SHORT, of)];
    const [first] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(answers(201))));
    const second = act(waiter.once);
    await world.clock.advance(2 * SECOND);
    await world.run(move(world.open({ ...ONE, namespace: 'ann' }, of).once, 'shop'));
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'done' });
    const [ended] = await world.run(Promise.allSettled([second]));
    expect(ended).toMatchObject({ status: 'rejected', reason: { outcome: { effect: 'unknown', attempts: 0 } } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe.each(CONTEXTS)('while a call with another payload waits behind one that drives, in %s', (_, of) => {
  test.for(REMOVES)('%s: it sends nothing', async ([, removes], { world }) => {
    const { tab, once } = world.open(SHORT, of);
    const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(answers(201))));
    const second = pay(once, { body: { cart: 'c1', amount: 12 } });
    await world.clock.advance(2 * SECOND);
    await world.run(removes(world, of));
    expect((await world.end(tab, first)).outcome).toMatchObject({ effect: 'done' });
    expect(await world.end(tab, second)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test.for<[string, boolean]>([
  ['has driven the operation', true],
  ['has only waited for another tab', false],
])(
  'an edited form that waits for its turn behind a call of its tab which %s sends nothing, also if a third tab has the lock in between',
  async ([, drives], { world }) => {
    const [driver, other] = [world.open(SHORT), world.open(SHORT)];
    const [first] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(answers(201))));
    const [elsewhere] = await world.begin(pay(other.once));
    const { tab, once } = drives ? driver : other;
    const [edited] = await world.begin(pay(once, { body: { cart: 'c1', amount: 12 } }));
    await world.run(move(world.open({ ...ONE, namespace: 'ann' }).once, 'shop'));
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'done' });
    expect(await world.end(tab, edited)).toMatchObject(NOT_SURE);
    expect(await world.end(other.tab, elsewhere)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(1);
  },
);

test.for<[string, number, TabOptions]>([
  ...[1, 2, 3].map((crossing): [string, number, TabOptions] => ['a page', crossing, {}]),
  ['a process', 1, { server: true, locks: false }],
])(
  'a call that %s began, and that is frozen before its first look (at crossing %i) while `move` takes what it had sent before, sends nothing',
  async ([, crossing, of], { world }) => {
    const { tab, once } = world.open({ ...SHORT, ...ONE }, of);
    await world.end(tab, pay(once), charged(lost()));
    tab.at(crossing, () => tab.freeze());
    const [edited] = await world.begin(pay(once, { body: { cart: 'c1', amount: 12 } }));
    await world.run(move(world.open({ ...ONE, namespace: 'ann' }, of).once, 'shop'));
    await world.clock.advance(90 * SECOND);
    tab.thaw();
    expect(await world.end(tab, edited)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(1);
  },
);

test('a press that is frozen before its first look for less than a minute, while another page sends the operation and `move` takes it, sends nothing', async ({
  world,
}) => {
  const [sleeper, quick] = [world.open(SHORT), world.open({ ...SHORT, ...ONE })];
  sleeper.tab.at(1, () => sleeper.tab.freeze());
  const [press] = await world.begin(pay(sleeper.once));
  expect((await world.end(quick.tab, pay(quick.once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
  await world.run(move(world.open({ ...ONE, namespace: 'ann' }).once, 'shop'));
  await world.clock.advance(15 * SECOND);
  sleeper.tab.thaw();
  expect(await world.end(sleeper.tab, press)).toMatchObject(NOT_SURE);
  expect(world.server.arrivals).toHaveLength(1);
  expect((await world.end(sleeper.tab, pay(sleeper.once), answers(201))).outcome).toMatchObject({ type: 'fresh' });
});

test.for([1, 2, 3])('a press that waits behind a page that freezes before its first look (at crossing %i) is sent', async (crossing, { world }) => {
  const [sleeper, quick] = [world.open(SHORT), world.open(SHORT)];
  sleeper.tab.at(crossing, () => sleeper.tab.freeze());
  const [press] = await world.begin(pay(sleeper.once));
  expect((await world.end(quick.tab, pay(quick.once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  sleeper.tab.thaw();
  await world.end(sleeper.tab, press);
  expect(world.server.arrivals).toHaveLength(1);
});

test.for<[string, number, TabOptions]>([
  ['a page was frozen for a few seconds', 9 * SECOND, {}],
  ['a process with thousands of others took most of a minute to look', 50 * SECOND, { server: true, locks: false }],
])('a press for which %s is sent', async ([, ms, of], { world }) => {
  const { tab, once } = world.open(SHORT, of);
  tab.at(1, () => tab.freeze());
  const [press] = await world.begin(pay(once));
  await world.clock.advance(ms);
  tab.thaw();
  expect((await world.end(tab, press, answers(201))).outcome).toMatchObject({ type: 'fresh' });
});

test('a body that takes minutes to read is sent all the same', async ({ world }) => {
  const { tab, once } = world.open(PATIENT);
  const body = new ReadableStream({
    start(controller) {
      world.clock.timer(2 * MINUTE, () => {
        controller.enqueue(new TextEncoder().encode('{}'));
        controller.close();
      });
    },
  });
  expect((await world.end(tab, pay(once, { init: { body } }), answers(201))).outcome).toMatchObject({ type: 'fresh' });
});

test('a body that takes minutes to read, while another tab drives the operation and `move` takes it, is not sent', async ({ world }) => {
  const [driver, { tab, once }] = [world.open({ ...SHORT, ...ONE }), world.open(PATIENT)];
  let read = (): void => {};
  const body = new ReadableStream({ start: (controller) => void (read = () => controller.close()) });
  const [first] = await world.begin(pay(driver.once), charged(delayed(5 * SECOND, lost())));
  const [press] = await world.begin(pay(once, { init: { body } }));
  expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'unknown' });
  await world.run(move(world.open({ ...ONE, namespace: 'ann' }).once, 'shop'));
  await world.clock.advance(2 * MINUTE);
  read();
  expect(await world.end(tab, press)).toMatchObject(NOT_SURE);
  expect(world.server.arrivals).toHaveLength(1);
});

test('a call whose time is over when its page wakes up is not told none, if another tab stored the operation after its look, and `move` took it', async ({
  world,
}) => {
  const [driver, waiter] = [world.open({ ...SHORT, ...ONE }), world.open({ ...SHORT, limits: { totalMs: 20 * SECOND } })];
  driver.tab.faults.next({ name: 'slow', ms: SECOND });
  const [first] = await world.begin(pay(driver.once), charged(delayed(5 * SECOND, lost())));
  const [second] = await world.begin(pay(waiter.once));
  waiter.tab.freeze();
  await world.clock.advance(2 * SECOND);
  await world.run(move(world.open({ ...ONE, namespace: 'ann' }).once, 'shop'));
  expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'unknown' });
  await world.clock.advance(30 * SECOND);
  waiter.tab.thaw();
  expect(await world.end(waiter.tab, second)).toMatchObject(NOT_SURE);
  expect(world.server.arrivals).toHaveLength(1);
});

describe.each(REMOVES)('a press that waits for a tab whose first write takes a second, so that it has seen no record; then %s', (_, removes) => {
  test.for<[string, PayOptions, Entry, effect: string]>([
    ['the answer is lost', {}, lost(), 'unknown'],
    ['the answer is lost, and the press has another payload', { body: { cart: 'c1', amount: 12 } }, lost(), 'unknown'],
    ['it is done', {}, answers(201), 'done'],
  ])('%s: it sends nothing, and the next press is sent', async ([, of, answer, effect], { world }) => {
    const [driver, waiter] = [world.open({ ...SHORT, ...ONE }), world.open(SHORT)];
    driver.tab.faults.next({ name: 'slow', ms: SECOND });
    const [first] = await world.begin(pay(driver.once), charged(delayed(SECOND, answer)));
    const [second] = await world.begin(pay(waiter.once, of));
    await world.clock.advance(1.5 * SECOND);
    expect(world.server.arrivals).toHaveLength(1);
    await world.run(removes(world, {}));
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect });
    expect(await world.end(waiter.tab, second)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(1);
    expect((await world.end(waiter.tab, pay(waiter.once, of), answers(201))).outcome).toMatchObject({ type: 'fresh' });
  });
});

test('a press that waits for less than a second for a tab which then dies, and has stored nothing, is sent', async ({ world }) => {
  const [driver, waiter] = [world.open(SHORT), world.open(SHORT)];
  driver.tab.faults.next('hang');
  await world.begin(pay(driver.once));
  const [press] = await world.begin(pay(waiter.once));
  await world.clock.advance(0.9 * SECOND);
  driver.tab.kill();
  expect((await world.end(waiter.tab, press, answers(201))).outcome).toMatchObject({ type: 'fresh' });
});

test.for<[string, TabOptions]>([
  ['processes', { server: true, locks: false }],
  ['pages without locks', { locks: false }],
])(
  'in %s, an edited form that waits behind the call which sent the operation sends nothing if that was dropped, and the next press refused',
  async ([, of], { world }) => {
    const [driver, other] = [world.open(SHORT, of), world.open(SHORT, of)];
    const [first] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(answers(201))));
    const edited = pay(driver.once, { body: { cart: 'c1', amount: 13 } });
    await world.run(clear(other.once, { unsettled: 'forget' }));
    await world.end(other.tab, pay(other.once, { body: { cart: 'c1', amount: 12 }, ...ONE }), answers(400, { code: 'bad_card' }));
    await world.end(driver.tab, first);
    expect(await world.end(driver.tab, edited)).toMatchObject(NOT_SURE);
    expect(world.server.arrivals).toHaveLength(2);
  },
);
