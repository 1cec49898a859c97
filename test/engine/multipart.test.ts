/**
 * Goal: a form goes out with the same bytes whenever it is made again, even where the platform can't read it, as WebKit can't read a form with files. Method:
 * the encoding of a form is compared byte for byte with that of Node's own encoder; a page with a form is reloaded.
 */
import { afterEach, describe, expect, vi } from 'vitest';
import { multipart } from '../../src/http/multipart.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { says } from '../support/texts.js';
import { newWorld, test, URL_, watched } from '../support/world.js';

/** A form whose names, values and file names have everything that may need quoting. */
function awkward(): FormData {
  const form = new FormData();
  for (const text of ['', 'plain', 'Grüße 🎁', 'a "quoted" one', 'one\rtwo\ntwo\r\nthree\n\rfour', 'half \ud83c', '100 %0A']) {
    form.append(`name ${text}`, `value ${text}`);
    form.append(`file ${text}`, new File([Uint8Array.from({ length: 256 }, (_, n) => n)], `${text}.bin`));
    form.append('same', new File(['x'], `${text}.txt`, { type: 'text/plain;charset=utf-8' }));
  }
  form.append('blob', new Blob(['{}'], { type: 'application/json' }));
  return form;
}

const fieldsOf = (form: FormData) =>
  Promise.all([...form].map(async ([name, value]) => (typeof value === 'string' ? [name, value] : [name, value.name, value.type, await value.text()])));

/** Makes the reading of forms fail as in WebKit; other bodies are still read. */
function unreadable() {
  const { arrayBuffer } = Response.prototype;
  vi.spyOn(Response.prototype, 'arrayBuffer').mockImplementation(function (this: Response) {
    const form = /^multipart/.test(this.headers.get('content-type') ?? '');
    return form ? Promise.reject(new DOMException('Unable to read form data blob', 'InvalidStateError')) : arrayBuffer.call(this);
  });
}
afterEach(() => void vi.restoreAllMocks());

test("a form has the same bytes as the platform's encoder makes", async () => {
  const form = awkward();
  const native = new Response(form);
  const boundary = /boundary=(.*)/.exec(native.headers.get('content-type') ?? '')?.[1] ?? '';
  const ours = Buffer.from(await multipart(form, boundary));
  expect(ours.toString('latin1')).toBe(Buffer.from(await native.arrayBuffer()).toString('latin1'));
});

test('a file of another implementation, such as that of node-fetch, goes out with its content', async () => {
  const file = { name: 'a.txt', type: 'text/plain', arrayBuffer: async () => new TextEncoder().encode('content').buffer };
  expect(Buffer.from(await multipart([['file', file as File]], 'x')).toString()).toContain('\r\n\r\ncontent\r\n');
});

describe('the same form, made again', () => {
  const made: readonly (readonly [string, () => [string | Request, RequestInit]])[] = [
    ['as a FormData', () => [URL_, { method: 'POST', body: awkward() }]],
    ['as a Request', () => [new Request(URL_, { method: 'POST', body: awkward() }), {}]],
  ];
  test.for(made)('%s, has the same bytes and type after a reload', async ([_, call], { world }) => {
    const before = world.open();
    world.server.plays(charged(lost()), replays());
    await world.end(before.tab, watched(before.once.fetch(call()[0], { ...call()[1], once: { operation: ['upload', 1], limits: { attempts: 1 } } })));
    before.tab.kill();
    const after = world.open();
    const end = await world.end(after.tab, watched(after.once.fetch(call()[0], { ...call()[1], once: ['upload', 1] })));
    expect(end.outcome).toMatchObject({ type: 'replayed', resumed: true });
    const [one, two] = world.server.arrivals;
    expect(two?.headers.get('content-type')).toBe(one?.headers.get('content-type'));
    expect(Buffer.from(two?.body as Uint8Array).equals(Buffer.from(one?.body as Uint8Array))).toBe(true);
    const read = await new Response(two?.body as Uint8Array<ArrayBuffer>, { headers: two?.headers as Headers }).formData();
    expect(await fieldsOf(read)).toEqual(await fieldsOf(await new Response(awkward()).formData()));
  });

  test('with other content has another boundary, so that the writer of one field cannot foresee it', async ({ world, tab, once }) => {
    world.server.otherwise = answers(201);
    for (const text of ['a', 'b']) {
      const form = new FormData();
      form.set('note', text);
      await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: form, once: ['upload', text] })));
    }
    expect(new Set(world.server.arrivals.map(({ headers }) => headers.get('content-type'))).size).toBe(2);
  });
});

describe('where the platform cannot read its own form', () => {
  test('the form still goes out, with the same bytes on every attempt, and a server can parse it', async () => {
    unreadable();
    const { world, tab, once } = newWorld().open();
    world.server.plays(charged(lost()), replays());
    const call = watched(once.fetch(URL_, { method: 'POST', body: awkward(), once: ['upload', 1] }));
    expect((await world.end(tab, call)).outcome).toMatchObject({ type: 'replayed', attempts: 2 });
    const [one, two] = world.server.arrivals;
    expect(Buffer.from(one?.body as Uint8Array).equals(Buffer.from(two?.body as Uint8Array))).toBe(true);
    const read = await new Response(one?.body as Uint8Array<ArrayBuffer>, { headers: one?.headers as Headers }).formData();
    const plain = await new Response(awkward()).formData();
    expect([...read.keys()]).toEqual([...plain.keys()]);
  });

  test('a form that changed is another payload', async () => {
    unreadable();
    const { world, tab, once } = newWorld().open();
    world.server.plays(answers(201));
    const other = awkward();
    other.append('more', '1');
    const send = (body: FormData) => watched(once.fetch(URL_, { method: 'POST', body, once: ['upload', 1] }));
    await world.end(tab, send(awkward()));
    expect(await world.end(tab, send(awkward()))).toMatchObject({ outcome: { type: 'replayed' } });
    expect(await world.end(tab, send(other))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  });

  test('the error for a Request made from a form says to pass the FormData instead', async () => {
    vi.spyOn(Request.prototype, 'arrayBuffer').mockRejectedValue(new DOMException('Unable to read form data blob', 'InvalidStateError'));
    const { world, tab, once } = newWorld().open();
    const end = await world.end(tab, watched(once.fetch(new Request(URL_, { method: 'POST', body: awkward() }), { once: ['upload', 1] })));
    expect(end).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'none' } });
    expect(String(end.error)).toContain(says('pass the FormData itself', 'form-unread'));
    const plain = await world.end(tab, watched(once.fetch(new Request(URL_, { method: 'POST', body: 'x' }), { once: ['upload', 1] })));
    expect(String(plain.error)).not.toContain(says('FormData', 'form-unread'));
  });
});
