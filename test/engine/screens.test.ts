/** Goal: handles, `watch` and events tell a screen what happens, and only about the user who is logged in. Method: people log in and out. */
import { clear, createOnce, forget, move, namespace as namespaceOf, operation, pending, refresh, requests, settle, subscribe, watch } from 'oncefetch';
import { expect, test, vi } from 'vitest';
import { memoryStore, type Once, type OnceEvent } from '../../src/entries/index.js';
import { says } from '../support/texts.js';

const CUT = () => Promise.reject(new TypeError('cut'));
const soon = () => new Promise((go) => setTimeout(go, 5));
const post = { method: 'POST', body: '{}' };
const REALM = Symbol.for('oncefetch');
const URL_ = 'https://shop.example/pay';

function scene(options: object = {}) {
  const at: { person: string | undefined } = { person: 'ann' };
  const namespace = (): string => {
    if (!at.person) throw new Error('nobody is logged in');
    return at.person;
  };
  const once = createOnce({ store: memoryStore(), namespace, limits: { attempts: 1 }, fetch: CUT, ...options });
  const lose = (name: string): Promise<unknown> => once.fetch(URL_, { ...post, once: { operation: [name], meta: { total: 42 } } }).catch(() => {});
  return { at, once, lose };
}

test('a handle that was made before a log-in follows the user who logs in, and calls its listener', async () => {
  const { at, once, lose } = scene();
  await lose('a');
  const handle = operation(once, ['a']);
  const seen: string[] = [];
  const off = handle.subscribe(() => seen.push(`${at.person} ${handle.state.phase}`));
  await soon();
  expect(handle.state.phase).toBe('unsettled');
  at.person = 'bert';
  expect(handle.state.phase, 'at once').toBe('loading');
  refresh(once);
  await soon();
  expect(handle.state.phase).toBe('idle');
  at.person = undefined;
  refresh(once);
  await soon();
  expect(handle.state.phase).toBe('loading');
  at.person = 'ann';
  refresh(once);
  await soon();
  expect(seen).not.toContain('bert unsettled');
  expect(seen.at(-1)).toBe('ann unsettled');
  off();
  const before = seen.length;
  at.person = 'bert';
  refresh(once);
  await soon();
  expect(seen).toHaveLength(before);
});

test('the first screen of a page shows what calls did before it came', async () => {
  const realm = globalThis as { [REALM]?: unknown };
  delete realm[REALM];
  const answers: Record<string, () => Promise<Response>> = {
    refused: async () => Response.json({ code: 'card_declined' }, { status: 402 }),
    lost: CUT,
    slow: () => new Promise(() => {}),
  };
  const { once } = scene({ fetch: (_: string, { body }: RequestInit) => answers[String(body)]?.() });
  const call = (body: string) => once.fetch(URL_, { method: 'POST', body, once: [body] }).catch(() => {});
  await Promise.all([call('refused'), call('lost')]);
  void call('slow');
  await soon();
  const [refused, lost, slow] = ['refused', 'lost', 'slow'].map((name) => operation(once, [name]));
  expect(refused?.state, 'of a refusal nothing is stored that a screen would show').toMatchObject({
    phase: 'settled',
    outcome: { type: 'rejected', attempts: 1 },
  });
  expect(slow?.state.phase).toBe('sending');
  expect(lost?.state).toMatchObject({ phase: 'unsettled', pending: { name: ['lost'], meta: undefined } });
  expect(lost?.state, 'the same object until it changes').toBe(lost?.state);
});

test('the first screen of a page shows what is being sent, however much has ended since that began', async () => {
  const realm = globalThis as { [REALM]?: unknown };
  delete realm[REALM];
  const { once } = scene({ fetch: (_: string, { body }: RequestInit) => (body === 'slow' ? new Promise(() => {}) : Promise.resolve(Response.json({}))) });
  const call = (body: string) => once.fetch(URL_, { method: 'POST', body, once: [body] });
  void call('slow').catch(() => {});
  for (let n = 0; n < 40; n++) await call(`other ${n}`);
  expect(operation(once, ['slow']).state).toMatchObject({ phase: 'sending', attempt: 1 });
});

