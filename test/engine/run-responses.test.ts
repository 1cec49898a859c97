/**
 * Goal: `run(() => fetch(...))` is as safe as `fetch`: a Response that the function returns is read by the same rules, and comes back as a Response. Method:
 * every kind of answer, as a Response of this realm, of another one and of a polyfill.
 */
import { createContext, runInContext } from 'node:vm';
import { test as anyTest, describe, expect } from 'vitest';
import { adyen } from '../../src/dialects/adyen.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { stripe } from '../../src/dialects/stripe.js';
import { stripeVerdict } from '../../src/dialects/stripe-verdict.js';
import { extend, type RunOptions, run as runOnce, type Verdict } from '../../src/entries/index.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { NAME, newWorld, pay, watched } from '../support/world.js';

type Effect = (attempt: { key: string; attempt: number }) => unknown;

function scene(options: object = {}, of: object = {}) {
  const { world, tab, once } = newWorld().open({ limits: { attempts: 3, inProgressMs: 5000 }, ...options }, of);
  const run = (effect: Effect, more: RunOptions<unknown> = {}) => world.end(tab, watched(runOnce(once, NAME, effect, more)) as Promise<never>);
  return { world, tab, once, run };
}

const test = anyTest
  .extend('scene', () => scene())
  .extend('world', ({ scene }) => scene.world)
  .extend('run', ({ scene }) => scene.run);

/**
 * Gives these one after the other, and then the last one again. An Error is thrown after the effect took place; a value has had its effect if its status is
 * below 300.
 */
function giving(world: ReturnType<typeof newWorld>, ...given: readonly (Response | Error | (() => unknown))[]): Effect & { runs: number; keys: string[] } {
  const effect = Object.assign(
    async ({ key }: { key: string }) => {
      const next = given[Math.min(effect.runs++, given.length - 1)];
      effect.keys.push(key);
      if (next instanceof Error) {
        world.server.charged.add(key);
        throw next;
      }
      const value = await (typeof next === 'function' ? next() : next);
      if ((value as Response).status < 300) world.server.charged.add(key);
      return value;
    },
    { runs: 0, keys: [] as string[] },
  );
  return effect;
}

const problem = (status: number, title: string, headers = {}) => Response.json({ title }, { status, headers });

