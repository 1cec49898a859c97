/**
 * Goal: the panel shows the truth about each operation, even among a thousand, does what its buttons say, and leaves
 * nothing behind. Method: a real page, real requests to a real server that loses answers, and the panel used through
 * its buttons and boxes.
 */
import { describe, expect, test } from 'vitest';
import { clear, createOnce, memoryStore, type Once, pending, requests, run } from '../../../src/entries/index.js';
import type { Shop } from '../support/shop.js';
import { order, panelOf, watched } from './support.js';

test('the panel shows a payment whose answer was lost: each attempt, its reading, and the end', async () => {
  const { shop, once, eyes } = watched();
  await eyes.until('Nothing yet.');
  await shop.meets('lose-response');
  expect((await once.fetch(shop.url, order('pay', 1))).status).toBe(201);
  await eyes.until('pay / 1done');
  await eyes.until('Read as replayed');
  expect(eyes.rows).toEqual(['pay / 1: done']);
  expect(eyes.detail).toMatch(
    /Attempt 1: a network error after .* Read as no answer: The server may have got it and done it, or not\. docs\/verdicts\.md#any-server-generic/,
  );
  expect(eyes.detail).toMatch(/Then it waits before it tries again: .*Attempt 2: 201, marked as a replay after/);
  expect(eyes.detail).toContain('done. It took effect earlier. The server said so');
  expect(eyes.detail).toContain('docs/outcomes.md#what-the-words-rest-on');
  expect(eyes.detail).toContain('The next call with this name sends nothing and says that it is done');
  await shop.oneEffect();
});

/** A payment with an unknown outcome: its only answer is lost. */
async function lose(shop: Shop, once: Once, ...name: string[]): Promise<void> {
  await shop.meets('lose-response');
  await once.fetch(shop.url, { ...order(), once: { operation: name, limits: { attempts: 1 } } }).catch(() => {});
}

describe('an unsettled operation', () => {
  test('shows what is known, what comes next, and what each button does', async () => {
    const { shop, once, eyes } = watched();
    await lose(shop, once, 'pay', 'a');
    await eyes.until('pay / aunsettled');
    expect(eyes.detail).toContain('Nothing happens by itself. The next call with this name, or a resume, goes on with the same key.');
    expect(eyes.detail).toMatch(/The server remembers the key until .*: somebody must find out and settle it: there is no reconcile\./);
    expect(eyes.detail).toContain('unknown. It may have taken effect: no attempt was answered within the limits and the retry budget.');
    expect(eyes.detail).toContain('May have had its effectyes');
    const [stored] = await pending(once);
    expect(eyes.detail).toContain(`Key${stored?.key}, random`);
    expect(eyes.button('Resume').disabled).toBe(false);
    expect(eyes.detail).toContain('Sends its request again, under the same key. The server does the work at most once.');
  });

  test('resumes by its button, with one effect', async () => {
    const { shop, once, eyes } = watched();
    await lose(shop, once, 'pay', 'a');
    await eyes.until('pay / aunsettled');
    eyes.button('Resume').click();
    await eyes.until('Resumed: done.');
    await eyes.until('pay / adone');
    await shop.oneEffect();
  });

  test('settles as done at once, and as none only after a second click', async () => {
    const { shop, once, eyes } = watched();
    await lose(shop, once, 'pay', 'a');
    await lose(shop, once, 'pay', 'b');
    await eyes.until('pay / bunsettled');
    eyes.choose('pay / a');
    eyes.button('Settle as done').click();
    await eyes.until('Settled: done.');
    eyes.choose('pay / b');
    eyes.button('Settle as none').click();
    expect(eyes.detail).toContain('if you are wrong, it takes effect a second time. Are you sure?');
    expect(await pending(once)).toHaveLength(1);
    eyes.press('Escape');
    expect(eyes.detail).not.toContain('Are you sure?');
    eyes.button('Settle as none').click();
    eyes.button('Yes, settle as none').click();
    await eyes.until('Settled: no effect.');
    await expect.poll(() => eyes.rows.sort()).toEqual(['pay / a: done', 'pay / b: no effect']);
    expect(await pending(once)).toEqual([]);
  });

  test('stays in view while the pointer is over it, although another one is newer: a click settles what the developer looks at', async () => {
    const { shop, once, eyes } = watched({ limits: { attempts: 1 } });
    await shop.meets('lose-response', 'lose-response');
    await once.fetch(shop.url, order('pay', 1)).catch(() => {});
    await eyes.until('Settle as done');
    eyes.button('Settle as done').closest('.detail')?.dispatchEvent(new PointerEvent('pointerenter'));
    await once.fetch(shop.url, order('pay', 2)).catch(() => {});
    await eyes.until('pay / 2');
    await expect.poll(() => eyes.rows).toEqual(['pay / 2: unsettled', 'pay / 1: unsettled']);
    eyes.button('Settle as done').click();
    await eyes.until('Settled: done.');
    expect((await pending(once)).map(({ name }) => name)).toEqual([['pay', 2]]);
  });

  test('is forgotten only after a second click, because it may have been sent', async () => {
    const { shop, once, eyes } = watched();
    await lose(shop, once, 'pay', 'a');
    await eyes.until('pay / aunsettled');
    eyes.button('Forget').click();
    expect(await pending(once)).toHaveLength(1);
    eyes.button('Yes, forget').click();
    await eyes.until('Forgotten.');
    await eyes.until('pay / aforgotten');
    expect(await pending(once)).toEqual([]);
  });

  test('of an earlier page: the panel says that it did not see the attempts', async () => {
    const { shop, once, close } = watched();
    await lose(shop, once, 'pay', 'a');
    close();
    const { eyes } = panelOf(once);
    await eyes.until('pay / aunsettled');
    expect(eyes.detail).toContain('It began before this panel, or elsewhere: attempts that were made there are not stored');
    expect(eyes.all('.step')).toEqual([]);
  });
});