test('after a log-out, nothing is left of a request that was open before the first screen, also if the store has lost its record', async () => {
  const realm = globalThis as { [REALM]?: { states: Map<unknown, unknown> } };
  delete realm[REALM];
  const store = memoryStore();
  const { once } = scene({ store, fetch: CUT, use: [requests()], keep: { request: true } });
  await once.fetch(URL_, { method: 'POST', body: 'secret', once: { operation: ['lost'], meta: 'secret' } }).catch(() => {});
  expect(JSON.stringify([...(realm[REALM]?.states ?? [])])).toContain('secret');
  const [id] = (await store.scan({ before: Infinity, limit: 1 })).records.map((record) => (record as { id: string }).id);
  await store.update(String(id), () => ({ next: null, value: undefined }));
  await clear(once);
  expect(JSON.stringify([...(realm[REALM]?.states ?? [])])).not.toContain('secret');
});

test('a handle whose store could not be read at first hears of later changes', async () => {
  const store = memoryStore();
  let broken = true;
  const { once } = scene({ store: { ...store, read: (id: string) => (broken ? Promise.reject(new Error('unreadable')) : store.read(id)) } });
  const handle = operation(once, ['b']);
  const heard = vi.fn();
  handle.subscribe(heard);
  await soon();
  expect(handle.state.phase).toBe('loading');
  broken = false;
  await settle(once, handle.name, 'done');
  expect(heard).toHaveBeenCalled();
  expect(handle.state.phase).toBe('settled');
});

test('watch calls back when an operation begins, ends, is settled, forgotten, moved or cleared, and when the user changes, until it is off', async () => {
  const { at, once, lose } = scene();
  const heard = vi.fn();
  const off = watch(once, heard);
  const hears = async (work: () => unknown): Promise<void> => {
    heard.mockClear();
    await work();
    await soon();
    expect(heard).toHaveBeenCalled();
  };
  await hears(() => lose('c'));
  await hears(() => settle(once, ['c'], 'done'));
  await hears(() => forget(once, ['c'], { evenIfUnknown: true }));
  await hears(() => clear(once));
  await hears(() => {
    at.person = 'bert';
    namespaceOf(once);
  });
  await hears(() => move(once, 'ann'));
  await hears(() => refresh(once));
  off();
  heard.mockClear();
  refresh(once);
  await soon();
  expect(heard).not.toHaveBeenCalled();
  expect(() => watch(once, 'no' as never)).toThrow(TypeError);
});

test('a watcher that throws is reported, and keeps no other watcher from hearing', async () => {
  const { once } = scene();
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
  const offs = [
    watch(once, () => {
      throw new Error('a screen');
    }),
  ];
  const heard = vi.fn();
  offs.push(watch(once, heard));
  refresh(once);
  await soon();
  expect(heard).toHaveBeenCalled();
  expect(reported).toHaveBeenCalled();
  for (const off of offs) off();
  reported.mockRestore();
});

test('namespace() is the present user; undefined before a log-in, and empty if the client has no namespace', () => {
  const { at, once } = scene();
  expect(namespaceOf(once)).toBe('ann');
  at.person = undefined;
  expect(namespaceOf(once)).toBe(undefined);
  expect(namespaceOf(createOnce({ store: memoryStore() }))).toBe('');
  expect(namespaceOf(createOnce({ store: memoryStore(), namespace: () => '' }))).toBe(undefined);
});

