/**
 * Goal: screens and logs hear only what is true, as soon as it is true, and nothing secret. Method: a real engine in a scripted world; the states and events
 * of whole payments are compared.
 */
import { describe, expect } from 'vitest';
import {
  close,
  type Once,
  type OnceEvent,
  type OperationOptions,
  type OperationState,
  type Outcome,
  operation as operationOf,
  pending,
  resume,
  resumeOne,
  subscribe,
} from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, during, type Entry, lost, replays } from '../support/server.js';
import { CART, NAME, ONE, pay, rest, resumed, SECOND, saying, test, URL_, watched } from '../support/world.js';

describe('operation.state', () => {
  test('goes from loading to idle, and is the same object until it changes', async ({ once }) => {
    const operation = operationOf(once, NAME);
    const loading = operation.state;
    expect(loading).toEqual({ phase: 'loading' });
    expect(operation.state).toBe(loading);
    await rest();
    const idle = operation.state;
    expect(idle).toEqual({ phase: 'idle' });
    expect(operation.state).toBe(idle);
    expect(operationOf(once, NAME).state).toBe(idle);
  });

  test('reports every step of a payment', async ({ world }) => {
    world.random = () => 0.5;
    const { tab, once } = world.open();
    const operation = operationOf(once, NAME);
    void operation.state;
    await rest();
    const states: OperationState[] = [];
    operation.subscribe(() => states.push(operation.state));
    world.server.plays(lost(), answers(409, '', { 'retry-after': '2' }), replays());
    world.server.charged.add('x');
    const at = world.clock.now();
    await world.end(tab, operation.fetch(URL_, { method: 'POST', body: '{}' }));
    expect(states).toMatchObject([
      { phase: 'sending', attempt: 1, maxAttempts: 5 },
      { phase: 'waiting', attempt: 1, until: at + 250, why: 'backoff' },
      { phase: 'sending', attempt: 2 },
      { phase: 'waiting', attempt: 2, until: at + 2250, why: 'in-progress' },
      { phase: 'sending', attempt: 3 },
      { phase: 'settled', outcome: { type: 'replayed', attempts: 3 } },
    ]);
    expect(operation.state).toBe(states.at(-1));
  });

  test('calls its listeners only when it has changed', async ({ world, tab, once }) => {
    const operation = operationOf(once, NAME);
    const seen: OperationState[] = [];
    operation.subscribe(() => seen.push(operation.state));
    await world.end(tab, pay(once), answers(201));
    // The second call is answered from memory: nothing that a screen shows changes.
    await world.end(tab, pay(once));
    for (const [index, state] of seen.entries()) if (index > 0) expect(state).not.toBe(seen[index - 1]);
  });

  test.for<[string, Entry[], object]>([
    ['unknown', [charged(lost())], { phase: 'unsettled', pending: { sent: 'maybe', resumable: true } }],
    ['refused', [answers(402)], { phase: 'settled', outcome: { type: 'rejected', effect: 'none' } }],
    ['done', [answers(201)], { phase: 'settled', outcome: { type: 'fresh', effect: 'done' } }],
  ])('shows how the call ended: %s', async ([_, script, state], { world, tab, once }) => {
    await world.end(tab, pay(once, ONE), ...script);
    expect(operationOf(once, NAME).state).toMatchObject(state);
  });

  test('with a namespace, shows the operation that an earlier page left, and its meta', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    const { outcome } = await world.end(tab, pay(once, { ...ONE, meta: { total: '€42.00' } }), lost());
    const next = tab.reload();
    const operation = operationOf(next.once({ namespace: 'ann' }), NAME);
    void operation.state;
    await rest();
    expect(operation.state).toMatchObject({
      phase: 'unsettled',
      pending: { name: NAME, key: outcome?.key, sent: 'maybe', resumable: false, meta: { total: '€42.00' }, firstSentAt: world.server.arrivals[0]?.at },
    });
  });

  test.for([
    ['settled', [answers(201)], { phase: 'settled', outcome: { effect: 'done' } }],
    ['rejected', [answers(402)], { phase: 'idle' }],
  ] as const)('after a reload: %s', async ([_, script, state], { world, tab, once }) => {
    await world.end(tab, pay(once), ...script);
    const operation = operationOf(tab.reload().once(), NAME);
    void operation.state;
    await rest();
    expect(operation.state).toMatchObject(state);
  });

  test('does not stay loading after a call that could not read the store', async ({ world, tab, once }) => {
    const operation = operationOf(once, NAME);
    await world.end(tab, pay(once, ONE), charged(lost()));
    tab.faults.rate('look-fails', 1);
    await world.end(tab, pay(once));
    tab.faults.clear();
    void operation.state;
    await rest();
    expect(operation.state).toMatchObject({ phase: 'unsettled' });
  });

  test('is read again at the next access after a read of the store failed', async ({ world }) => {
    await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    tab.faults.next('look-fails');
    const operation = operationOf(once, NAME);
    void operation.state;
    await rest();
    expect(operation.state).toEqual({ phase: 'loading' });
    await rest();
    expect(operation.state).toMatchObject({ phase: 'unsettled' });
  });

  test('says that it waits for another tab', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), delayed(SECOND, answers(201)));
    const [second] = await world.begin(pay(two.once));
    expect(operationOf(two.once, NAME).state).toMatchObject({ phase: 'waiting', attempt: 0, why: 'another-context' });
    await world.end(one.tab, first);
    await world.end(two.tab, second);
    expect(operationOf(two.once, NAME).state).toMatchObject({ phase: 'settled' });
  });

  test('is loading while nobody is logged in, and throws nothing', ({ world }) => {
    const { once } = world.open({ namespace: () => undefined as unknown as string });
    const operation = operationOf(once, NAME);
    expect(operation.state).toEqual({ phase: 'loading' });
    expect(() => operation.subscribe(() => {})()).not.toThrow();
  });

  test('a listener that throws does not change the call, and its error is reported', async ({ world, tab, once }) => {
    const fault = new Error('a bug in a screen');
    operationOf(once, NAME).subscribe(() => {
      throw fault;
    });
    subscribe(once, () => {
      throw fault;
    });
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201 });
    expect(new Set(tab.reported)).toEqual(new Set([fault]));
  });

  test('a listener that subscribed twice is called until it has unsubscribed twice', async ({ world, tab, once }) => {
    const operation = operationOf(once, NAME);
    let calls = 0;
    const count = () => void calls++;
    const [first, second] = [operation.subscribe(count), operation.subscribe(count)];
    await rest();
    first();
    calls = 0;
    await world.end(tab, pay(once), answers(201));
    const once1 = calls;
    expect(once1).toBeGreaterThan(0);
    second();
    await world.end(tab, pay(once));
    expect(calls).toBe(once1);
  });
});

