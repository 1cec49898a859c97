/**
 * Goal: the store never passes off a guess as the word of the server, and a lost answer never makes one update take effect twice. Method: a
 * server in this process that answers, fails or loses its answer as scripted. A look is an answer of the server about the record in this update.
 */
import { test as anyTest, describe, expect, onTestFinished, vi } from 'vitest';
import type { Stored } from '../../src/ports.js';
import { type Answer, type Attempt, isDone, revAfter, type Seen } from '../../src/stores/compare-and-set.js';
import { StoreFault } from '../../src/stores/fault.js';
import { OptimisticUpdater, type Server } from '../../src/stores/optimistic-updater.js';

const record = (id: string, more: object = {}): Stored => ({ id, ns: 'ns', state: 'pending', label: id, forgetAt: 1000, ...more });
const counted = (current: unknown): number => (current as { count?: number } | undefined)?.count ?? 0;
const broken = new StoreFault('io', 'the connection broke');

/** Compares and sets in memory. `fate` may fail an attempt before it is committed, or lose its answer after. */
class Memory implements Server {
  readonly records = new Map<string, Seen>();
  attempts = 0;
  fate: (attempt: number) => { before?: StoreFault; after?: StoreFault; meanwhile?: () => void } = () => ({});
  readable = true;

  async attempt({ id, expected, now, offMs, next, rev, text }: Attempt): Promise<Answer> {
    const { before, after, meanwhile } = this.fate(++this.attempts);
    if (before) throw before;
    const seen = this.records.get(id);
    const time = Date.now();
    const done = seen?.rev === expected?.rev && Math.abs(time - now) <= offMs;
    if (done && next) this.records.set(id, { rev, text });
    if (done && next === null) this.records.delete(id);
    meanwhile?.();
    if (after) throw after;
    return { done, now: time, seen: done ? undefined : seen };
  }
  async read(id: string): Promise<Seen | undefined> {
    if (!this.readable) throw broken;
    return this.records.get(id);
  }
  fault(error: unknown): StoreFault {
    return error as StoreFault;
  }
  put(id: string, more: object = {}): void {
    this.records.set(id, { rev: revAfter(this.records.get(id)), text: JSON.stringify(record(id, more)) });
  }
}

const setup = (timeoutMs = 1000) => {
  const server = new Memory();
  return { server, guesses: new OptimisticUpdater(server, timeoutMs) };
};
const test = anyTest
  .extend('setup', () => setup())
  .extend('server', ({ setup }) => setup.server)
  .extend('guesses', ({ setup }) => setup.guesses);
/** Makes an update, and resolves to everything that the change saw and to the fault. */
async function watched(guesses: OptimisticUpdater, id: string, next: (current: unknown) => Stored | null | undefined) {
  const saw: unknown[] = [];
  const work = guesses.update(
    id,
    (current) => {
      saw.push(current);
      return next(current);
    },
    'strict',
  );
  const fault = await work.then(
    () => undefined,
    (error) => error as StoreFault,
  );
  return { saw, fault };
}
const raise = (guesses: OptimisticUpdater) => watched(guesses, 'n', (current) => record('n', { count: counted(current) + 1 }));
const countIn = (server: Memory): number => counted(JSON.parse(String(server.records.get('n')?.text ?? '{}')));

