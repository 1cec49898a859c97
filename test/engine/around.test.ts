/**
 * Goal: whatever an `around` hook does, an attempt that may have been sent counts as sent, an attempt that was not sent does not,
 * and the key stays. Method: one payment for each faulty hook, compared with what reached the server.
 */
import { describe, expect } from 'vitest';
import { square } from '../../src/entries/dialects.js';
import { type Around, type AroundAttempt, around, clear, close, extend, polling, reconciling, retrying, run, unnamed } from '../../src/entries/index.js';
import { answers, charged, delayed, hangs, lost, NeverConnected, replays, unreachable } from '../support/server.js';
import { says } from '../support/texts.js';
import { HOUR, newWorld, ONE, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

const FAILED = new Error('the exporter is down');
const USE = [polling(), reconciling(), retrying(), unnamed()];

function scene(hook: Around, namespace?: () => string) {
  const { world, tab, once } = newWorld().open({ use: [...USE, around(hook)], ...(namespace && { namespace }) });
  return { world, tab, once };
}

describe('around', () => {
  test('is told the operation, the number of the attempt, and whether the key may have been sent before', async () => {
    const told: AroundAttempt[] = [];
    const { world, tab, once } = scene((attempt, send) => {
      told.push(attempt);
      return send();
    });
    const end = await world.end(tab, pay(once), charged(lost()), replays());
    expect(end).toMatchObject({ outcome: { effect: 'done', attempts: 2 } });
    expect(told.map(({ operation, attempt, again }) => [operation, attempt, again])).toEqual([
      [['pay', 'c1'], 1, false],
      [['pay', 'c1'], 2, true],
    ]);
    expect(told[0]?.headers.get('idempotency-key')).toBe(end.outcome?.key);
  });

  test('is told that the call goes on with an earlier operation', async () => {
    const again: boolean[] = [];
    const { world, tab, once } = scene((attempt, send) => {
      again.push(attempt.again);
      return send();
    });
    await world.end(tab, pay(once, ONE), charged(lost()));
    await world.end(tab, pay(once, ONE), replays());
    expect(again).toEqual([false, true]);
  });

  test('sets headers, but not the key', async () => {
    const { world, tab, once } = scene(({ headers }, send) => {
      headers.set('idempotency-key', 'mine');
      return send({ 'x-signature': 's', 'idempotency-key': 'stranger' });
    });
    const end = await world.end(tab, pay(once), charged(answers(201)));
    expect(world.server.arrivals[0]?.headers.get('x-signature')).toBe('s');
    expect(world.server.keys).toEqual([end.outcome?.key]);
    expect(['mine', 'stranger']).not.toContain(end.outcome?.key);
  });

  test('must be a function', () => {
    expect(() => around(undefined as unknown as Around)).toThrow(
      new TypeError(`once: the hook of around must be ${says('a function', 'function')}, got undefined`),
    );
  });
});

describe('several hooks', () => {
  /** A hook that notes when it is entered and left, and adds a header. */
  const noting =
    (notes: string[], name: string): Around =>
    async ({ headers }, send) => {
      notes.push(`${name} finds ${headers.get('x-by') ?? 'nothing'}`);
      const response = await send({ 'x-by': name, 'idempotency-key': name });
      notes.push(`${name} is left`);
      return response;
    };

  test('are nested: the first one is outermost, those of an extended client are innermost, and the key is set last', async () => {
    const notes: string[] = [];
    const { world, tab, once } = newWorld().open({ use: [around(noting(notes, 'outer')), around(noting(notes, 'inner'))] });
    const more = extend(once, { use: [around(noting(notes, 'innermost'))] });
    const end = await world.end(tab, pay(more), charged(answers(201)));
    expect(notes).toEqual(['outer finds nothing', 'inner finds outer', 'innermost finds inner', 'innermost is left', 'inner is left', 'outer is left']);
    expect(world.server.arrivals[0]?.headers.get('x-by')).toBe('innermost');
    expect(world.server.keys).toEqual([end.outcome?.key]);
  });

  test('of which the outer one calls send twice make one request, and the effect is unknown', async ({ world }) => {
    const inner: unknown[] = [];
    const twice: Around = async (_, send) => {
      await send();
      return send();
    };
    const seen: Around = (attempt, send) => {
      inner.push(attempt.attempt);
      return send();
    };
    const { tab, once } = world.open({ use: [around(twice), around(seen)] });
    expect(await world.end(tab, pay(once, ONE), charged(answers(201)))).toMatchObject({ outcome: { effect: 'unknown', reason: 'no-answer', attempts: 1 } });
    expect(world.server.arrivals).toHaveLength(1);
    expect(inner).toEqual([1, 1]);
  });

  test('of which the inner one fails before it sends, and the outer one hides that, leave the operation unsent', async ({ world }) => {
    const hides: Around = (_, send) => send().catch(() => new Response('{}', { status: 201 }));
    const { tab, once } = world.open({ use: [around(hides), around(() => Promise.reject(FAILED))] });
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { type: 'unsent', sent: 'no' } });
    expect(world.server.arrivals).toEqual([]);
  });
});

