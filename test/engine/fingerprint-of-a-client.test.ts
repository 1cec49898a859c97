/**
 * Goal: a client whose `fingerprint` reads JSON still sends everything else that an app sends: forms, POSTs without a body,
 * DELETEs, `run`. Method: real engines on a scripted world; the test looks at what arrives, and at which calls count as the same.
 */
import { describe, expect } from 'vitest';
import { canonicalJson, type OnceOptions, run } from '../../src/entries/index.js';
import { answers, charged, honest, lost, replays, textOf } from '../support/server.js';
import { says } from '../support/texts.js';
import { NAME, newWorld, ONE, pay, resumed, test, URL_, watched } from '../support/world.js';

const form = (file = 'receipt'): FormData => {
  const made = new FormData();
  made.append('scan', new File([file], 'scan.txt'));
  return made;
};

function open() {
  const world = newWorld();
  world.server.otherwise = honest();
  const { tab, once } = world.open({ fingerprint: canonicalJson({ omit: ['at'] }), whenChanged: 'refuse' });
  const call = (init: RequestInit, input: string | Request = URL_) => world.end(tab, watched(once.fetch(input, { method: 'POST', ...init, once: NAME })));
  return { world, tab, once, call };
}

describe('a client with canonicalJson sends', () => {
  test.each<[string, () => RequestInit]>([
    ['a form', () => ({ body: form() })],
    ['URLSearchParams', () => ({ body: new URLSearchParams('a=1') })],
    ['bytes', () => ({ body: new Uint8Array([1, 2]) })],
    ['a Blob', () => ({ body: new Blob(['image'], { type: 'image/png' }) })],
    ['text', () => ({ body: 'amount: 1' })],
    ['a POST without a body', () => ({})],
    ['a POST with an empty body whose type is JSON', () => ({ body: '', headers: { 'content-type': 'application/json' } })],
    ['a DELETE', () => ({ method: 'DELETE' })],
    ['a JSON text', () => ({ body: '"paid"' })],
    ['JSON as bytes', () => ({ body: new TextEncoder().encode('{"a":1}') })],
  ])('%s', async (_, init) => {
    const { world, call } = open();
    expect(await call(init())).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('no other body of the same name, because that is another payload', async () => {
    const bodies: [RequestInit['body'], RequestInit['body']][] = [
      [form('a'), form('b')],
      ['a=1', 'a=2'],
      [undefined as never, 'a=1'],
    ];
    for (const [first, second] of bodies) {
      const { world, tab, once } = open();
      world.server.otherwise = () => Promise.reject(new TypeError('lost'));
      const send = (body: RequestInit['body']) =>
        watched(once.fetch(URL_, { method: 'POST', body: body ?? null, once: { operation: NAME, limits: { attempts: 1 } } }));
      expect((await world.end(tab, send(first))).code).toBe('ERR_ONCE_UNKNOWN');
      expect((await world.end(tab, send(second))).code).toBe('ERR_ONCE_MISMATCH');
    }
  });

  test('a run, for which only its own fingerprint counts', async ({ world }) => {
    const asked: unknown[] = [];
    const { tab, once } = world.open({ fingerprint: ({ body }) => asked.push(body) });
    expect(await world.run(tab.in(() => run(once, NAME, () => 5)))).toBe(5);
    expect(asked).toEqual([]);
    const own = ({ method }: { method: string }) => asked.push(method);
    expect(await world.run(tab.in(() => run(once, ['other'], () => 6, { fingerprint: own })))).toBe(6);
    expect(asked).toEqual(['RUN']);
  });
});

test.each([[new TextEncoder().encode('a').buffer], [new FormData()], [new Map()], [() => 'a'], [1n]])(
  'a run whose fingerprint is not JSON, %o, is refused: another payload would get the answer of the first',
  async (said) => {
    const { world, once } = newWorld().open();
    const [end] = await world.run(Promise.allSettled([run(once, NAME, () => 1, { fingerprint: () => said })]));
    expect(end).toMatchObject({ reason: new TypeError(`once: fingerprint must return JSON, got ${typeof said}`) });
  },
);

describe('JSON counts by its content', () => {
  test.each<[string, (json: string) => RequestInit]>([
    ['as text', (body) => ({ body })],
    ['as bytes', (json) => ({ body: new TextEncoder().encode(json) })],
    ['as a Blob', (json) => ({ body: new Blob([json]) })],
  ])('%s', async (_, init) => {
    const { world, call } = open();
    const ends = [await call(init('{"a":1,"b":2,"at":1}')), await call(init('{ "b": 2, "a": 1, "at": 2 }'))];
    expect(ends.map(({ status }) => status)).toEqual([201, 201]);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('in a Request, as clients such as ky hand it over', async () => {
    const { world, tab, once } = open();
    world.server.otherwise = answers(201, { id: 1 });
    const send = (body: string) => once.fetch(new Request(URL_, { method: 'POST', body }), { once: NAME });
    const ends = await Promise.all([send('{"a":1,"at":1}'), send('{"at":2,"a":1}')].map((call) => world.end(tab, watched(call))));
    expect(ends.map(({ status }) => status)).toEqual([201, 201]);
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test.each(['application/json', 'application/vnd.api+json; charset=utf-8'])(
  'a body that is labelled %s but is not JSON is a TypeError, and nothing is sent',
  async (type) => {
    const { world, call } = open();
    const { error } = await call({ body: '{"a":', headers: { 'content-type': type } });
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(says(/fingerprint.*JSON/, /fingerprint: no-json/));
    expect(world.server.arrivals).toEqual([]);
    expect(world.records).toEqual([]);
  },
);

describe('the order of fields with one name is part of the content', () => {
  const formOf = (...fields: readonly (readonly [string, string])[]): FormData => {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    return form;
  };

  test('with if-changed, a list in another order is sent; other fields may come in any order', async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed' });
    const save = (form: FormData) => world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: form, once: ['playlist', 1] })));
    world.server.plays(answers(201), answers(201));
    await save(formOf(['song', 'a'], ['song', 'b'], ['title', 't']));
    await save(formOf(['title', 't'], ['song', 'a'], ['song', 'b']));
    expect(world.server.arrivals).toHaveLength(1);
    expect((await save(formOf(['song', 'b'], ['song', 'a'], ['title', 't']))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.arrivals).toHaveLength(2);
  });
});

test.for(['press', 'resume'] as const)(
  'a %s after a reload sends the corrected form that was sent last, and not the first one with the same fingerprint, which was refused',
  async (how, { world }) => {
    const fingerprint = ({ body }: { body: unknown }) => (body as { cart: string }).cart;
    const options = { namespace: 'ann', keep: { request: true }, fingerprint, ...ONE } as OnceOptions;
    const bodyOf = (at: number) => ({ body: { cart: 'c1', at } });
    const { tab, once } = world.open(options, { resends: true });
    await world.end(tab, pay(once, bodyOf(1)), answers(401));
    await world.end(tab, pay(once, bodyOf(2)), charged(lost()));
    const next = tab.reload();
    const again = next.once(options);
    world.server.plays(replays());
    if (how === 'press') await world.end(next, pay(again, bodyOf(3)));
    else await world.run(resumed(again));
    expect((await Promise.all(world.server.arrivals.map(textOf))).map((body) => JSON.parse(body).at)).toEqual([1, 2, 2]);
  },
);
