/**
 * Goal: screens and logs are told what is stored, what memory holds is bounded, and no listener can change a payment. Method: records, states and listeners by
 * themselves, without a call around them.
 */

import { describe, expect, test, vi } from 'vitest';
import type { Label, OperationKey } from '../../src/core/ids.js';
import type { OnceRecord } from '../../src/core/record.js';
import { keyedOperationOf } from '../../src/engine/address.js';
import type { Client, Registry } from '../../src/engine/client.js';
import { endOf, withFacts } from '../../src/engine/failure.js';
import type { Listener } from '../../src/engine/happened.js';
import { openLog } from '../../src/engine/log.js';
import { emit, guarded, nameOrNone, publish, readAnew } from '../../src/engine/observe.js';
import { shownState } from '../../src/engine/screens.js';
import type { OperationState } from '../../src/engine/shown-state.js';
import { pendingOf, stateOf } from '../../src/engine/state-of-record.js';
import { requests } from '../../src/features/requests.js';
import { made } from '../support/made.js';
import { aRecord, NOW } from '../support/record.js';
import { rest } from '../support/world.js';

const PLACE = { name: ['pay', 1], label: made<Label>('["pay",1]') } as const;
const KEY = made<OperationKey>('operation');
const record = (more: Partial<OnceRecord> = {}): OnceRecord => aRecord({ label: PLACE.label, forgetAt: NOW + 5, ...more });

function scene(channel?: { hasSubscribers: boolean; publish(event: unknown): void }) {
  const reported: unknown[] = [];
  const states = new Map();
  const payloads = new Map();
  const flights = new Map();
  const store = { shared: 'origin', survives: 'process' };
  const client = {
    platform: { clock: { now: () => NOW }, channel, report: (error: unknown) => void reported.push(error) },
    registry: { states, flights, screens: new Set(), payloads, degraded: new Map(), lastKnown: new Map() } as unknown as Registry,
    store,
    settings: { dialect: { name: aRecord().dialect } },
    parts: {},
    listeners: new Set<Listener>(),
    log: {},
  } as unknown as Client;
  openLog(client);
  return { client, reported, states, payloads, flights };
}

describe('a stored record', () => {
  test('as pending: what is known of it', () => {
    const { client, payloads } = scene();
    expect(pendingOf(client, KEY, record())).toEqual({
      name: ['pay', 1],
      key: 'k',
      createdAt: NOW,
      firstSentAt: undefined,
      sent: 'maybe',
      expiresAt: NOW + 5,
      retryAt: undefined,
      resumable: false,
      inFlight: false,
      meta: undefined,
      cursor: '["[\\"pay\\",1]","id"]',
    });
    const request = { method: 'POST', url: '/', headers: [], body: 'x' };
    const more = { ambiguous: false, windowEndsAt: NOW + 9, firstSentAt: NOW + 1, retryAt: NOW + 2, meta: { a: 1 }, request };
    const clean = { sent: 'no', expiresAt: NOW + 9, firstSentAt: NOW + 1, retryAt: NOW + 2, meta: { a: 1 } };
    // Without the feature `requests`, a stored request cannot be sent.
    expect(pendingOf(client, KEY, record(more))).toMatchObject({ ...clean, resumable: false });
    expect(pendingOf({ ...client, parts: requests().parts }, KEY, record(more))).toMatchObject({ ...clean, resumable: true });
    payloads.set(keyedOperationOf(KEY, made('k')), new Map());
    expect(pendingOf(client, KEY, record()).resumable).toBe(true);
  });

  test('as an outcome: about the operation, not about this call', () => {
    const ending = { type: 'rejected', effect: 'none', replayed: false } as const;
    const facts = { key: 'k', attempts: 0, joined: false, storedIn: 'disk', ...ending };
    const { client } = scene();
    const payment = { client, operationKey: KEY, name: PLACE.name };
    expect(withFacts(payment, endOf(record(), ending, true))).toEqual({ ...facts, operation: ['pay', 1], firstSentAt: undefined, sent: 'no', resumed: true });
    expect(withFacts({ ...payment, name: [] }, endOf(record({ firstSentAt: NOW }), ending, false))).toEqual({
      ...facts,
      operation: undefined,
      firstSentAt: NOW,
      sent: 'yes',
      resumed: false,
    });
  });

  test('on a screen: unsettled, settled, or nothing to show', () => {
    const ending = { type: 'replayed', effect: 'done', from: 'server' } as const;
    const { client } = scene();
    expect(stateOf(client, KEY, record())).toMatchObject({ phase: 'unsettled', pending: { key: 'k' } });
    expect(stateOf(client, KEY, record({ state: 'settled', ending }))).toMatchObject({
      phase: 'settled',
      outcome: { ...ending, resumed: false, storedIn: 'disk' },
    });
    for (const nothing of [undefined, 'damaged', record({ state: 'settled' }), record({ state: 'retired', ending })])
      expect(stateOf(client, KEY, nothing)).toEqual({ phase: 'idle' });
  });

  test('has no name if the operation has none', () => expect([nameOrNone([]), nameOrNone(['a'])]).toEqual([undefined, ['a']]));
});