describe('a guess is not a look', () => {
  test('A5: if the server could not be asked, the change is called again with "could not be looked at" instead of "absent"', async ({ server, guesses }) => {
    server.fate = () => ({ before: broken });
    const { saw, fault } = await raise(guesses);
    expect(fault?.reason).toBe('io');
    expect(saw.at(0)).toBeUndefined();
    expect(saw.at(-1)).toBe('could not be looked at');
  });

  test('the same happens if the server does not answer in time, even if its answer comes later', async () => {
    // Long enough for a busy machine to ask in time, and too short for the answer.
    const { server, guesses } = setup(500);
    server.attempt = (attempt) => new Promise((resolve) => setTimeout(() => resolve({ done: false, now: attempt.now, seen: undefined }), 1500));
    const { saw, fault } = await raise(guesses);
    expect(fault?.reason).toBe('timeout');
    await new Promise((done) => setTimeout(done, 1700));
    expect(saw).toEqual([undefined, 'could not be looked at']);
  });

  test.each([Number.POSITIVE_INFINITY, 2])(
    'the same happens if the server says "absent" but takes no new record, as when row-level security hides one; %s times',
    async (times) => {
      const { server, guesses } = setup(100);
      let asked = 0;
      // After `times` answers, the guessed time is wrong as well, as it may be near the end of a call.
      server.attempt = async ({ now }) => ({ done: false, now: asked++ < times ? now : now + 5000, seen: undefined });
      const { saw, fault } = await raise(guesses);
      expect(fault?.reason).toBe('timeout');
      expect(saw.at(-1)).toBe('could not be looked at');
    },
  );

  test('a write after a look fails because the store is full: the change is called once more, and the update rejects', async ({ server, guesses }) => {
    server.put('n', { count: 1 });
    await raise(guesses);
    server.records.delete('n');
    server.fate = (attempt) => (attempt > 3 ? { before: new StoreFault('quota', 'full') } : {});
    server.readable = false;
    const { saw, fault } = await raise(guesses);
    expect(fault?.reason).toBe('quota');
    expect(saw).toEqual([record('n', { count: 2 }), undefined, 'could not be looked at']);
  });

  test('a look no longer counts after a write without an answer, because that write may still be committed', async () => {
    const { server, guesses } = setup(100);
    server.put('n', { count: 1 });
    await raise(guesses);
    server.records.delete('n');
    server.fate = (attempt) => (attempt > 3 ? { before: new StoreFault('timeout', 'too slow') } : {});
    const { saw, fault } = await raise(guesses);
    expect(fault?.reason).toBe('timeout');
    expect(saw).toEqual([record('n', { count: 2 }), undefined, 'could not be looked at']);
  });

  test('if the store is full, the record is read, and the change is called with what is stored', async ({ server, guesses }) => {
    server.fate = () => ({ before: new StoreFault('quota', 'full') });
    expect((await raise(guesses)).saw).toEqual([undefined, undefined]);
    server.put('n', { count: 7 });
    expect((await raise(guesses)).saw.map(counted)).toEqual([0, 7]);
    server.readable = false;
    expect((await raise(guesses)).saw.at(-1)).toBe('could not be looked at');
  });

  test('A54: an error that a change throws at a guess is passed on only if it also throws after a look', async ({ server, guesses }) => {
    server.put('n', { count: 1 });
    const { saw, fault } = await watched(guesses, 'n', (current) => {
      if (current === undefined) throw new Error('absent');
      return undefined;
    });
    expect(fault).toBeUndefined();
    expect(saw.map(counted)).toEqual([0, 1]);
    const thrown = new Error('no');
    const throwing = () => {
      throw thrown;
    };
    expect((await watched(guesses, 'none', throwing)).fault).toBe(thrown);
  });
});

describe('a lost answer', () => {
  test('before the commit: the attempt is sent again', async ({ server, guesses }) => {
    server.fate = (attempt) => (attempt === 1 ? { before: broken } : {});
    expect((await raise(guesses)).fault).toBeUndefined();
    expect(countIn(server)).toBe(1);
  });

  test('after the commit: the attempt is sent again, and recognized as committed', async ({ server, guesses }) => {
    server.fate = (attempt) => (attempt === 1 ? { after: broken } : {});
    const { saw, fault } = await raise(guesses);
    expect([fault, saw.length, countIn(server)]).toEqual([undefined, 1, 1]);
  });

  test('of a strict update: it is recognized, and written once more, because nobody confirmed that it is stored safely', async ({ server, guesses }) => {
    server.fate = (attempt) => (attempt === 1 ? { after: broken } : {});
    await guesses.update('n', () => record('n'), 'relaxed');
    expect(server.attempts).toBe(2);
    server.fate = (attempt) => (attempt === 3 ? { after: broken } : {});
    expect([(await raise(guesses)).fault, server.attempts, countIn(server)]).toEqual([undefined, 5, 1]);
    server.fate = (attempt) => (attempt === 6 ? { after: broken } : attempt > 7 ? { before: new StoreFault('timeout', 'too few replicas') } : {});
    const { saw, fault } = await raise(guesses);
    expect([fault?.reason, saw.at(-1)]).toEqual(['timeout', 'could not be looked at']);
  });

  test('after the commit, if another update has followed since: the update is recognized all the same', async ({ server, guesses }) => {
    server.fate = (attempt) => (attempt === 1 ? { after: broken, meanwhile: () => server.put('n', { count: 2 }) } : {});
    expect([(await raise(guesses)).fault, countIn(server)]).toEqual([undefined, 2]);
  });

  test('after the commit, if many updates have followed since: the update rejects with io, because nobody can tell', async ({ server, guesses }) => {
    const others = () => {
      for (const count of [2, 3, 4, 5]) server.put('n', { count });
    };
    server.fate = (attempt) => (attempt === 1 ? { after: broken, meanwhile: others } : {});
    const { fault } = await raise(guesses);
    expect([fault?.reason, countIn(server)]).toEqual(['io', 5]);
  });

  test('of a removal: the update rejects with io, because nobody can tell who removed the record', async ({ server, guesses }) => {
    server.put('n');
    await raise(guesses);
    server.fate = (attempt) => (attempt === 3 ? { after: broken } : {});
    expect((await watched(guesses, 'n', () => null)).fault?.reason).toBe('io');
    expect(server.records.has('n')).toBe(false);
  });

  test('twice: the update rejects with io, and is not sent a third time', async ({ server, guesses }) => {
    server.fate = () => ({ after: broken });
    expect((await raise(guesses)).fault?.reason).toBe('io');
    expect([server.attempts, countIn(server)]).toEqual([2, 1]);
  });
});