describe('events', () => {
  const SECRETS = ['s3cret-body', 's3cret-token', 's3cret-answer', 's3cret-cookie'];

  test('report every step of a call that ends as unknown, with times, keys and names', async ({ world }) => {
    world.random = () => 0.5;
    const { tab, once } = world.open();
    const events: OnceEvent[] = [];
    subscribe(once, (event) => events.push(event));
    world.server.plays(charged(lost()), answers(401));
    const at = world.clock.now();
    const { outcome } = await world.end(tab, pay(once));
    expect(events).toMatchObject([
      { type: 'attempt', attempt: 1, at },
      { type: 'wait', why: 'backoff', until: at + 250, at },
      { type: 'attempt', attempt: 2, at: at + 250 },
      { type: 'unknown', outcome: { reason: 'refused-after-ambiguity' } },
    ]);
    for (const event of events) expect(event).toMatchObject({ operation: NAME, key: outcome?.key });
  });

  test('go to the listeners of a prefix of the name, but not to those of a prefix that only looks alike', async ({ world, tab, once }) => {
    const heard: unknown[] = [];
    subscribe(once, (event) => heard.push(['pay', event.type]), { prefix: ['pay'] });
    subscribe(once, (event) => heard.push(['pay 4', event.type]), { prefix: ['pay', 4] });
    subscribe(once, (event) => heard.push(['pa', event.type]), { prefix: ['pa'] });
    await world.end(tab, pay(once, { operation: ['pay', 42] }), answers(201));
    expect(heard).toEqual([
      ['pay', 'attempt'],
      ['pay', 'settled'],
    ]);
  });

  test('stop when the signal aborts, or when the listener unsubscribes', async ({ world, tab, once }) => {
    let heard = 0;
    const controller = new AbortController();
    subscribe(once, () => heard++, { signal: controller.signal });
    subscribe(once, () => heard++, { signal: AbortSignal.abort() });
    subscribe(once, () => heard++)();
    controller.abort();
    await world.end(tab, pay(once), answers(201));
    expect(heard).toBe(0);
  });

  test('report once that an operation is settled, however many callers and later calls get its answer', async ({ world, tab, once }) => {
    const events: OnceEvent[] = [];
    subscribe(once, (event) => events.push(event));
    world.server.plays(delayed(SECOND, answers(201)));
    await world.all(tab, pay(once), pay(once));
    await world.end(tab, pay(once));
    expect(events.filter(({ type }) => type === 'settled')).toHaveLength(1);
  });

  test('no body and no credential is in an event, an error, its message or its toJSON, whatever happens', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann', keep: { request: true, response: 'disk' } });
    const said: string[] = [];
    subscribe(once, (event) => said.push(JSON.stringify(event)));
    const options = {
      body: { card: 's3cret-body' },
      init: { headers: { authorization: 'Bearer s3cret-token', cookie: 's3cret-cookie', 'content-type': 'application/json' } },
      headers: () => ({ 'x-api-key': 's3cret-token' }),
    };
    const secret = { receipt: 's3cret-answer' };
    world.server.plays(
      ...[
        charged(lost()),
        answers(401, secret),
        answers(500, secret, { 'idempotent-replayed': 'true' }),
        answers(422, { title: 'Idempotency-Key is already used', ...secret }),
      ],
      ...[answers(302, secret), replays(201, secret)],
    );
    for (let call = 0; call < 8; call++) {
      const { error } = await world.end(tab, pay(once, { ...options, ...(call === 0 && ONE) }));
      if (error instanceof Error)
        said.push(error.message, String(error), JSON.stringify(error), error.stack ?? '', ...Object.values(error).map((value) => JSON.stringify(value)));
    }
    tab.faults.rate('fail-before-commit', 1);
    const failed = await world.end(tab, pay(once, { ...options, operation: ['other'], headers: () => ({ 'x-api-key': 's3cret-token\nX-Injected: 1' }) }));
    said.push(String(failed.error), JSON.stringify(failed.error));
    for (const secretText of SECRETS) expect(said.join('\n')).not.toContain(secretText);
    expect(said.length).toBeGreaterThan(10);
  });
});