describe('a Response that the function returns', () => {
  test('of 503 is not done: the function runs again under the same key, and its last Response is the end', async ({ world, run }) => {
    const effect = giving(world, new Response('busy', { status: 503 }), Response.json({ id: 'ch_1' }, { status: 201 }));
    expect(await run(effect)).toMatchObject({ status: 201, outcome: { effect: 'done', attempts: 2 } });
    expect(new Set(effect.keys).size).toBe(1);
  });

  test('of 503 at every attempt is unknown, and given as it is', async ({ world, run }) => {
    const effect = giving(world, () => new Response('busy', { status: 503 }));
    const end = await run(effect);
    expect(end).toMatchObject({ status: 503, outcome: { effect: 'unknown', reason: 'unavailable' } });
    expect(await end.response?.text()).toBe('busy');
    expect(world.record()).toMatchObject({ state: 'pending' });
    const later = giving(world, Response.json({}, { status: 201 }));
    expect((await run(later)).outcome).toMatchObject({ effect: 'done', key: effect.keys[0] });
  });

  test('of 409 in progress makes the next attempt wait as long as it says', async ({ world, run }) => {
    const busy = problem(409, 'A request is outstanding for this Idempotency-Key', { 'retry-after': '2' });
    const effect = giving(world, busy, Response.json({}, { status: 201 }));
    const begun = world.clock.now();
    expect((await run(effect)).outcome).toMatchObject({ effect: 'done' });
    expect(world.clock.now() - begun).toBe(2000);
  });

  test('of 409 in progress makes the next attempt wait as long as the dialect says, if the answer says nothing', async () => {
    const { world, run } = scene({ dialect: { ...GENERIC, inProgressAfterMs: 3000 } });
    const busy = problem(409, 'A request is outstanding for this Idempotency-Key');
    const begun = world.clock.now();
    expect((await run(giving(world, busy, Response.json({}, { status: 201 })))).outcome).toMatchObject({ effect: 'done' });
    expect(world.clock.now() - begun).toBe(3000);
  });

  test('of 402 is a refusal: run resolves with it, as fetch does', async ({ world, run }) => {
    const end = await run(giving(world, problem(402, 'Your card was declined')));
    expect(end).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none' } });
    expect(await end.response?.json()).toEqual({ title: 'Your card was declined' });
    expect(world.record()).toMatchObject({ state: 'retired' });
  });

  test('of 402 after a lost answer proves nothing', async ({ world, run }) => {
    const end = await run(giving(world, new TypeError('fetch failed'), problem(402, 'Your card was declined')));
    expect(end).toMatchObject({ status: 402, outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
  });

  test('with the replay marker is a replay', async ({ world, run }) => {
    const replay = Response.json({ id: 'ch_1' }, { headers: { 'idempotent-replayed': 'true' } });
    expect((await run(giving(world, new TypeError('fetch failed'), replay))).outcome).toMatchObject({ type: 'replayed', from: 'server' });
  });

  test('behind a followed redirect, or opaque, proves nothing', async () => {
    for (const shape of [{ redirected: true }, { type: 'opaque', status: 0, ok: false }]) {
      const { world, run } = scene();
      const response = Object.defineProperties(new Response('{}'), Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, { value }])));
      expect((await run(giving(world, response))).outcome).toMatchObject({ effect: 'unknown', reason: 'not-a-verdict' });
    }
  });

  test('whose body breaks off is a lost answer', async ({ world, run }) => {
    const broken = new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError('cut')) }), { status: 201 });
    const effect = giving(world, broken, Response.json({}, { status: 201, headers: { 'idempotent-replayed': 'true' } }));
    expect((await run(effect)).outcome).toMatchObject({ type: 'replayed', attempts: 2 });
  });

  test('of node-fetch, with a decline inside a 200, is a refusal, and its body can still be read', async () => {
    const { world, run } = scene({ dialect: adyen() });
    const declined = Response.json({ resultCode: 'Refused' });
    Object.defineProperty(declined, 'body', { value: { pipe: () => {} } });
    const end = await run(async () => declined);
    expect(end).toMatchObject({ status: 200, outcome: { type: 'rejected', effect: 'none' } });
    expect(await end.response?.json()).toEqual({ resultCode: 'Refused' });
    expect(world.record()).toMatchObject({ state: 'retired' });
  });

  test('whose body the function has read itself is read by its status', async ({ world, run }) => {
    const read = async (): Promise<Response> => {
      const response = Response.json({ id: 1 }, { status: 201 });
      await response.json();
      return response;
    };
    expect(await run(giving(world, read))).toMatchObject({ status: 201, outcome: { effect: 'done' } });
  });
});

test("a Response on which the app's dialect throws is unknown, and the key stays", async () => {
  const broken = new Error('a bug of the dialect');
  const read = () => {
    throw broken;
  };
  const { world, run } = scene({ dialect: { ...GENERIC, read }, limits: { attempts: 1 } });
  const end = await run(giving(world, Response.json({ id: 'ch_1' }, { status: 201 })));
  expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', sent: 'maybe' }, error: { cause: broken } });
  expect(world.record()).toMatchObject({ state: 'pending', key: end.outcome?.key });
});

test.each<[Verdict, number, string]>([
  ['fresh', 503, 'done'],
  ['rejected', 200, 'none'],
  ['in-progress', 200, 'unknown'],
  [null as unknown as Verdict, 200, 'unknown'],
])('the verdict hook that says %s of a %i makes the effect %s', async (said, status, effect) => {
  const { world, run } = scene({ limits: { attempts: 1, inProgressMs: 0 } });
  const response = new Response('{}', { status });
  const given = async ({ key }: { key: string }) => {
    if (effect === 'done') world.server.charged.add(key);
    return response;
  };
  expect((await run(given, { verdict: () => said })).outcome).toMatchObject({ effect });
});