describe('an attempt', () => {
  test('whose key is in the body keeps it there, whatever headers the hook adds', async ({ world }) => {
    world.keyOf = ({ body }) => JSON.parse(String(body)).idempotency_key;
    const signs: Around = (_, send) => send({ 'x-signature': 's' });
    const { tab, once } = world.open({ use: [around(signs)], dialect: square() });
    const end = await world.end(tab, pay(once, { body: { amount: 1 } }), charged(answers(200)));
    expect(world.server.keys).toEqual([end.outcome?.key]);
    expect(world.server.arrivals[0]?.headers.get('x-signature')).toBe('s');
  });

  test('of a function given to run passes no hook', async () => {
    const told: unknown[] = [];
    const { world, once } = scene((attempt, send) => {
      told.push(attempt);
      return send();
    });
    expect(await world.run(run(once, ['charge', 1], () => 'ok'))).toBe('ok');
    expect(told).toEqual([]);
  });

  test('of a client that is closed by the hook is not sent', async ({ world }) => {
    const closes: Around = async (_, send) => {
      void close(once);
      return send();
    };
    const { tab, once } = world.open({ use: [around(closes)] });
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'none', sent: 'no' } });
    expect(world.server.arrivals).toEqual([]);
  });

  test('that a slow hook held back is not sent if another client has cleared the record meanwhile', async ({ world }) => {
    const slow: Around = async (_, send) => {
      await world.run(clear(world.open().once));
      await new Promise<void>((resolve) => void world.clock.timer(5000, resolve));
      return send();
    };
    const { tab, once } = world.open({ use: [around(slow)] });
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown', attempts: 0 } });
    expect(world.server.arrivals).toEqual([]);
  });
});

