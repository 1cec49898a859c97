/**
 * Goal: every caller of one operation gets its own end, whatever the effect throws or returns, and whenever and however the caller
 * came or left. Method: callers who join, come late, leave for odd reasons, and bodies that can't be read.
 */
import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import type { OperationKey } from '../../src/core/ids.js';
import { abortReason, InFlightOperation, noteUnderReason } from '../../src/engine/in-flight.js';
import { registry } from '../../src/engine/registry.js';
import { explain, extend, type OnceError, type Outcome, operation as operationOf, run } from '../../src/entries/index.js';
import { made } from '../support/made.js';
import { answers, charged, delayed, during, hangs, lost, stalls } from '../support/server.js';
import { says } from '../support/texts.js';
import { CART, MINUTE, NAME, newWorld, ONE, type Page, pay, rest, SECOND, test, URL_, watched } from '../support/world.js';

const LEFT = { type: 'unknown', effect: 'unknown', reason: 'aborted' } as Outcome;

describe('what a function given to run throws or returns', () => {
  test.for(['declined', null, undefined, 5])('reaches every caller: %j', async (thing, { world, once }) => {
    const thrown = () => Promise.reject(thing);
    const calls = [1, 2].map(() => watched(run(once, NAME, thrown, { verdict: () => 'rejected' })));
    const ends = await world.run(Promise.allSettled(calls));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    if (thing !== undefined) expect(ends.map((end) => end.status === 'rejected' && end.reason)).toEqual([thing, thing]);
    expect(await world.run(Promise.all([1, 2].map(() => run(once, ['other'], async () => thing))))).toEqual([thing, thing]);
  });

  test('is found by outcomeOf if it is an error', async ({ world, tab, once }) => {
    const declined = new Error('declined');
    await world.run(Promise.allSettled([run(once, NAME, () => Promise.reject(declined), { verdict: () => 'rejected' })]));
    expect(tab.outcomeOf(declined)).toMatchObject({ type: 'rejected' });
  });
});

describe('callers of one answer', () => {
  test('are told no outcome if the call fails before there is one', async ({ world, tab }) => {
    const told: Outcome[] = [];
    const fails = new Error('fingerprint');
    const once = tab.once({ fingerprint: () => Promise.reject(fails), onOutcome: (outcome) => void told.push(outcome) });
    expect(await world.end(tab, pay(once))).toMatchObject({ error: fails });
    expect(told).toEqual([]);
  });

  test('who joined in the same tick end as the call that they joined, not by a time limit of their own', async ({ world, tab, once }) => {
    world.server.plays(hangs());
    const calls = [1, 2].map(() => pay(once, { limits: { totalMs: SECOND, attempts: 1 } }));
    expect((await world.all(tab, ...calls)).map(({ code }) => code)).toEqual(['ERR_ONCE_UNKNOWN', 'ERR_ONCE_UNKNOWN']);
  });

  test('get a body each, and know whether they joined; a caller that comes too late for a long body is told so', async ({ world }) => {
    const { tab, once } = world.open({ limits: { bodyBytes: 4 } });
    world.server.plays(delayed(SECOND, answers(201, 'a long body')));
    const [first, second] = [pay(once), pay(once)];
    const [one, two] = await world.all(tab, first, second);
    expect([one?.outcome?.joined, two?.outcome?.joined]).toEqual([false, true]);
    expect([await one?.response?.text(), await two?.response?.text()]).toEqual(['a long body', 'a long body']);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });

  test('leave when their own limit is over, and the last one to leave stops the operation', async ({ world, tab, once }) => {
    const abort = new AbortController();
    world.server.plays(hangs());
    const first = pay(once, { signal: abort.signal });
    const second = pay(once, { limits: { totalMs: 10 * SECOND } });
    world.clock.timer(5 * SECOND, () => abort.abort());
    await world.end(tab, first);
    expect(await world.end(tab, second)).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { effect: 'unknown' } });
    await world.clock.advance(5 * MINUTE);
    expect(world.server.arrivals).toHaveLength(1);
    expect(operationOf(once, NAME).state).toMatchObject({ phase: 'unsettled' });
  });

  test('who joined and ran out of time are busy, and their `onOutcome` still hears the end', async ({ world, tab, once }) => {
    world.server.plays(delayed(5 * SECOND, answers(201)));
    const told: Outcome[] = [];
    const [first] = await world.begin(pay(once));
    const second = watched(pay(once, { limits: { totalMs: SECOND }, onOutcome: (outcome) => void told.push(outcome) }));
    expect(await world.end(tab, second)).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { effect: 'unknown' } });
    expect(told).toEqual([]);
    await world.end(tab, first);
    expect(told).toMatchObject([{ effect: 'done', joined: true }]);
  });

  test('leave no listener on their signals', async ({ world, tab, once }) => {
    const signals = [new AbortController().signal, new AbortController().signal];
    world.server.plays(delayed(SECOND, answers(201)));
    await world.all(tab, ...signals.map((signal) => pay(once, { signal })));
    world.server.plays(lost());
    await world.all(tab, ...signals.map((signal) => pay(once, { ...ONE, operation: ['lost'], signal })));
    expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  test("of a request that can't be prepared get its error, whether they joined or waited", async ({ world, once }) => {
    const broken = new TypeError('no fingerprint');
    const fingerprint = () => Promise.reject(broken);
    const calls = [1, 2].map(() => pay(extend(once, { fingerprint })));
    const ends = await world.run(Promise.allSettled(calls));
    for (const end of ends) expect(end).toEqual({ status: 'rejected', reason: broken });
    expect(operationOf(once, NAME).state.phase).not.toBe('sending');
  });

  test('who left before a request turned out to be broken are told that nothing was sent, and no more', async ({ world, tab, once }) => {
    const told: unknown[] = [];
    const controller = new AbortController();
    const call = pay(extend(once, { fingerprint: () => Promise.reject(new TypeError('broken')) }), {
      signal: controller.signal,
      onOutcome: (outcome) => void told.push(outcome),
    });
    controller.abort(new Error('enough'));
    expect((await world.end(tab, call)).error).toMatchObject({ message: 'enough' });
    await rest();
    expect(told).toMatchObject([{ type: 'unsent', reason: 'aborted' }]);
    expect(tab.reported).toEqual([]);
  });
});