describe('states', () => {
  const SENDING: OperationState = { phase: 'sending', attempt: 1, maxAttempts: 5 };
  const WAITING: OperationState = { phase: 'waiting', attempt: 1, until: NOW, why: 'backoff' };
  const SETTLED = { phase: 'settled' } as OperationState;
  const UNSETTLED = { phase: 'unsettled' } as OperationState;

  test('begin with loading, and are one object for one operation', () => {
    const { client } = scene();
    const state = shownState(client, made('a'));
    expect(state.state).toEqual({ phase: 'loading' });
    expect(shownState(client, made('a'))).toBe(state);
    const heard = vi.fn();
    state.listeners.add(heard);
    publish(client, made('a'), SENDING);
    expect(shownState(client, made('a')).state).toBe(SENDING);
    expect(heard).toHaveBeenCalledOnce();
  });

  test.each([
    [SENDING, 'loading'],
    [WAITING, 'loading'],
    [SETTLED, 'settled'],
    [UNSETTLED, 'unsettled'],
    [{ phase: 'idle' }, 'idle'],
  ] as const)('%j becomes %s when no call is under way any more', (state, phase) => {
    const { client } = scene();
    publish(client, made('a'), state);
    readAnew(client, made('a'));
    expect(shownState(client, made('a')).state.phase).toBe(phase);
  });

  test('are made of records when the first screen looks, with the client of that screen', () => {
    const { client } = scene();
    const request = { method: 'POST', url: '/', headers: [], body: 'x' };
    readAnew(client, made('a'), record({ request, meta: { a: 1 } }));
    const { state } = shownState({ ...client, parts: requests().parts }, made('a'));
    expect(state).toMatchObject({ phase: 'unsettled', pending: { key: 'k', resumable: true, meta: { a: 1 } } });
    expect(shownState(client, made('a')).state).toBe(state);
  });

  test('are kept of the last 32 operations only, before there is a screen: what calls left open may have large requests', () => {
    const { client, states } = scene();
    for (let slot = 0; slot < 100; slot++) readAnew(client, made(`${slot}`), record());
    expect([...states.keys()]).toEqual(Array.from({ length: 32 }, (_, n) => `${68 + n}`));
  });

  test('are not made for operations that nobody has asked about', () => {
    const { client, states } = scene();
    readAnew(client, made('a'));
    expect(states.size).toBe(0);
  });

  test('are bounded: the oldest one that no screen watches and no call drives is dropped', () => {
    const { client, states, flights } = scene();
    for (const [slot, state] of [['sending', SENDING] as const, ['waiting', WAITING] as const]) {
      flights.set(slot, {});
      publish(client, made(slot), state);
    }
    shownState(client, made('looked at')).listeners.add(() => {});
    publish(client, made('unsettled'), UNSETTLED);
    for (let slot = 4; slot < 500; slot++) publish(client, made(`settled ${slot}`), SETTLED);
    expect(states.size).toBe(500);
    publish(client, made('new'), SETTLED);
    // Each time, the 32 oldest ones are examined. Three of them stay.
    expect([...states.keys()].slice(0, 2)).toEqual(['settled 32', 'settled 33']);
    expect([...states.keys()].slice(-4)).toEqual(['sending', 'waiting', 'looked at', 'new']);
  });

  test.each([false, true])('are bounded even with 30,000 operations that are all unsettled, with a screen: %s', (hasScreen) => {
    const { client, states } = scene();
    if (hasScreen) shownState(client, made('looked at'));
    for (let slot = 0; slot < 30_000; slot++) publish(client, made(`unsettled ${slot}`), UNSETTLED);
    expect(states.size).toBeLessThanOrEqual(500);
  });

  test('are bounded even if all of them are idle or loading', () => {
    const { client, states } = scene();
    for (let slot = 0; slot < 250; slot++) shownState(client, made(`loading ${slot}`));
    for (let slot = 0; slot < 260; slot++) publish(client, made(`idle ${slot}`), { phase: 'idle' });
    expect(states.size).toBeLessThanOrEqual(500);
    for (let slot = 0; slot < 260; slot++) publish(client, made(`more ${slot}`), { phase: 'idle' });
    expect(states.size).toBeLessThanOrEqual(500);
    expect([...states.keys()].some((slot) => slot.startsWith('loading'))).toBe(false);
  });
});