describe('nothing was sent', () => {
  const UNSENT = { code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', effect: 'none', sent: 'no', attempts: 0 } };

  test.each<[string, Around]>([
    ['throws before it calls send', () => Promise.reject(FAILED)],
    [
      'throws at once',
      () => {
        throw FAILED;
      },
    ],
    [
      'throws before the request that it asked for has left',
      (_, send) => {
        void send({ 'x-signature': 's' }).catch(() => {});
        throw FAILED;
      },
    ],
    ['never calls send, and returns a Response of its own', async () => new Response('{}', { status: 201 })],
    ['never calls send, and returns nothing', async () => undefined as unknown as Response],
    ['hangs before it calls send', () => new Promise(() => {})],
  ])('if the hook %s', async (_, hook) => {
    const { world, tab, once } = scene(hook);
    expect(await world.end(tab, pay(once))).toMatchObject(UNSENT);
    expect(world.server.arrivals).toEqual([]);
    expect(world.record()).toBeUndefined();
  });

  test('if the transport says so and the hook passes that on', async () => {
    const { world, tab, once } = scene((_, send) => send());
    expect(await world.end(tab, pay(once, ONE), unreachable())).toMatchObject({ outcome: { type: 'unsent', effect: 'none' } });
  });

  test('by a send after the attempt has ended', async () => {
    const late: Promise<unknown>[] = [];
    const { world, tab, once } = scene(async (_, send) => {
      world.clock.timer(HOUR, () => void late.push(send().catch((error: unknown) => error)));
      return new Promise(() => {});
    });
    expect(await world.end(tab, pay(once, ONE))).toMatchObject(UNSENT);
    await world.clock.runAll();
    await rest();
    expect(late.length).toBeGreaterThan(0);
    for (const error of await Promise.all(late)) expect(error).toBeInstanceOf(Error);
    expect(world.server.arrivals).toEqual([]);
  });

  test('by a send after its user has logged out', async () => {
    let user = 'ann';
    const { world, tab, once } = scene(
      async (_, send) => {
        user = 'bob';
        return send();
      },
      () => user,
    );
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'none', sent: 'no' } });
    expect(world.server.arrivals).toEqual([]);
  });
});