describe('an operation in flight', () => {
  const fly = () => {
    const own = { ...registry(), flights: new Map<OperationKey, InFlightOperation>(), outcomes: new WeakMap<object, Outcome>() };
    return { own, flight: new InFlightOperation({ registry: own }, made('slot')) };
  };
  const caller = { joined: true, signal: undefined, request: undefined, onOutcome: undefined, left: LEFT };

  test('that has landed answers a late caller at once, with a copy of the answer', async () => {
    const { own, flight } = fly();
    const outcome = { type: 'fresh' } as Outcome;
    const result = { value: 'first', copy: () => 'another', response: undefined } as never;
    flight.land({ outcome, result });
    expect(await flight.join(caller)).toBe('another');
    expect(own.flights.size).toBe(0);
    expect(await flight.fingerprint).toBeUndefined();
    await flight.landed;
  });

  const read = new Response('long');
  read.body?.getReader();
  test.each<[string, () => unknown]>([
    ['was not kept', () => undefined],
    ['is being read by another caller', () => read.clone()],
  ])('whose long answer %s tells a late caller that it has settled', async (_, copy) => {
    const { flight } = fly();
    flight.land({ outcome: { type: 'fresh' } as Outcome, result: { value: 1, copy, response: new Response() } as never });
    await expect(flight.join(caller)).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'fresh', joined: true } });
  });

  test('that failed rejects a late caller with its error', async () => {
    const { flight } = fly();
    const broken = new Error('broken');
    flight.land({ fail: () => broken });
    await expect(flight.join(caller)).rejects.toBe(broken);
  });

  test('that lands without a result releases the calls that wait for it', async () => {
    const { own, flight } = fly();
    flight.land();
    expect(await flight.fingerprint).toBeUndefined();
    await flight.landed;
    expect(own.flights.size).toBe(0);
  });

  test('stops when the last of its callers leaves', async () => {
    const { flight } = fly();
    const controllers = [new AbortController(), new AbortController()] as const;
    const calls = controllers.map(({ signal }) => flight.join({ ...caller, signal }));
    for (const call of calls) call.catch(() => {});
    controllers[0].abort('one');
    expect(flight.stop.aborted).toBe(false);
    controllers[1].abort('two');
    expect(flight.stop.aborted).toBe(true);
    expect((await Promise.allSettled(calls)).map((end) => end.status === 'rejected' && end.reason)).toEqual(['one', 'two']);
  });

  test('is stopped at once if its only caller had aborted before', async () => {
    const { flight } = fly();
    await expect(flight.join({ ...caller, signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    expect(flight.stop.aborted).toBe(true);
  });
});

describe('the reason of an abort', () => {
  test('is the one that the app gave, or an AbortError if the platform has none', () => {
    const reason = new Error('enough');
    expect(abortReason(AbortSignal.abort(reason))).toBe(reason);
    expect(abortReason({ aborted: true } as AbortSignal)).toMatchObject({ name: 'AbortError', message: 'The operation was aborted' });
  });

  test.each([null, undefined, 'word', 5])('gets no outcome if it is %j', (reason) => {
    const own = registry();
    expect(noteUnderReason(own, reason, LEFT)).toBeUndefined();
  });
});

/** A file that a customer has chosen, and that was saved again since. */
async function fileChangedSince(): Promise<Blob> {
  const folder = await mkdtemp(join(tmpdir(), 'once-file-'));
  const path = join(folder, 'plan.txt');
  await writeFile(path, 'as chosen');
  const blob = await openAsBlob(path);
  await writeFile(path, 'as saved since');
  onTestFinished(() => rm(folder, { recursive: true }));
  return blob;
}

describe('a body', () => {
  test('that cannot be read is reported with its cause, and with what is known of the operation', async ({ world, tab, once }) => {
    const end = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: 5 as never, once: NAME })));
    expect(end).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { type: 'unsent', reason: 'unreplayable-body', sent: 'no' } });
    expect(String(end.error)).toMatch(says(/: body must be text.*, got number/, /: body: body, got number/));
    expect(String(end.error)).not.toMatch(/once: .*once: /);
    await world.end(tab, pay(once, ONE), charged(lost()));
    const again = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: 5 as never, once: NAME })));
    expect(again).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { type: 'unknown', reason: 'record', sent: 'maybe' } });
    // A record is stored, so the explanation does not advise to forget the operation.
    expect(explain(again.outcome as Outcome)).toMatchObject({
      summary: expect.stringMatching(/no body that can be sent/),
      next: expect.not.stringMatching(/forget/),
    });
  });

  test.for([
    ['a file that was changed on the disk after it was chosen', fileChangedSince],
    ['a stream that breaks', async () => new ReadableStream({ pull: (controller) => controller.error(new Error('torn')) })],
    ['a stream that somebody else reads', async () => ((stream) => stream.getReader() && stream)(new ReadableStream({}))],
  ] as const)('is reported as ERR_ONCE_BODY, and not as a bug of the app: %s', async ([_, bodyOf], { world, tab, once }) => {
    const init = { method: 'POST', body: await bodyOf(), duplex: 'half', once: NAME } as RequestInit;
    expect(await world.end(tab, watched(once.fetch(URL_, init)))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { type: 'unsent' } });
    expect(world.records).toEqual([]);
  });

  test('that is wrong is not told as unsent if the store could not be read', async ({ world, tab, once }) => {
    tab.faults.next('look-fails');
    const end = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: 5 as never, once: NAME })));
    expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { type: 'unknown', reason: 'store', sent: 'maybe' } });
  });

  test('that never ends is given up when the time of the call is over', async ({ world }) => {
    const { tab, once } = world.open({ limits: { totalMs: SECOND } });
    const at = world.clock.now();
    const endless = new ReadableStream({});
    const end = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: endless, duplex: 'half', once: NAME } as RequestInit)));
    expect(end).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { type: 'unsent' } });
    expect(world.clock.now() - at).toBe(SECOND);
  });

  test('whose fingerprint is never ready is given up at that time, too', async ({ world }) => {
    const { tab, once } = world.open({ limits: { totalMs: SECOND }, fingerprint: () => new Promise(() => {}) });
    const at = world.clock.now();
    expect((await world.end(tab, pay(once))).error).toMatchObject({ name: 'TypeError', message: expect.stringContaining('fingerprint') });
    expect(world.clock.now() - at).toBe(SECOND);
  });
});