describe('other ends and states', () => {
  test('a refusal shows its reason', async () => {
    const { once, eyes } = watched({ fetch: async () => Response.json({ error: 'card_declined' }, { status: 402 }) });
    await once.fetch('/pay', order('pay', 1));
    await eyes.until('no effect');
    await eyes.until('402 after');
    expect(eyes.detail).toMatch(/402 after .*Read as refused by the application: The application refused it: it has looked the key up\./);
  });

  test('work in progress shows the wait that the server asks for', async () => {
    const { shop, once, eyes } = watched();
    await shop.meets({ name: 'in-progress', retryAfter: 2 });
    const paid = once.fetch(shop.url, order('pay', 1));
    await eyes.until('pay / 1waiting');
    await eyes.until(/Read as in progress: The server is at work on this key\./);
    expect(eyes.detail).toMatch(/It waits because the server is still working on it, and goes on at \S+, in [\d.]+ m?s\./);
    expect(eyes.button('Resume').disabled).toBe(true);
    expect(eyes.detail).toContain('A call is working on it now.');
    await paid;
    await eyes.until('pay / 1done');
  });

  test('a call without a name, and a function given to run', async () => {
    const { shop, once, eyes } = watched();
    await once.fetch(shop.url, { method: 'POST', body: '{}' });
    await run(once, ['mail', 7], async () => 'sent');
    await expect.poll(() => eyes.rows.sort()).toEqual(['mail / 7: done', 'without a name: done']);
    eyes.choose('without a name');
    expect(eyes.button('Forget').disabled).toBe(true);
    expect(eyes.detail).toContain('It has no name, and these functions find operations by their names.');
  });

  test('with the panel open, the client still gets each answer unread, and retries after an error of fetch', async () => {
    const trouble = new TypeError('the cable');
    let calls = 0;
    const { once, eyes } = watched({
      fetch: async () => {
        calls++;
        if (calls === 1) throw trouble;
        return Response.json({ n: calls });
      },
    });
    expect(await (await once.fetch('/pay', order('pay', 1))).json()).toEqual({ n: 2 });
    await eyes.until('pay / 1done');
  });
});

test('the report contains what helps, and no name, key, body, header or address', async () => {
  const { shop, once, eyes } = watched({ use: [requests()] });
  const init = { method: 'POST', headers: { authorization: 'Bearer s3cret' }, body: '{"card":"4242"}' };
  await shop.meets('lose-response');
  await once
    .fetch(shop.url, { ...init, once: { operation: ['pay', 'anna'], meta: { for: 'anna' }, keep: { request: true }, limits: { attempts: 1 } } })
    .catch(() => {});
  await eyes.until('pay / annaunsettled');
  const [stored] = await pending(once);
  eyes.button('Report').click();
  const text = () => eyes.all<HTMLTextAreaElement>('textarea')[0]?.value ?? '';
  const report = JSON.parse(text());
  expect(report).toMatchObject({
    format: 'oncefetch/devtools 1',
    client: { dialect: 'generic', loggedIn: true, closed: false, store: { kind: 'indexeddb' } },
    operations: [{ operation: 'operation 1', status: 'unsettled', storedIn: 'disk', record: { state: 'pending', ambiguous: true, request: true, meta: true } }],
  });
  expect(report.operations[0].steps).toMatchObject([
    { is: 'attempt', attempt: 1, readAs: 'no answer' },
    { is: 'end', reason: 'no-answer' },
  ]);
  for (const secret of ['anna', 's3cret', '4242', 'authorization', shop.url, shop.namespace, stored?.key.slice(0, 8), location.origin])
    expect(text()).not.toContain(secret);
  eyes.tick('With the names');
  expect(JSON.parse(text()).operations[0].operation).toBe('pay / anna');
  expect(text()).not.toContain('s3cret');
});

test('a thousand operations are a short list that says how many there are, and the search finds each of them', async () => {
  const store = memoryStore();
  const pays = async (once: Once, from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 50) await Promise.all(Array.from({ length: 50 }, (_, m) => once.fetch('/pay', order('pay', n + m))));
  };
  const options = { store, namespace: 'ann', fetch: async () => Response.json({}) };
  // Most of them are over before the panel opens: it draws itself anew while operations go on.
  await pays(createOnce(options), 0, 600);
  const { once, eyes } = watched(options);
  await pays(once, 600, 1000);
  await eyes.until('Settled, the latest 100 of 1000');
  expect(eyes.all('[role=option]')).toHaveLength(100);
  eyes.choose('pay / 999');
  expect(eyes.detail).toContain('pay / 999');
  // The panel keeps steps only of the latest operations. For the others it still has the records.
  const box = eyes.all<HTMLInputElement>('input[type=search]')[0] as HTMLInputElement;
  box.value = 'pay / 617';
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
  eyes.choose('pay / 617');
  expect(eyes.detail).toContain('It took effect now.');
  eyes.button('Report').click();
  const { left, operations } = JSON.parse(eyes.all<HTMLTextAreaElement>('textarea')[0]?.value ?? '');
  expect([left, operations.length]).toEqual([800, 200]);
  expect(await pending(once)).toEqual([]);
  await clear(once);
});