describe('the next call', () => {
  test('gets the answer as a Response, in this process and in the next one', async () => {
    const { world, tab, run } = scene({}, { server: true });
    const first = await run(giving(world, Response.json({ id: 'ch_1' }, { status: 201, headers: { 'x-request': '7' } })));
    expect(await first.response?.json()).toEqual({ id: 'ch_1' });
    expect(await run(() => 'never')).toMatchObject({ status: 201, outcome: { type: 'replayed', from: 'memory' } });
    const next = tab.reload();
    const call = watched(runOnce(next.once(), NAME, async () => 'never')) as Promise<never>;
    const later = await world.end(next, call);
    expect(later).toMatchObject({ status: 201, outcome: { type: 'replayed', from: 'store' } });
    expect(await later.response?.json()).toEqual({ id: 'ch_1' });
    expect(later.response?.headers.get('x-request')).toBe('7');
  });

  test('that joins gets a Response with a body of its own', async () => {
    const { world, once } = scene();
    const effect = giving(world, Response.json({ id: 'ch_1' }));
    const both = [runOnce(once, NAME, effect), runOnce(once, NAME, effect)] as Promise<Response>[];
    expect(await world.run(Promise.all(both).then((all) => Promise.all(all.map((one) => one.json()))))).toEqual([{ id: 'ch_1' }, { id: 'ch_1' }]);
    expect(effect.runs).toBe(1);
  });
});