describe('a call', () => {
  test('that waits for another payload of its name is busy when its time is over, and not before', async ({ world, tab, once }) => {
    const [first] = await world.begin(pay(once), delayed(10 * SECOND, answers(201)));
    const second = pay(once, { body: { ...CART, amount: 20 }, limits: { totalMs: SECOND } });
    expect(await world.end(tab, second)).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { reason: 'busy' }, ms: SECOND });
    await world.end(tab, first);
  });

  test('whose record cannot be claimed releases its lock', async ({ world }) => {
    const dying = world.open();
    await world.end(dying.tab, extend(dying.once, ONE).fetch(URL_, { method: 'POST', body: '{}' }), charged(lost()));
    dying.tab.kill();
    const { tab, once } = world.open();
    tab.faults.next('none', 'none', 'look-fails');
    expect(await world.end(tab, once.fetch(URL_, { method: 'POST', body: '{}' }))).toMatchObject({ code: 'ERR_ONCE_STORE' });
    expect(world.locks.names).toEqual([]);
  });
});

test('the ids of a record are the same in every release: with other ids, no earlier record would be found', async () => {
  for (const [options, own, operation] of [
    [{}, '', '["pay","c1"]'],
    [{ namespace: 'ann' }, 'ann', '["pay","c1"]'],
  ] as const) {
    const { world, tab, once } = newWorld().open(options);
    await world.end(tab, pay(once), answers(201));
    const digest = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
    expect(world.records).toMatchObject([{ id: digest([own, operation]), ns: digest([own]) }]);
  }
});