describe.each([0, 200, -200, 5000])('an attempt that the server executes after its call has rejected; this clock is ahead by %i ms', (ahead) => {
  test.each([1, 2])('commits nothing, as the attempt number %i of the call', async (late) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const now = Date.now();
    vi.setSystemTime(now + ahead);
    const { server, guesses } = setup(600);
    vi.setSystemTime(now);
    // The guess of the late attempt is right: at first that there is no record, later the one that the first answer told of.
    if (late === 2) server.put('n', { count: 1 });
    const attempt = server.attempt.bind(server);
    let rejected = (): void => {};
    const rejection = new Promise<void>((done) => void (rejected = done));
    const done: Promise<Answer>[] = [];
    server.attempt = async (one) => {
      // The first attempt took long, so the second one has less time than the whole call.
      if (late === 2 && server.attempts === 0) await new Promise((resolve) => setTimeout(resolve, 250));
      else {
        await rejection;
        done.push(attempt(one));
        return done[0] as Promise<Answer>;
      }
      return attempt(one);
    };
    const raised = raise(guesses);
    await vi.advanceTimersByTimeAsync(605);
    expect((await raised).fault?.reason).toBe('timeout');
    rejected();
    await vi.waitFor(() => expect(done).toHaveLength(1), { interval: 0 });
    expect([(await done[0])?.done, countIn(server)]).toEqual([false, late - 1]);
  });
});

test('a process that was suspended takes the answer that came meanwhile', async () => {
  const { server, guesses } = setup(50);
  const attempt = server.attempt.bind(server);
  server.attempt = async (one) => {
    const answer = attempt(one);
    await new Promise((done) => setTimeout(done, 0));
    for (const end = performance.now() + 100; performance.now() < end; );
    await new Promise((done) => setImmediate(done));
    return answer;
  };
  expect((await raise(guesses)).fault).toBeUndefined();
});

test('a busy server is asked until the time limit, and no longer', async () => {
  const { server, guesses } = setup(200);
  server.fate = (attempt) => (attempt < 3 ? { before: new StoreFault('blocked', 'busy') } : {});
  expect((await raise(guesses)).fault).toBeUndefined();
  server.fate = () => ({ before: new StoreFault('blocked', 'busy') });
  const start = performance.now();
  expect((await raise(guesses)).fault?.reason).toMatch(/blocked|timeout/);
  expect(performance.now() - start).toBeLessThan(3000);
});

describe('a read', () => {
  test('of a server that refuses it for now is made again until the time limit, and then says why', async () => {
    const { server, guesses } = setup(200);
    server.put('n', { count: 1 });
    let refusals = 2;
    const busy = new StoreFault('blocked', 'a failover is under way');
    const read = server.read.bind(server);
    server.read = async (id) => (refusals-- > 0 ? Promise.reject(busy) : read(id));
    expect(counted(await guesses.read('n'))).toBe(1);
    refusals = Number.POSITIVE_INFINITY;
    const start = performance.now();
    await expect(guesses.read('n')).rejects.toBe(busy);
    expect(performance.now() - start).toBeLessThan(3000);
  });

  test('whose connection breaks is made once more, as an update is', async ({ server, guesses }) => {
    server.put('n', { count: 1 });
    let [asked, breaks] = [0, 1];
    const read = server.read.bind(server);
    server.read = async (id) => (++asked && breaks-- > 0 ? Promise.reject(broken) : read(id));
    expect([counted(await guesses.read('n')), asked]).toEqual([1, 2]);
    breaks = Number.POSITIVE_INFINITY;
    await expect(guesses.read('n')).rejects.toBe(broken);
    expect(asked).toBe(4);
  });
});

test('a process too busy to send its updates in time is not told that others changed the record', async () => {
  const { server, guesses } = setup(200);
  const attempt = server.attempt.bind(server);
  server.attempt = (asked) => {
    for (const start = performance.now(); performance.now() - start < 300; );
    return attempt(asked);
  };
  const { fault } = await watched(guesses, 'n', () => record('n'));
  expect(fault).toMatchObject({ reason: 'timeout', message: expect.stringContaining('this process') });
});

test('the updater remembers the last thousand records, not every record that it ever saw', async ({ server, guesses }) => {
  for (let n = 0; n < 1100; n++) await guesses.update(`r${n}`, () => record(`r${n}`), 'strict');
  const cost = async (id: string) => {
    const before = server.attempts;
    await guesses.update(id, () => record(id, { count: 1 }), 'strict');
    return server.attempts - before;
  };
  expect([await cost('r1099'), await cost('r200'), await cost('r0')]).toEqual([1, 1, 2]);
});

test('a version has a name that is never used again, and that also names the version before it', () => {
  const revs = Array.from({ length: 100 }, () => revAfter(undefined));
  expect(new Set(revs).size).toBe(100);
  const [first = '', second = ''] = [revs[0], revAfter({ rev: revs[0] ?? '', text: '' })];
  expect(second.split(' ')[1]).toBe(first);
  const attempt = { next: record('a'), rev: first } as Attempt;
  expect(isDone(attempt, { done: false, now: 0, seen: { rev: second, text: '' } })).toBe(true);
  expect(isDone(attempt, { done: false, now: 0, seen: { rev: revs[1] ?? '', text: '' } })).toBe(false);
});