test.each<[string, () => string]>([
  [
    'throws',
    () => {
      throw new Error('nobody is logged in');
    },
  ],
  ['is empty', () => ''],
  ['is undefined', () => undefined as unknown as string],
  ['is null', () => null as unknown as string],
])('pending is empty before a log-in, whatever is stored: namespace %s', async (_, nobody) => {
  const store = memoryStore();
  const { at, once, lose } = scene({ store, namespace: () => at.person ?? nobody() });
  await lose('a');
  // An operation of a client without the option belongs to no user, and is not listed either.
  await createOnce({ store, limits: { attempts: 1 }, fetch: CUT })
    .fetch(URL_, { ...post, once: ['b'] })
    .catch(() => {});
  const looks = vi.spyOn(store, 'scan');
  at.person = undefined;
  expect(await pending(once)).toEqual([]);
  expect(await pending(once, { prefix: ['a'] })).toEqual([]);
  expect(looks).not.toHaveBeenCalled();
  at.person = 'ann';
  expect(await pending(once)).toMatchObject([{ name: ['a'] }]);
});

test('pending is empty if the user logs out while it reads the store', async () => {
  const store = memoryStore();
  const { at, once, lose } = scene({ store, namespace: () => at.person ?? '' });
  await lose('a');
  const list = pending(once);
  at.person = undefined;
  expect(await list).toEqual([]);
});

test('an event of an operation whose user has logged out says that it is foreign', async () => {
  const events: OnceEvent[] = [];
  let answer: (response: Response) => void = () => {};
  const { at, once } = scene({ fetch: () => new Promise<Response>((go) => void (answer = go)) });
  subscribe(once, (event) => void events.push(event));
  const paying = once.fetch(URL_, { ...post, once: ['d'] });
  while (!events.length) await soon();
  at.person = 'bert';
  answer(new Response('{}', { status: 201 }));
  await paying;
  expect(events.map(({ type, foreign }) => [type, foreign])).toEqual([
    ['attempt', false],
    ['settled', true],
  ]);
});

test('pending says whether a call is driving the operation', async () => {
  let cut: (error: Error) => void = () => {};
  const { once, lose } = scene({ fetch: () => new Promise((_, fail) => void (cut = fail)) });
  const losing = lose('e');
  while ((await pending(once)).length === 0) await soon();
  expect(await pending(once)).toMatchObject([{ inFlight: true, meta: { total: 42 } }]);
  await soon();
  cut(new TypeError('cut'));
  await losing;
  expect(await pending(once)).toMatchObject([{ inFlight: false }]);
});

test('an operation that another process holds by a lease is in flight, until the lease is released', async () => {
  const medium = memoryStore();
  const store = { ...medium, shared: 'machine' as const, survives: 'process' as const };
  let cut: (error: Error) => void = () => {};
  const { once, lose } = scene({ store, fetch: () => new Promise((_, fail) => void (cut = fail)) });
  const losing = lose('f');
  while ((await pending(once)).length === 0) await soon();
  // Another process has its own table of operations.
  const here = globalThis as unknown as Record<symbol, unknown>;
  const tables = here[Symbol.for('oncefetch')];
  delete here[Symbol.for('oncefetch')];
  const other = scene({ store }).once;
  here[Symbol.for('oncefetch')] = tables;
  expect(await pending(other)).toMatchObject([{ inFlight: true }]);
  const screen = operation(other, ['f']);
  screen.subscribe(() => {});
  await soon();
  expect(screen.state, 'nobody would tell it that the other process died').toMatchObject({ phase: 'unsettled', pending: { inFlight: false } });
  cut(new TypeError('cut'));
  await losing;
  expect(await pending(other)).toMatchObject([{ inFlight: false }]);
});

test('a handle takes the options of an operation, and refuses another name', async () => {
  const { once } = scene();
  const handle = operation(once, ['g']);
  await handle.fetch(URL_, { ...post, once: { meta: { total: 42 }, repeat: 'always' } }).catch(() => {});
  expect(await pending(once)).toMatchObject([{ name: ['g'], meta: { total: 42 } }]);
  for (const other of [['h'], { operation: ['h'] }])
    await expect(handle.fetch(URL_, { ...post, once: other as never })).rejects.toThrow(
      says('once: this operation has a name already; leave once.operation out', 'once: this operation: name-given'),
    );
});