describe('an answer whose body still arrives, and its readers', () => {
  const open = () => {
    const { world, tab, once } = newWorld().open();
    world.server.plays(delayed(SECOND, charged(stalls(200, 'text/event-stream'))));
    const [first, second] = [new AbortController(), new AbortController()];
    const calls = [pay(once, { signal: first.signal }), pay(once, { signal: second.signal })] as const;
    return { world, tab, first, second, calls, sent: () => world.server.arrivals[0]?.signal };
  };

  test('one reader that stops does not end the body for the other; the last one does', async () => {
    const { world, tab, first, second, calls, sent } = open();
    for (const { outcome } of await world.all(tab, ...calls)) expect(outcome).toMatchObject({ effect: 'done' });
    first.abort('first');
    expect(sent()?.aborted).toBe(false);
    second.abort('second');
    expect(sent()?.reason).toBe('second');
  });

  test('if the first caller left before the answer, the signal of the remaining caller ends the body', async () => {
    const { world, tab, first, second, calls, sent } = open();
    await rest();
    first.abort('first');
    expect((await world.end(tab, calls[1])).outcome).toMatchObject({ effect: 'done', joined: true });
    expect(sent()?.aborted).toBe(false);
    second.abort('second');
    expect(sent()?.reason).toBe('second');
  });

  test('a caller that came too late for a copy does not count as a reader', async () => {
    const flight = new InFlightOperation({ registry: registry() }, 'late' as OperationKey);
    const caller = { joined: false, request: undefined, onOutcome: undefined, left: LEFT };
    const controller = new AbortController();
    const response = new Response('data: 1');
    const first = flight.join({ ...caller, signal: controller.signal });
    flight.land({ outcome: LEFT, result: { value: response, response, ok: true, lasting: false, copy: () => undefined } });
    expect(await first).toBe(response);
    await expect(flight.join({ ...caller, joined: true, signal: undefined })).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    controller.abort('enough');
    expect(flight.stop).toMatchObject({ aborted: true, reason: 'enough' });
  });

  test('in an error, the body also ends with the signal of the call', async ({ world, tab, once }) => {
    const controller = new AbortController();
    const end = await world.end(tab, pay(once, { ...ONE, signal: controller.signal, verdict: () => 'transient' }), charged(stalls(200, 'text/event-stream')));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', error: { response: { status: 200 } } });
    controller.abort('enough');
    expect(world.server.arrivals[0]?.signal).toMatchObject({ aborted: true, reason: 'enough' });
  });

  test('an abort in the `onOutcome` of its reader ends the body; the outcome is told once', async ({ world, tab, once }) => {
    const controller = new AbortController();
    const told: Outcome[] = [];
    const onOutcome = (outcome: Outcome) => {
      told.push(outcome);
      controller.abort('enough');
    };
    const end = await world.end(tab, pay(once, { signal: controller.signal, onOutcome }), charged(stalls(200, 'text/event-stream')));
    expect(end).toMatchObject({ status: 200, outcome: { effect: 'done' } });
    expect(told).toMatchObject([{ effect: 'done' }]);
    expect(world.server.arrivals[0]?.signal.aborted).toBe(true);
  });

  test('a reader without a signal keeps the body open', async () => {
    const { world, tab, first, calls, sent } = open();
    const once = tab.once();
    await rest();
    const third = pay(once);
    await world.all(tab, ...calls, third);
    first.abort();
    expect(sent()?.aborted).toBe(false);
  });

  test('the outcome stays what it was after a reader has stopped', async () => {
    const { world, tab, first, calls } = open();
    await world.all(tab, ...calls);
    const reason = new Error('enough');
    first.abort(reason);
    expect(tab.outcomeOf(reason)).toBeUndefined();
    expect(tab.outcomeOf(await calls[0])).toMatchObject({ effect: 'done' });
  });
});