describe('onOutcome', () => {
  test('is called once per call, with its own outcome, before the promise settles', async ({ world, tab, once }) => {
    const told: [string, Outcome][] = [];
    world.server.plays(delayed(SECOND, answers(201)));
    const first = pay(once, { onOutcome: (outcome) => told.push(['first', outcome]) });
    const second = pay(once, { onOutcome: (outcome) => told.push(['second', outcome]) });
    let toldThen = 0;
    void first.then(() => (toldThen = told.length));
    await world.all(tab, first, second);
    expect(toldThen).toBe(2);
    expect(told.sort(([a], [b]) => (a < b ? -1 : 1))).toMatchObject([
      ['first', { type: 'fresh', joined: false }],
      ['second', { type: 'fresh', joined: true }],
    ]);
  });

  test('is also called for refusals, unknown outcomes and errors of oncefetch', async ({ world, tab, once }) => {
    const told: unknown[] = [];
    const onOutcome = ({ type }: Outcome) => told.push(type);
    await world.end(tab, pay(once, { onOutcome }), answers(402));
    await world.end(tab, pay(once, { ...ONE, onOutcome }), lost());
    tab.faults.next('look-fails');
    await world.end(tab, pay(once, { onOutcome }));
    expect(told).toEqual(['rejected', 'unknown', 'unknown']);
  });

  test.for<[string, string, (once: Once, controller: AbortController) => unknown]>([
    ['aborted', 'AbortError', (_, controller) => controller.abort()],
    ['closed', 'OnceError', (once) => void close(once)],
  ])('hears of a call that waited for another payload of its name and was %s', async ([, name, ends], { world, tab, once }) => {
    const told: unknown[] = [];
    const controller = new AbortController();
    world.server.plays(delayed(SECOND, answers(201)));
    const first = pay(once);
    const [second] = await world.begin(pay(once, { body: { amount: 11 }, signal: controller.signal, onOutcome: ({ type }) => told.push(type) }));
    ends(once, controller);
    expect((await world.end(tab, second)).error).toMatchObject({ name });
    expect(told).toEqual(['unknown']);
    await world.end(tab, first);
  });

  describe.each<[string, OperationOptions | true]>([
    ['without a name', {}],
    ['named by its content', true],
  ])('hears of a call %s', (_, named) => {
    const send = (once: Once, init: RequestInit) => watched(once.fetch(URL_, { method: 'POST', ...init, once: named }));
    const endless = () => ({ body: new ReadableStream({ start() {} }), duplex: 'half' }) as RequestInit;

    test('that is aborted while its body is read, or whose body never ends', async ({ world, tab }) => {
      const told: unknown[] = [];
      const once = tab.once({ onOutcome: (outcome) => void told.push(outcome) });
      const controller = new AbortController();
      const [first] = await world.begin(send(once, { ...endless(), signal: controller.signal }));
      controller.abort();
      const ends = [await world.end(tab, first), await world.end(tab, send(once, endless()))];
      expect(ends.map(({ error }) => (error as Error).name)).toEqual(['AbortError', 'OnceError']);
      expect(told).toEqual(ends.map(({ outcome }) => outcome));
    });
  });

  test('is called for a call without a name even if the store cannot be searched for a lost one', async ({ world, tab }) => {
    const told: unknown[] = [];
    const once = tab.once({ onOutcome: (outcome) => void told.push(outcome) });
    tab.faults.next('look-fails');
    const { code, outcome } = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: '{}', once: {} })));
    expect(code).toBe('ERR_ONCE_STORE');
    expect(told).toEqual([outcome]);
  });

  test('that throws does not change what its caller gets', async ({ world, tab, once }) => {
    const fault = new Error('a bug in analytics');
    const onOutcome = () => {
      throw fault;
    };
    world.server.plays(delayed(SECOND, answers(201)), answers(402));
    const ends = await world.all(tab, pay(once, { onOutcome }), pay(once, { onOutcome }), pay(once));
    expect(ends.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await world.end(tab, pay(once, { operation: ['other'], onOutcome }))).status).toBe(402);
    expect(tab.reported).toContain(fault);
  });
});