describe('events', () => {
  const DETAIL = { type: 'attempt', attempt: 1 } as const;
  const EVENT = { operation: ['pay', 1], key: 'k', at: NOW, foreign: false, ...DETAIL };

  test('go to listeners of this name and of all names', () => {
    const { client } = scene();
    const heard = [vi.fn(), vi.fn(), vi.fn()] as const;
    client.listeners.add({ hears: heard[0], begins: undefined });
    client.listeners.add({ hears: heard[1], begins: (label) => label === PLACE.label });
    client.listeners.add({ hears: heard[2], begins: () => false });
    emit({ ...PLACE, client }, 'k', DETAIL);
    expect(heard.map(({ mock }) => mock.calls)).toEqual([[[EVENT]], [[EVENT]], []]);
    expect(client.log.callOf?.get(heard[0].mock.lastCall?.[0])).toMatchObject(PLACE);
    emit({ ...PLACE, client }, 'k', { type: 'diagnostic', code: 'store-write', cause: 'full' });
    const message = 'its end could not be stored: full';
    expect(heard[0]).toHaveBeenLastCalledWith({ ...EVENT, attempt: undefined, type: 'diagnostic', code: 'store-write', message });
  });

  test.each([
    [true, 1],
    [false, 0],
  ])('go to the channel of the platform while it has subscribers: %s', (hasSubscribers, times) => {
    const publishes = vi.fn();
    const { client } = scene({ hasSubscribers, publish: publishes });
    emit({ ...PLACE, client }, 'k', DETAIL);
    client.listeners.add({ hears: () => {}, begins: undefined });
    emit({ ...PLACE, client }, 'k', DETAIL);
    expect(publishes).toHaveBeenCalledTimes(2 * times);
    if (times) expect(publishes).toHaveBeenCalledWith(EVENT);
  });

  test('a listener that unsubscribes another one, or fails, keeps no listener from hearing', async () => {
    const { client, reported } = scene();
    const heard = vi.fn();
    const last: Listener = { hears: heard, begins: undefined };
    const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
    client.listeners.add({
      hears: () => {
        client.listeners.delete(last);
        throw thrown;
      },
      begins: undefined,
    });
    client.listeners.add({ hears: (() => Promise.reject(rejected)) as never, begins: undefined });
    client.listeners.add(last);
    emit({ ...PLACE, client }, 'k', DETAIL);
    await rest();
    expect(heard).toHaveBeenCalledOnce();
    expect(reported).toEqual([thrown, rejected]);
  });

  test('a guarded function that does not fail is not reported', async () => {
    const { client, reported } = scene();
    guarded(client, () => 5);
    guarded(client, async () => 5);
    await rest();
    expect(reported).toEqual([]);
  });
});