describe('a Response is recognized by its members', () => {
  /** A Response as a polyfill for an old platform makes it: no class of this realm, no stream. */
  function polyfilled(status: number, body: string): unknown {
    const headers = new Map([['content-type', 'application/json']]);
    return {
      status,
      ok: status < 300,
      statusText: '',
      url: '',
      headers: {
        get: (name: string) => headers.get(name) ?? null,
        forEach: (visit: (value: string, name: string) => void) => headers.forEach(visit),
        [Symbol.iterator]: () => headers[Symbol.iterator](),
      },
      bodyUsed: false,
      clone: () => polyfilled(status, body),
      text: async () => body,
      arrayBuffer: async () => new TextEncoder().encode(body).buffer,
    };
  }

  test('it may come from another realm', async () => {
    const context = createContext({ Response });
    const foreign = runInContext('new (class extends Response {})("{}", { status: 503 })', context) as Response;
    const { world, run } = scene({ limits: { attempts: 1 } });
    expect((await run(giving(world, foreign))).outcome).toMatchObject({ effect: 'unknown' });
  });

  test('it may be made by a polyfill', async () => {
    const { world, run } = scene({ limits: { attempts: 1 } });
    expect((await run(giving(world, () => polyfilled(503, '{}')))).outcome).toMatchObject({ effect: 'unknown' });
    expect((await run(giving(world, () => polyfilled(201, '{}')))).outcome).toMatchObject({ effect: 'done' });
  });

  test('a decline after a byte order mark, which text() of React Native keeps, is a refusal', async () => {
    const { run } = scene({ dialect: adyen() });
    expect((await run(async () => polyfilled(200, '\ufeff{"resultCode":"Refused"}'))).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
  });

  test.each<[string, unknown]>([
    ['a record with a status of its own', { status: 503, ok: false }],
    ['an answer of axios', { status: 503, headers: { get: () => null, forEach: () => {} }, data: {}, config: {} }],
    ['a number', 503],
    ['null', null],
  ])('%s is a plain value', async (_, value) => {
    const { world, once } = scene();
    const effect = async ({ key }: { key: string }) => {
      world.server.charged.add(key);
      return value;
    };
    expect(await world.run(runOnce(once, NAME, effect))).toEqual(value);
    expect(world.record()).toMatchObject({ state: 'settled' });
  });
});

describe('a function that makes several calls', () => {
  /** Charges, then asks for the fee, which is answered with `given`. */
  const chargesThen =
    (given: Response, keys: string[]) =>
    async ({ child }: { child(label: string): string }) => {
      keys.push(child('charge'));
      child('fee');
      return given;
    };

  test.each([402, 409, 422, 404])('whose last call is refused with %i: the outcome is unknown, and the next run has the same keys', async (status) => {
    const { world, run } = scene();
    const keys: string[] = [];
    const refused = await run(chargesThen(Response.json({ code: 'card_declined' }, { status }), keys) as never);
    expect(refused).toMatchObject({ status, outcome: { effect: 'unknown', reason: 'refused' } });
    const next = await run(async (attempt) => {
      world.server.charged.add(attempt.key);
      return chargesThen(Response.json({}, { status: 201 }), keys)(attempt as never);
    });
    expect(next).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(new Set(keys).size).toBe(1);
  });

  test.for<[string, <T extends object>(attempt: T) => T]>([
    ['read', (attempt) => attempt],
    ['spread', (attempt) => ({ ...attempt })],
  ])('the first of them under the key of the run itself (%s): a refused fee does not mean that nothing was charged', async ([, taken], { world, run }) => {
    const keys: string[] = [];
    const chargesUnderItsKey = (status: number) => async (attempt: { key: string; child(label: string): string }) => {
      const { key, child } = taken(attempt);
      keys.push(key);
      world.server.charged.add(key);
      child('fee');
      return Response.json({ code: 'card_declined' }, { status });
    };
    expect((await run(chargesUnderItsKey(402) as never)).outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
    expect((await run(chargesUnderItsKey(201) as never)).outcome).toMatchObject({ effect: 'done' });
    expect(new Set(keys).size).toBe(1);
  });

  test('whose last call meets another payload under its key, after a refusal of the operation: it is not run again under another key', async ({ run }) => {
    expect((await run((async () => Response.json({ code: 'card_declined' }, { status: 422 })) as never)).outcome).toMatchObject({ effect: 'none' });
    const keys: string[] = [];
    const mismatch = () => Response.json({ message: 'This Idempotency-Key was used with a different payload' }, { status: 422 });
    expect((await run(chargesThen(mismatch(), keys) as never)).outcome).toMatchObject({ effect: 'unknown' });
    expect(keys).toHaveLength(1);
  });

  test('two of them under one key, so that the second meets the first: the outcome is unknown, and the next run has the same key', async () => {
    const { run } = scene({ dialect: stripe() });
    const keys: string[] = [];
    const twice = async ({ key }: { key: string }) => {
      keys.push(key);
      return Response.json({ error: { type: 'idempotency_error' } }, { status: 400 });
    };
    expect((await run(twice as never)).outcome).toMatchObject({ effect: 'unknown' });
    await run(twice as never);
    expect(new Set(keys).size).toBe(1);
  });

  test('whose last call gets a 429 at every attempt: unknown', async ({ run }) => {
    const end = await run(chargesThen(new Response('slow down', { status: 429 }), []) as never);
    expect(end).toMatchObject({ status: 429, outcome: { effect: 'unknown', reason: 'unavailable' } });
  });

  test('of which a later attempt makes only the last call: its refusal does not say that nothing was charged', async () => {
    const { world, once } = scene();
    const keys: string[] = [];
    let fees = 0;
    const declined = Object.assign(new Error('declined'), { statusCode: 402, rawType: 'card_error', code: 'card_declined', headers: {} });
    const press = () => {
      let charge: string | undefined;
      const effect = async ({ child }: { child(label: string): string }) => {
        if (!charge) keys.push((charge = child('charge')));
        child('fee');
        throw fees++ ? declined : new TypeError('fetch failed');
      };
      return world.run(runOnce(once, NAME, effect, { verdict: stripeVerdict, limits: { attempts: 2 } }).catch((error: unknown) => error));
    };
    for (let pressed = 0; pressed < 2; pressed++) expect(await press()).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    expect(new Set(keys).size).toBe(1);
  });

  test('is refused if its verdict says so, or if there was only one call', async ({ run }) => {
    const declined = () => Response.json({ code: 'card_declined' }, { status: 402 });
    expect((await run(chargesThen(declined(), []) as never, { verdict: () => 'rejected' })).outcome).toMatchObject({ effect: 'none' });
    const one = async ({ child }: { child(label: string): string }) => {
      for (let call = 0; call < 2; call++) child('charge');
      return declined();
    };
    expect((await run(one as never)).outcome).toMatchObject({ effect: 'none' });
  });
});

describe('a function that returns the Response of a call of this package', () => {
  test.each([400, 401, 404, 410, 422])('whose outcome is unknown, with %i: the run is unknown, too, and the next run has the same keys', async (status) => {
    const { world, once, run } = scene({ namespace: 'orders' }, { server: true });
    const keys: string[] = [];
    const effect = async ({ key }: { key: string }) => {
      keys.push(key);
      const response = await pay(once, { operation: ['charge', 'c1'], limits: { attempts: 2 } });
      if (response.ok) world.server.charged.add(key);
      return response;
    };
    // The payment charges, its answer is lost, and the next attempt is refused.
    world.server.plays(charged(lost()), answers(status, { code: 'cart_is_empty' }));
    expect(await run(effect)).toMatchObject({ status, outcome: { effect: 'unknown' } });
    world.server.plays(replays());
    expect((await run(effect)).outcome).toMatchObject({ effect: 'done' });
    expect([new Set(keys).size, new Set(world.server.keys).size]).toEqual([1, 1]);
  });

  test('whose error says that the Response proves nothing is not done', async () => {
    const { world, once, run } = scene({ namespace: 'orders' }, { server: true });
    world.server.plays(answers(200, '<!doctype html><title>Log in</title>', { 'content-type': 'text/html' }));
    const effect = () => pay(once, { operation: ['charge', 'c1'] }).catch((error: { response?: Response }) => error.response ?? Promise.reject(error));
    expect((await run(effect, { limits: { attempts: 1 } })).outcome).toMatchObject({ effect: 'unknown' });
  });

  test('whose error says that the payment is done is not refused', async () => {
    const { world, once, run } = scene({ namespace: 'orders' }, { server: true });
    const inner = extend(once, { dialect: { ...GENERIC, read: () => ({ kind: 'done-elsewhere', ambiguous: false }) } });
    world.server.plays(charged(answers(409, { code: 'order_paid' })));
    const effect = () => pay(inner, { operation: ['charge', 'c1'] }).catch((error: { response?: Response }) => error.response ?? Promise.reject(error));
    expect((await run(effect)).outcome).toMatchObject({ effect: 'unknown' });
  });

  test('which the verdict of the inner call reads as refused inside a 200 is not done', async () => {
    const { world, once, run } = scene({ namespace: 'orders' }, { server: true });
    const effect = () => pay(once, { operation: ['charge', 'c1'], verdict: () => 'rejected' });
    world.server.plays(answers(200, { status: 'declined' }));
    expect((await run(effect)).outcome).toMatchObject({ effect: 'none' });
    world.server.plays(answers(200, { status: 'declined' }));
    const several = ({ child }: { child(label: string): string }) => {
      for (const label of ['charge', 'fee']) child(label);
      return effect();
    };
    expect((await run(several as never)).outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  });

  test('which is done with a 202 is done, even if the function failed after that call and runs again', async () => {
    const { world, once, run } = scene({ namespace: 'orders' }, { server: true });
    world.server.plays(answers(202, { job: 1 }));
    let runs = 0;
    const effect = async ({ key }: { key: string }) => {
      const response = await pay(once, { operation: ['charge', 'c1'] });
      world.server.charged.add(key);
      if (++runs === 1) throw new Error('the database is away');
      return response;
    };
    expect(await run(effect as never)).toMatchObject({ status: 202, outcome: { effect: 'done', attempts: 2 } });
  });

  test('the 202 of a plain fetch is not done if the function failed after it and runs again: that work may still fail', async () => {
    const { run } = scene({ namespace: 'orders' }, { server: true });
    let runs = 0;
    const effect = async () => {
      if (++runs === 1) throw new Error('the database is away');
      return new Response('', { status: 202 });
    };
    expect((await run(effect as never)).outcome).toMatchObject({ effect: 'unknown', reason: 'in-progress' });
  });

  test.each<[string, number]>(['key', 'child'].flatMap((under) => [402, 404, 429].map((status): [string, number] => [under, status])))(
    'under a name of its own, after a charge under the %s of the run, and refused with %i: unknown, and the next run charges under the same key',
    async (under, status) => {
      const { world, once, run } = scene({ namespace: 'orders', limits: { attempts: 1 } }, { server: true });
      const keys: string[] = [];
      const effect = async (attempt: { key: string; child(label: string): string }) => {
        keys.push(under === 'key' ? attempt.key : attempt.child('charge'));
        return pay(once, { operation: ['notify', 1] });
      };
      for (let delivery = 0; delivery < 3; delivery++) {
        world.server.plays(answers(status, { code: 'no_address' }));
        expect((await run(effect as never)).outcome).toMatchObject({ effect: 'unknown' });
      }
      expect(new Set(keys).size).toBe(1);
    },
  );

  test('with the key of the run, and refused, is refused', async () => {
    const { world, once, run } = scene({ namespace: 'orders' }, { server: true });
    for (const more of ['', '-charge']) {
      world.server.plays(answers(402, { code: 'card_declined' }, { 'idempotent-replayed': 'true' }));
      const effect: Effect = ({ key }) => pay(once, { operation: ['charge', `c1${more}`], key: key + more });
      expect((await run(effect)).outcome).toMatchObject({ effect: 'none' });
    }
  });

  test('whose outcome is refused is refused', async () => {
    const { world, once, run } = scene({ namespace: 'orders' }, { server: true });
    world.server.plays(answers(402, { code: 'card_declined' }));
    expect((await run(() => pay(once, { operation: ['charge', 'c1'] }))).outcome).toMatchObject({ effect: 'none' });
  });
});

test('reconcile is asked after a refusal whose Response the function of `run` has read', async () => {
  const { world, run } = scene({ reconcile: () => 'done' }, { resends: true });
  const refused = async () => {
    const response = Response.json({ error: 'no such cart' }, { status: 404 });
    await response.text();
    return response;
  };
  expect((await run(giving(world, refused))).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
});

describe('with a schema (`result`)', () => {
  const seen: unknown[] = [];
  /** Takes what has an id, as of a payment. */
  const result = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) => {
        seen.push(value);
        return value instanceof Response ? { issues: [{ message: 'no id' }] } : { value };
      },
    },
  };

  test.each([
    ['a refusal', 402, { effect: 'none', type: 'rejected' }],
    ['a 503 at the last attempt', 503, { effect: 'unknown', reason: 'unavailable' }],
  ])('%s, which is no result, is given as it is: nothing says that it is done', async (_, status, outcome) => {
    const { world, run } = scene({ limits: { attempts: 1 } });
    seen.length = 0;
    expect(await run(giving(world, problem(status, 'no')), { result })).toMatchObject({ status, error: undefined, outcome });
    expect(seen).toEqual([]);
  });

  test('the Response of what is done is parsed', async () => {
    const { world, run } = scene();
    expect(await run(giving(world, Response.json({}, { status: 201 })), { result })).toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { effect: 'done' },
    });
  });
});