test('an operation that is moved at a log-in reaches a screen that followed the new user before the move', async () => {
  const { at, once, lose } = scene();
  at.person = 'guest';
  await lose('i');
  const handle = operation(once, ['i']);
  handle.subscribe(() => {});
  at.person = 'ann';
  refresh(once);
  await soon();
  expect(handle.state.phase).toBe('idle');
  await move(once, 'guest');
  expect(handle.state).toMatchObject({ phase: 'unsettled', pending: { meta: { total: 42 } } });
  at.person = 'guest';
  expect(handle.state.phase).toBe('idle');
});

test('a screen that mounts reads the operation again if no screen has followed it meanwhile', async () => {
  const store = memoryStore();
  const { once } = scene({ store });
  const handle = operation(once, ['j']);
  expect(handle.state.phase).toBe('loading');
  await soon();
  expect(handle.state.phase).toBe('idle');
  // Another tab has its own tables.
  const here = globalThis as unknown as Record<symbol, unknown>;
  const tables = here[Symbol.for('oncefetch')];
  delete here[Symbol.for('oncefetch')];
  await settle(scene({ store }).once, ['j'], 'done');
  here[Symbol.for('oncefetch')] = tables;
  handle.subscribe(() => {});
  await soon();
  expect(handle.state.phase).toBe('settled');
});

test.each([
  ['settle', 'settled', (once: Once) => settle(once, ['c'], 'done')],
  ['forget', 'idle', (once: Once) => forget(once, ['c'], { evenIfUnknown: true })],
] as const)('%s resolves and is shown once it is stored, even if the store can no longer be read', async (_, phase, change) => {
  const store = memoryStore();
  let broken = false;
  const { once, lose } = scene({ store: { ...store, read: (id: string) => (broken ? Promise.reject(new Error('unreadable')) : store.read(id)) } });
  await lose('c');
  const handle = operation(once, ['c']);
  const off = handle.subscribe(() => {});
  await soon();
  broken = true;
  await change(once);
  expect(handle.state.phase).toBe(phase);
  off();
});

test('a refusal stays on the screen that saw it until the next call, and goes with a log-out', async () => {
  let status = 422;
  const { once } = scene({ fetch: async () => new Response('{}', { status }) });
  const handle = operation(once, ['r']);
  handle.subscribe(() => {});
  const none = { phase: 'settled', outcome: { effect: 'none' } };
  const again = async () => {
    refresh(once);
    await soon();
    return handle.state;
  };
  await handle.fetch(URL_, post);
  expect(handle.state).toMatchObject(none);
  expect(await again()).toMatchObject(none);
  status = 201;
  await handle.fetch(URL_, post);
  expect(await again()).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  const other = operation(once, ['other']);
  status = 422;
  await other.fetch(URL_, post);
  expect(other.state).toMatchObject(none);
  await clear(once);
  expect(other.state).toEqual({ phase: 'idle' });
});

test('an operation that this page can send again is shown as resumable, in the list and on its screen, however often the screen reads', async () => {
  const { once, lose } = scene();
  const handle = operation(once, ['k']);
  handle.subscribe(() => {});
  await lose('k');
  const same = { phase: 'unsettled', pending: { resumable: true } };
  expect(handle.state).toMatchObject(same);
  refresh(once);
  await soon();
  expect(await pending(once)).toMatchObject([{ resumable: true }]);
  expect(handle.state).toMatchObject(same);
  await clear(once);
  refresh(once);
  await soon();
  expect(handle.state).toMatchObject({ phase: 'unsettled', pending: { resumable: false } });
});

test('an operation that was settled by hand as none is shown as that', async () => {
  const { once, lose } = scene();
  const handle = operation(once, ['h']);
  handle.subscribe(() => {});
  await lose('h');
  await settle(once, ['h'], 'none');
  refresh(once);
  await soon();
  expect(handle.state).toMatchObject({ phase: 'settled', outcome: { effect: 'none' } });
  await forget(once, ['h']).catch(() => {});
  await lose('h');
  refresh(once);
  await soon();
  expect(handle.state.phase).toBe('unsettled');
});