describe('pending', () => {
  test('compares a prefix with whole parts of the name', async ({ world, tab, once }) => {
    for (const operation of [['pay', 4], ['pay', 42], ['pay', '4'], ['pay'], ['payout', 4], ['pay', 4, 'x']]) {
      await world.end(tab, pay(once, { ...ONE, operation }), lost());
    }
    const names = async (prefix: (string | number)[]) => (await world.run(pending(once, { prefix }))).map(({ name }) => JSON.stringify(name)).sort();
    expect(await names(['pay', 4])).toEqual(['["pay",4,"x"]', '["pay",4]']);
    expect(await names(['pay'])).toEqual(['["pay","4"]', '["pay",4,"x"]', '["pay",42]', '["pay",4]', '["pay"]']);
    expect(await names([])).toHaveLength(6);
  });

  test('rejects when the store cannot be read; a limit below one is a RangeError', async ({ world, tab, once }) => {
    await expect(world.run(pending(once, { limit: 0 }))).rejects.toThrow(RangeError);
    tab.faults.next('look-fails');
    await expect(world.run(pending(once))).rejects.toThrow();
  });
});

describe('resume', () => {
  test('goes on with everything that is pending, a few at a time, and yields how each ended', async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    const { tab, once } = world.open(options);
    for (let cart = 0; cart < 6; cart++) await world.end(tab, pay(once, { ...ONE, operation: ['pay', cart] }), charged(lost()));
    const next = tab.reload().once(options);
    let busy = 0;
    let most = 0;
    world.server.otherwise = during(
      () => (most = Math.max(most, ++busy)),
      delayed(
        SECOND,
        during(() => busy--, replays()),
      ),
    );
    const ends = await world.run(resumed(next, { concurrency: 2 }));
    expect(ends.map(({ name, outcome, response }) => [name[1], outcome.type, response?.status]).sort()).toEqual(
      [0, 1, 2, 3, 4, 5].map((cart) => [cart, 'replayed', 201]),
    );
    expect(most).toBe(2);
    expect(await world.run(pending(next))).toEqual([]);
  });

  test('sends nothing more once the app stops iterating', async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    const { tab, once } = world.open(options);
    for (const cart of [1, 2]) await world.end(tab, pay(once, { ...ONE, operation: ['pay', cart] }), charged(lost()));
    const next = tab.reload().once(options);
    world.server.plays(replays(), answers(503, '', { 'retry-after': '5' }));
    const first = (async () => {
      for await (const { outcome } of resume(next)) return outcome;
      return undefined;
    })();
    expect(await world.run(first)).toMatchObject({ type: 'replayed' });
    const sent = world.server.arrivals.length;
    await world.clock.runAll();
    expect(world.server.arrivals).toHaveLength(sent);
    expect(await world.run(pending(next))).toHaveLength(1);
  });

  test('asks reconcile if no request is stored, rejects with ERR_ONCE_UNKNOWN if there is no reconcile, and sends nothing', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', key } });
    const asked: unknown[] = [];
    const asking = tab.once({ reconcile: saying(asked, new Response('{"id":"ch_1"}')) });
    expect(await world.end(tab, watched(resumeOne(asking, NAME)))).toMatchObject({ status: 200, outcome: { effect: 'done', from: 'reconcile', key } });
    expect(asked).toMatchObject([{ operation: NAME, key }]);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('gives the remembered answer of an operation that is done, and ERR_ONCE_UNKNOWN for a name without a record', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(201));
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(await world.end(tab, watched(resumeOne(once, ['never'])))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
  });

  test('keeps an operation that was never sent clean if there is no request to send', async ({ world, tab }) => {
    const next = await pressOffline(tab, (page) => pay(page.once()));
    await world.end(next, watched(resumeOne(next.once(), NAME)));
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false });
  });
});

test('outcomeOf also takes the Request of the call', async ({ world, tab, once }) => {
  world.server.plays(delayed(SECOND, answers(201)));
  const request = new Request(URL_, { method: 'POST', body: JSON.stringify(CART) });
  await world.end(tab, once.fetch(request, { once: NAME }));
  expect(tab.outcomeOf(request)).toMatchObject({ type: 'fresh' });
});
