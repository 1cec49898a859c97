/**
 * Goal: what a log and a support tool say is what happened. Method: whole stories on a scripted world, as lines; every reason is
 * explained, and the guide that an explanation points to exists.
 */
import { describe, expect } from 'vitest';
import {
  createOnce,
  type Explanation,
  explain,
  logTo,
  memoryStore,
  type OnceEvent,
  type Outcome,
  outcomeOf,
  resumeOne,
  subscribe,
} from '../../src/entries/index.js';
import { readPage, tableUnder } from '../docs/support/markdown.js';
import { answers, cut, delayed, type Entry, lost, replays } from '../support/server.js';
import { NAME, newWorld, pay, test } from '../support/world.js';

const lines = () => {
  const told: string[] = [];
  const log = { info: (line: string) => void told.push(line), warn: (line: string) => void told.push(`warn ${line}`) };
  // Keys are random, so the expected lines have a placeholder.
  return { told: () => told.map((line) => line.replace(/\([0-9a-f]{8}\)/, '(key)')), log };
};

describe('logTo', () => {
  test('writes a line for each step of a payment', async ({ world }) => {
    world.random = () => 0.5;
    const { tab, once } = world.open();
    const { told, log } = lines();
    subscribe(once, logTo(log));
    world.server.plays(lost(), answers(409, '', { 'retry-after': '2' }), replays());
    world.server.charged.add('x');
    await world.end(tab, pay(once));
    expect(told()).toEqual([
      'once: pay c1 (key): attempt 1',
      'once: pay c1 (key): got no answer, waits 0.3 s before it tries again',
      'once: pay c1 (key): attempt 2',
      'once: pay c1 (key): got 409, waits 2.0 s because the server is still working on it',
      'once: pay c1 (key): attempt 3',
      'once: pay c1 (key): got 201: done after 3 attempts. It took effect earlier. The server said so: it repeated a stored answer, or the effect of an earlier attempt.',
    ]);
  });

  test('warns of an unknown effect, and says what to do', async ({ world, tab, once }) => {
    const { told, log } = lines();
    subscribe(once, logTo(log));
    await world.end(tab, pay(once, { limits: { attempts: 1 } }), lost());
    expect(told().at(-1)).toBe(
      "warn once: pay c1 (key): unknown after 1 attempt. It may have taken effect: no attempt was answered within the limits and the retry budget. Call again with the same name: it goes on with the same key. With dialect 'none', ask your server and settle it.",
    );
  });

  test('says what the last attempt of a payment got, and nothing like that for a wait before the first attempt', async ({ world, tab, once }) => {
    const { told, log } = lines();
    subscribe(once, logTo(log));
    await world.end(tab, pay(once, { limits: { attempts: 1, totalMs: 5000 } }), answers(503, '', { 'retry-after': '60' }));
    expect(told().at(-1)).toMatch(/^warn once: pay c1 \(key\): got 503: unknown after 1 attempt\. /);
    await world.clock.advance(58_000);
    await world.end(tab, pay(once), cut(201), replays());
    const after = told().slice(-4);
    expect(
      after.map((line) =>
        line
          .replace(/^once: pay c1 \(key\): /, '')
          .replace(/[\d.]+ s/, 'a while')
          .replace(/done.*/, 'done'),
      ),
    ).toEqual(['attempt 1', 'got no answer, waits a while before it tries again', 'attempt 2', 'got 201: done']);
    expect(told().at(-5)).toMatch(/: waits [\d.]+ s because the server asked for it$/);
  });

  test('shows the status of an answer that used up the key, after which the call goes on at once', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(401));
    const { told, log } = lines();
    subscribe(once, logTo(log));
    const declined = answers(402, '', { 'idempotent-replayed': 'true' });
    await world.end(tab, pay(once), declined, lost(), answers(201));
    const all = told().map((line) =>
      line
        .replace(/^once: pay c1 \([^)]+\): /, '')
        .replace(/[\d.]+ s/, 'a while')
        .replace(/done.*/, 'done'),
    );
    expect(all).toEqual(['attempt 1', 'got 402: attempt 1', 'got no answer, waits a while before it tries again', 'attempt 2', 'got 201: done']);
  });

  test('has no line with a body, an address or a whole key', async ({ world, tab, once }) => {
    const told: string[] = [];
    const keys = new Set<string>();
    const log = { info: (line: string) => void told.push(line), warn: (line: string) => void told.push(line) };
    subscribe(once, logTo(log));
    subscribe(once, ({ key }) => void keys.add(key));
    await world.end(tab, pay(once, { body: { secret: 'request' } }), lost(), answers(402, '{"secret":"answer"}'));
    const all = told.join('\n');
    expect(told.length).toBeGreaterThan(3);
    expect(all).not.toMatch(/secret|https?:/);
    for (const key of keys) expect(all).not.toContain(key);
  });

  test.for([
    ['a lock', {}, /^waits up to \d+\.\d s for another tab or process that is working on it$/],
    ['a lease', { locks: false, server: true }, /^waits up to 1[45]\.\d s for another tab or process that is working on it$/],
  ] as const)('says that it waits for another context, by %s', async ([_, of, says], { world }) => {
    const first = world.open({ namespace: 'n' }, of);
    const second = world.open({ namespace: 'n' }, of);
    const { told, log } = lines();
    subscribe(second.once, logTo(log));
    const [paid] = await world.begin(pay(first.once), delayed(5000, answers(201)));
    const [waits] = await world.begin(pay(second.once));
    const line = told()[0]?.replace('once: pay c1: ', '');
    expect(line).toMatch(says);
    await Promise.all([world.end(first.tab, paid), world.end(second.tab, waits)]);
  });

  test.each([
    ['nothing', undefined, 'undefined'],
    ['a function', () => {}, 'function'],
    ['a log without warn', { info: () => {} }, 'object'],
  ])('refuses %s', (_, wrong, type) => {
    expect(() => logTo(wrong as never)).toThrow(new TypeError(`once: logTo takes a console, got ${type} without ${type === 'object' ? 'warn' : 'info'}()`));
  });

  test('shows a reason that only a later version knows', () => {
    const { told, log } = lines();
    logTo(log)({ type: 'wait', operation: undefined, key: 'k', at: 0, foreign: false, until: undefined, why: 'something-new' } as OnceEvent);
    expect(told()).toEqual(['once: without a name (k): waits something-new']);
  });
});