test('callers of a call that fails before it begins get an error each, with their own outcomes', async ({ world, tab, once }) => {
  tab.faults.rate('fail-before-commit', 1);
  tab.faults.rate('look-fails', 1);
  const [first, second] = await world.run(Promise.allSettled([pay(once), pay(once)]));
  expect(first).toMatchObject({ reason: { code: 'ERR_ONCE_STORE', outcome: { joined: false } } });
  expect(second).toMatchObject({ reason: { code: 'ERR_ONCE_STORE', outcome: { joined: true } } });
  // An app that reads the reason of the store finds it for whichever caller.
  const [cause, other] = [first, second].map((end) => (end as PromiseRejectedResult).reason.cause);
  expect(cause).toBeInstanceOf(Error);
  expect(other).toBe(cause);
});

describe('the store fails: each of three callers is told the same outcome, once', () => {
  type Told = { readonly by: number; readonly outcome: Outcome };
  /** Three callers press at once; the second one leaves when `leaves` says so. */
  async function pressed({ tab, once }: Page, leaves?: (leave: () => void) => void) {
    const told: Told[] = [];
    const leaving = new AbortController();
    const calls = [0, 1, 2].map((by) =>
      pay(once, {
        ...(by === 1 && { signal: leaving.signal }),
        onOutcome: (outcome) => void told.push({ by, outcome }),
        limits: { attempts: 2, totalMs: MINUTE },
      }),
    );
    leaves?.(() => leaving.abort(new Error('left')));
    const ends = await tab.world.run(Promise.allSettled(calls));
    await rest();
    return {
      told,
      ends: ends.map((end) => (end as PromiseRejectedResult).reason as OnceError),
      outcomes: ends.map((end) => tab.outcomeOf((end as PromiseRejectedResult).reason)),
    };
  }

  test.for<[string, attempts: number, (page: Page) => unknown]>([
    ['it can neither be read nor written', 0, ({ tab }) => (['look-fails', 'fail-before-commit'] as const).map((one) => tab.faults.rate(one, 1))],
    ['the first write hangs', 0, ({ tab }) => tab.faults.rate('hang', 1)],
    [
      'the first write is stored, but not answered, and no look is',
      0,
      ({ tab }) => {
        tab.faults.next('fail-after-commit');
        tab.faults.rate('look-fails', 1);
      },
    ],
    ['it can no longer be read after the first attempt', 1, ({ tab }) => tab.world.server.plays(during(() => tab.faults.rate('look-fails', 1), lost()))],
  ])('%s', async ([, attempts, breaks], { world }) => {
    const page = world.open();
    breaks(page);
    const { told, ends, outcomes } = await pressed(page);
    expect(ends.map((end) => [end.code, end.outcome.joined])).toEqual([false, true, true].map((joined) => ['ERR_ONCE_STORE', joined]));
    expect(new Set(ends).size).toBe(3);
    expect(ends[0]?.outcome).toMatchObject({ effect: 'unknown', attempts });
    expect(told.map(({ by }) => by).sort()).toEqual([0, 1, 2]);
    for (const { by, outcome } of told) {
      expect(outcome).toEqual({ ...told[0]?.outcome, joined: by > 0 });
      expect(outcome).toEqual(ends[by]?.outcome);
      expect(outcomes[by]).toEqual(outcome);
    }
    page.tab.faults.clear();
  });

  test('a caller that has left before hears it, too, once', async ({ world }) => {
    const page = world.open();
    page.tab.faults.rate('hang', 1);
    const { told, ends, outcomes } = await pressed(page, (leave) => void world.clock.timer(SECOND, leave));
    expect(ends.map((end) => end.code ?? end.message)).toEqual(['ERR_ONCE_STORE', 'left', 'ERR_ONCE_STORE']);
    expect(told.map(({ by }) => by).sort()).toEqual([0, 1, 2]);
    for (const { by, outcome } of told) expect(outcome).toEqual({ ...told[0]?.outcome, joined: by > 0 });
    expect(outcomes[1]).toEqual(told.find(({ by }) => by === 1)?.outcome);
    page.tab.faults.clear();
  });
});