describe('the effect is unknown', () => {
  test.each<[string, Around]>([
    [
      'throws after send',
      async (_, send) => {
        await send();
        throw FAILED;
      },
    ],
    [
      'throws what a refused connection throws, after send',
      async (_, send) => {
        await send();
        throw new NeverConnected();
      },
    ],
    [
      'throws while the request is under way',
      (_, send) => {
        void send().catch(() => {});
        throw FAILED;
      },
    ],
    [
      'returns nothing',
      async (_, send) => {
        await send();
        return undefined as unknown as Response;
      },
    ],
    [
      'returns something that is not a Response',
      async (_, send) => {
        await send();
        return { status: 201 } as Response;
      },
    ],
    [
      'returns a Response of its own',
      async (_, send) => {
        await send();
        return new Response('{}', { status: 402 });
      },
    ],
    [
      'hangs after send',
      async (_, send) => {
        await send();
        return new Promise(() => {});
      },
    ],
    [
      'calls send twice',
      async (_, send) => {
        await send();
        return send();
      },
    ],
  ])('if the hook %s', async (_, hook) => {
    const { world, tab, once } = scene(hook);
    const end = await world.end(tab, pay(once, ONE), charged(answers(201)));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'no-answer', attempts: 1 } });
    expect(world.server.arrivals).toHaveLength(1);
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: true, key: end.outcome?.key });
  });

  test('if the hook hides the answer of the server; the outcome still says that the request was sent', async () => {
    const { world, tab, once } = scene(async (_, send) => {
      await send();
      throw FAILED;
    });
    expect(await world.end(tab, pay(once, ONE), charged(answers(201)))).toMatchObject({ outcome: { effect: 'unknown', sent: 'yes' } });
  });

  test.for(['hang', 'look-fails'] as const)(
    'unless the hook calls send once more after a slow answer, while the store fails (%s): the answer to the first send counts',
    async (fault) => {
      const { world, tab, once } = scene(async (_, send) => {
        const response = await send();
        tab.faults.next(fault);
        await send().catch(() => {});
        return response;
      });
      expect(await world.end(tab, pay(once), delayed(2 * SECOND, answers(201)))).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: true } });
      expect(world.server.arrivals).toHaveLength(1);
    },
  );

  test('if a slow hook calls send twice at once, and the second read of the store fails', async () => {
    const { world, tab, once } = scene(async (_, send) => {
      await new Promise<void>((go) => world.clock.timer(2 * SECOND, go));
      tab.faults.next('none', 'hang');
      const first = send();
      first.catch(() => {});
      await send().catch(() => {});
      return first;
    });
    expect(await world.end(tab, pay(once, ONE), charged(lost()))).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('if the hook returns a Response of its own in place of a lost answer: such a Response proves nothing', async () => {
    const { world, tab, once } = scene((_, send) => send().catch(() => new Response('{}', { status: 402 })));
    expect(await world.end(tab, pay(once, ONE), charged(lost()))).toMatchObject({ outcome: { effect: 'unknown', reason: 'no-answer' } });
  });

  test('and the next attempt sends the same key', async () => {
    const { world, tab, once } = scene(async ({ attempt }, send) => {
      const response = await send();
      if (attempt === 1) throw FAILED;
      return response;
    });
    expect(await world.end(tab, pay(once), charged(answers(201)), replays())).toMatchObject({ outcome: { effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(1);
    expect(world.server.arrivals.length).toBe(2);
  });
});

describe('close() in the middle of an attempt', () => {
  const waits = (world: World, ms: number) => new Promise<void>((go) => void world.clock.timer(ms, go));

  test('that the hook holds back: it is not sent when the hook lets it go, and the client waits no longer than that', async ({ world }) => {
    const sends: Promise<unknown>[] = [];
    const holds: Around = async (_, send) => {
      await waits(world, 5 * SECOND);
      const sending = send();
      sends.push(watched(sending));
      return sending;
    };
    const { tab, once } = world.open({ use: [around(holds)] });
    const [call] = await world.begin(pay(once));
    const begun = world.clock.now();
    await world.run(close(once));
    expect(world.clock.now() - begun).toBeLessThanOrEqual(5 * SECOND);
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { effect: 'none', sent: 'no', attempts: 0 } });
    expect(world.record()).toBeUndefined();
    await world.clock.runAll();
    await expect(Promise.all(sends)).rejects.toThrow(Error);
    expect(world.server.arrivals).toEqual([]);
  });

  test.for([1, 20])(
    'that is under way when the hook takes %i s with its answer: the call and the client end in the time of the attempt',
    async (s, { world }) => {
      const holds: Around = async (_, send) => {
        const response = await send();
        await waits(world, s * SECOND);
        return response;
      };
      const { tab, once } = world.open({ use: [around(holds)], limits: { attemptMs: 10 * SECOND } });
      const [call] = await world.begin(pay(once), charged(answers(201)));
      const begun = world.clock.now();
      await world.run(close(once));
      expect(world.clock.now() - begun).toBeLessThanOrEqual(10 * SECOND);
      const { outcome } = await world.end(tab, call);
      expect(outcome).toMatchObject(s === 1 ? { type: 'fresh' } : { effect: 'unknown', sent: 'yes', attempts: 1 });
      expect(world.record()).toMatchObject(s === 1 ? { state: 'settled' } : { state: 'pending', ambiguous: true, key: outcome?.key });
      expect(world.server.arrivals).toHaveLength(1);
    },
  );
});

describe('callers who share an attempt', () => {
  /** A hook that lets the attempt go after two seconds, and counts how often it was called. */
  const slow = () => {
    const { world, tab, once } = scene(async (_, send) => {
      calls.push(1);
      await new Promise<void>((go) => void world.clock.timer(2 * SECOND, go));
      return send();
    });
    const calls: number[] = [];
    return { world, tab, once, calls };
  };

  test('pass one hook, and each gets the answer', async () => {
    const { world, tab, once, calls } = slow();
    world.server.plays(charged(answers(201, { id: 'ch_1' })));
    const ends = await world.all(tab, pay(once), pay(once));
    expect(ends.map(({ outcome }) => [outcome?.type, outcome?.joined])).toEqual([
      ['fresh', false],
      ['fresh', true],
    ]);
    expect(await Promise.all(ends.map(({ response }) => response?.json()))).toEqual([{ id: 'ch_1' }, { id: 'ch_1' }]);
    expect([calls.length, world.server.arrivals.length]).toEqual([1, 1]);
  });

  test.for([0, 1])('and of whom one leaves while the hook waits (%i): the other one still gets it', async (leaver) => {
    const { world, tab, once } = slow();
    world.server.plays(charged(answers(201)));
    const leaving = new AbortController();
    const told: unknown[] = [];
    const calls = [0, 1].map((n) =>
      pay(once, { signal: n === leaver ? leaving.signal : undefined, onOutcome: ({ type, joined }) => void told.push([type, joined]) }),
    );
    await rest();
    world.clock.timer(SECOND, () => leaving.abort());
    const ends = await world.run(Promise.allSettled(calls));
    expect(ends.map(({ status }) => status)).toEqual(leaver ? ['fulfilled', 'rejected'] : ['rejected', 'fulfilled']);
    await rest();
    expect(told.sort()).toEqual([
      ['fresh', false],
      ['fresh', true],
    ]);
    expect(tab.outcomeOf(leaving.signal.reason)).toMatchObject({ type: 'fresh', joined: leaver === 1 });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('and who all leave while the hook waits: nothing is sent, and each hears that', async () => {
    const { world, once, calls } = slow();
    const told: unknown[] = [];
    const leaving = new AbortController();
    const both = [0, 1].map(() => pay(once, { signal: leaving.signal, onOutcome: ({ effect, sent }) => void told.push([effect, sent]) }));
    await rest();
    world.clock.timer(SECOND, () => leaving.abort());
    await world.run(Promise.allSettled(both));
    await world.clock.runAll();
    await rest();
    expect(told).toEqual([
      ['none', 'no'],
      ['none', 'no'],
    ]);
    expect([calls.length, world.server.arrivals]).toEqual([1, []]);
  });
});

describe("a hook that never resolves ends with the attempt's time", () => {
  const limits = { attemptMs: 3 * SECOND, attempts: 2 };
  const never = () => new Promise<Response>(() => {});

  test('before send: that attempt does not count as sent, and the next one is the first', async () => {
    const told: AroundAttempt[] = [];
    const { world, tab, once } = scene((attempt, send) => (told.push(attempt) === 1 ? never() : send()));
    const end = await world.end(tab, pay(once, { limits }), charged(answers(201)));
    expect(end.outcome).toMatchObject({ type: 'fresh', certain: true });
    expect(told.map(({ again }) => again)).toEqual([false, false]);
    expect(world.server.arrivals).toHaveLength(1);
    expect(end.ms).toBeGreaterThanOrEqual(limits.attemptMs);
  });

  test('before send, and what it sends while the next attempt is under way does not leave', async () => {
    let late: Promise<unknown> | undefined;
    let sendsLate: (() => void) | undefined;
    const { world, tab, once } = scene((_, send) => {
      if (sendsLate) {
        world.clock.timer(SECOND, sendsLate);
        return send();
      }
      sendsLate = () => void (late = watched(send()));
      return never();
    });
    const end = await world.end(tab, pay(once, { limits }), delayed(2 * SECOND, charged(answers(201))));
    expect(end.outcome).toMatchObject({ type: 'fresh' });
    await world.clock.runAll();
    await expect(late).rejects.toThrow(Error);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('after send: the request under way is aborted, and the next attempt sends the same key', async () => {
    let attempts = 0;
    const { world, tab, once } = scene(async (_, send) => {
      const sending = send();
      sending.catch(() => {});
      return attempts++ ? sending : never();
    });
    const end = await world.end(tab, pay(once, { limits }), charged(hangs()), replays());
    expect(end.outcome).toMatchObject({ type: 'replayed', attempts: 2 });
    expect(world.server.arrivals.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(new Set(world.server.keys)).toEqual(new Set([end.outcome?.key]));
    expect(world.server.gaps[0]).toBeGreaterThanOrEqual(limits.attemptMs);
  });
});