describe('explain', () => {
  const of = async (options: Parameters<typeof pay>[1], ...script: Entry[]): Promise<Explanation> => {
    const { world, tab, once } = newWorld().open();
    const { outcome } = await world.end(tab, pay(once, options), ...script);
    return explain(outcome as Outcome);
  };

  const common = { operation: ['pay', 'c1'], firstSentAt: 0, resumed: false, joined: false, storedIn: 'disk' } as const;

  test('does not say that an attempt left if nothing was sent', () => {
    const outcome = { ...common, type: 'unsent', effect: 'none', reason: 'unreachable', key: 'k-1', attempts: 5, sent: 'no' } as unknown as Outcome;
    expect(explain(outcome).steps).toEqual(['This call made 5 attempts under this key.']);
  });

  test.each(['unreachable', 'aborted'] as const)('does not say that there was no attempt if there were some, which could not connect: %s', (reason) => {
    const outcome = { ...common, type: 'unsent', effect: 'none', reason, key: 'k-1', attempts: 5, sent: 'no' } as unknown as Outcome;
    expect(explain(outcome).summary).toMatch(/^It did not take effect, and will not: .*\bleft\b.*, so nothing was sent\.$/);
    expect(explain(outcome).summary).not.toMatch(/before its first attempt|no attempt went out/);
  });

  test('does not blame this call if only an earlier one may have sent something', () => {
    const outcome = { ...common, type: 'unknown', effect: 'unknown', reason: 'store', key: undefined, attempts: 0, sent: 'maybe' } as unknown as Outcome;
    expect(explain(outcome).steps).toEqual(['This call made no key.', 'An attempt of an earlier call may have reached the server.']);
  });

  test('does not say of an aborted call, which has not ended yet, that it had made no key, nor that an earlier one had sent', async () => {
    const once = createOnce({ store: memoryStore(), fetch: () => new Promise(() => {}) });
    const stop = new AbortController();
    const left = once
      .fetch('https://shop.example/pay', { method: 'POST', body: '{}', signal: stop.signal, once: ['pay', 1] })
      .catch((reason: unknown) => reason);
    setTimeout(() => stop.abort(), 20);
    expect(explain(outcomeOf(await left) as Outcome).steps).toEqual([
      'The call was left before its end.',
      'An attempt may have reached the server, but no answer says so.',
    ]);
  });

  test('sends nobody whose record is damaged to settle, which refuses it', () => {
    const outcome = { ...common, type: 'unknown', effect: 'unknown', reason: 'record', key: undefined, attempts: 0, sent: 'maybe' } as unknown as Outcome;
    expect(explain(outcome).next).toBe('If the error is ERR_ONCE_RECORD, see there. Otherwise call again with a body that can be sent, or settle it.');
  });

  test('says after a restart that no request was kept, and which option keeps it', async ({ world }) => {
    await world.interrupted(lost());
    const { tab, once } = world.open();
    const { outcome } = await world.end(tab, resumeOne(once, NAME));
    expect(explain(outcome as Outcome).summary).toContain('no request is stored (keep.request)');
  });

  test('does not call an answer lost that said that the work went on', async () => {
    expect((await of({}, answers(409, '', { 'retry-after': '0' }), answers(201))).summary).toBe('It took effect: now, or by an earlier attempt.');
  });

  test('says what became of a lost answer', async () => {
    const { summary, steps, next, guide } = await of({}, lost(), replays());
    expect(summary).toBe('It took effect earlier. The server said so: it repeated a stored answer, or the effect of an earlier attempt.');
    expect(steps.map((step) => step.replace(/\d{4}-.*Z/, '(time)'))).toEqual([
      'The first attempt under this key left at (time).',
      'This call made 2 attempts under this key.',
      'An attempt reached the server.',
    ]);
    expect(next).toBe('Show the receipt. For another effect, use another name.');
    expect(guide).toBe('docs/outcomes.md#what-the-words-rest-on');
  });

  test('says that a lost answer makes a success uncertain', async () => {
    expect((await of({}, lost(), answers(201))).summary).toBe('It took effect: now, or by an earlier attempt.');
  });

  test('says when to ask again', async () => {
    const { next } = await of({ limits: { attempts: 1 } }, answers(503, '', { 'retry-after': '60' }));
    expect(next).toMatch(
      /^Call again with the same name: it goes on with the same key\. With dialect 'none', ask your server and settle it\. Wait until \d{4}-.*Z before that\.$/,
    );
  });

  const PAGE = readPage('docs/outcomes.md');
  const wordsUnder = (heading: string): string[] => tableUnder(PAGE, heading).map(([word = '']) => word.replaceAll('`', ''));
  const FACTS = { operation: ['pay', 1], key: 'k', attempts: 0, firstSentAt: undefined, sent: 'no', resumed: false, joined: false, storedIn: 'disk' };

  test.each(wordsUnder('### Why nobody knows'))('explains why nobody knows: %s', (reason) => {
    const { summary, next, guide } = explain({ ...FACTS, type: 'unknown', effect: 'unknown', reason, retryAt: undefined } as Outcome);
    expect(summary).toMatch(/^It may have taken effect: [^{}]+[a-zA-Z0-9]\.$/);
    expect(summary).not.toContain('undefined');
    expect(next).toMatch(/\.$/);
    expect(guide).toBe('docs/outcomes.md#why-nobody-knows');
  });

  test('tells a payload that the server refused from one that was refused here', () => {
    const at = (attempts: number) => explain({ ...FACTS, attempts, type: 'unknown', effect: 'unknown', reason: 'mismatch', retryAt: undefined } as Outcome);
    expect(at(1).summary).toBe('It may have taken effect: the server holds another payload under this key.');
    // After a resume, the server holds an earlier form, whose end is known, and the present form is still to be sent.
    expect(at(1).next).toMatch(/^After a resume\(\), call again with the current payload\./);
    expect(at(0).summary).toBe('It may have taken effect: an earlier call of this name is pending with another payload or key.');
  });

  test('does not promise that another call goes on if this one sent nothing, as at a server without keys', async ({ world }) => {
    const { tab, once } = world.open({ dialect: 'none' });
    await world.end(tab, pay(once), lost());
    const { outcome } = await world.end(tab, pay(once));
    const { summary, next } = explain(outcome as Outcome);
    expect(summary).toBe('It may have taken effect: an earlier call may have had the effect, and this one sent nothing.');
    expect(next).toBe("Call again with the same name: it goes on with the same key. With dialect 'none', ask your server and settle it.");
  });

  test('promises no call at a server without keys, after its first attempt either', async ({ world }) => {
    const { tab, once } = world.open({ dialect: 'none' });
    const { outcome } = await world.end(tab, pay(once), lost());
    expect(explain(outcome as Outcome).next).toBe(
      "Call again with the same name: it goes on with the same key. With dialect 'none', ask your server and settle it.",
    );
    const refused = explain({ ...FACTS, attempts: 1, type: 'unknown', effect: 'unknown', reason: 'refused', retryAt: undefined } as Outcome);
    expect(refused.next).toMatch(/^After a 401, log in\. Then call again, or ask your server and settle it\.$/);
  });

  test('says of three keys that are used up what happened, and speaks of no 5xx and no earlier call', async () => {
    const repeats = replays(402, { code: 'declined' });
    const { summary, steps, next } = await of({ key: ({ generation }) => `order-${generation}` }, repeats, repeats, repeats);
    expect(summary).toBe('It may have taken effect: each key that this call sent is used up.');
    expect(steps).toEqual([]);
    expect(next).toBe('Call again with the same name: it takes another key.');
  });

  test('says that an error inside a 2xx counts as a failure', () => {
    const { summary } = explain({ ...FACTS, type: 'unknown', effect: 'unknown', attempts: 1, reason: 'unavailable', retryAt: undefined } as Outcome);
    expect(summary).toContain('5xx, a 408 or an error inside a 2xx');
  });

  test('speaks of a record only if there is a key', () => {
    const of = (key: string | undefined) => explain({ ...FACTS, key, storedIn: 'memory', type: 'unsent', effect: 'none', reason: 'offline' } as Outcome);
    expect(of('k').steps).toContain('Its record is in memory: a reload or a restart forgets it.');
    expect(of(undefined).steps).toEqual(['This call made no key.']);
  });

  test.each(wordsUnder('### Why nothing was sent'))('explains why nothing was sent: %s', (reason) => {
    const { summary, guide } = explain({ ...FACTS, type: 'unsent', effect: 'none', reason } as Outcome);
    expect(summary).toMatch(/^It did not take effect, and will not: [^{}]+, so nothing was sent\.$/);
    expect(summary).not.toContain('undefined');
    expect(guide).toBe('docs/outcomes.md#why-nothing-was-sent');
  });

  test.each([
    ['nothing', undefined],
    ['an error', new Error('x')],
    ['another type', { type: 'constructor' }],
  ])('refuses %s', (_, wrong) => expect(() => explain(wrong as never)).toThrow(/^once: explain takes an outcome, got /));
});
