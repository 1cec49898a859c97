/**
 * Goal: the panel of one tab shows every step of other tabs and workers that also have a panel, with the reasons, and
 * ignores messages that are not such steps. Method: frames and workers with their own package and panel over one
 * IndexedDB, and forged messages on the channel of the panels.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { memoryStore, refresh } from '../../../src/entries/index.js';
import { createOnce, SOON } from '../realm/lib.js';
import { closeRealms, openFrame, openSharedWorker, openWorker, type Realm } from '../support/realms.js';
import { Shop } from '../support/shop.js';
import { order, panelOf, watched } from './support.js';

afterEach(closeRealms);

/** Makes a client with a panel in this realm. */
const panelIn = ({ run }: Realm, { namespace }: Shop) =>
  run((lib, namespace) => {
    const once = lib.createOnce({ ...lib.SOON, namespace });
    lib.shelf['once'] = once;
    lib.shelf['close'] = lib.devtools(once, { open: true });
  }, namespace);

const payIn = ({ run }: Realm, { url }: Shop, name = 1): Promise<string> =>
  run(
    async (lib, url, name) => {
      const once = lib.shelf['once'] as ReturnType<typeof lib.createOnce>;
      const end: unknown = await once.fetch(url, { method: 'POST', body: '{"cart":1}', once: ['pay', name] }).catch((error: unknown) => error);
      return String(lib.outcomeOf(end)?.effect);
    },
    url,
    name,
  );

const REALMS = [
  ['another tab', openFrame],
  ['a worker', openWorker],
  ['a worker', openSharedWorker],
] as const;

describe.each(REALMS)('%s', (where, openRealm) => {
  test('loses an answer: the timeline has each attempt, why its answer was read that way, the wait and the end', async () => {
    const { shop, eyes } = watched();
    const realm = await openRealm();
    await panelIn(realm, shop);
    await shop.meets('lose-response');
    expect(await payIn(realm, shop)).toBe('done');
    await eyes.until('pay / 1done');
    await eyes.until('Read as replayed');
    const steps = eyes.all('.step').map((step) => (step.textContent ?? '').replace(/^[\d:]+/, ''));
    expect(steps).toHaveLength(4);
    expect(steps[0]).toMatch(new RegExp(`^${where} Attempt 1: a network error after .* Read as no answer: The server may have got it and done it, or not\\.`));
    expect(steps[1]).toMatch(new RegExp(`^${where} Then it waits before it tries again`));
    expect(steps[2]).toMatch(new RegExp(`^${where} Attempt 2: 201, marked as a replay after .* Read as replayed`));
    expect(steps[3]).toMatch(new RegExp(`^${where} done\\. It took effect earlier\\. The server said so`));
    expect(eyes.detail).not.toContain('they are not shown');
    await shop.oneEffect();
  });

  test('had a panel before this one opened: this panel asks for its steps', async () => {
    const shop = new Shop();
    const realm = await openRealm();
    await panelIn(realm, shop);
    expect(await payIn(realm, shop)).toBe('done');
    const { eyes } = panelOf(createOnce({ ...SOON, namespace: shop.namespace }));
    await eyes.until('Read as fresh');
    expect(eyes.detail).toContain(`${where} Attempt 1: 201 after`);
  });

  test('closes its panel: it no longer sends steps', async () => {
    const { shop, eyes } = watched();
    const realm = await openRealm();
    await panelIn(realm, shop);
    await realm.run((lib) => (lib.shelf['close'] as () => void)());
    expect(await payIn(realm, shop)).toBe('done');
    await eyes.until('pay / 1done');
    expect(eyes.all('.step')).toEqual([]);
  });
});

test.each([
  ['pagehide', 'pageshow', 'window'],
  ['freeze', 'resume', 'document'],
] as const)('another tab sends no steps between %s and %s', async (goes, comes, where) => {
  const { shop, eyes } = watched();
  const realm = await openFrame();
  await panelIn(realm, shop);
  const happens = (type: string) => realm.run((_, where, type) => void globalThis[where].dispatchEvent(new Event(type)), where, type);
  await happens(goes);
  expect(await payIn(realm, shop)).toBe('done');
  await eyes.until('pay / 1done');
  expect(eyes.all('.step')).toEqual([]);
  await happens(comes);
  expect(await payIn(realm, shop, 2)).toBe('done');
  await eyes.until('pay / 2done');
  eyes.choose('pay / 2');
  await eyes.until('Read as fresh');
});

test('two tabs with one operation: a call here waits for the call there: one timeline has the steps of both, in order', async () => {
  const { shop, once, eyes } = watched();
  const realm = await openFrame();
  await panelIn(realm, shop);
  await shop.hold();
  const there = payIn(realm, shop);
  await eyes.until('pay / 1in another tab');
  await eyes.until('Attempt 1 left.');
  const here = once.fetch(shop.url, order('pay', 1)).catch((error: unknown) => error);
  await eyes.until('waits for another tab, worker or process that is working on it');
  await shop.release();
  expect(await there).toBe('done');
  await here;
  await eyes.until('Read as fresh');
  await expect.poll(() => eyes.all('.step')).toHaveLength(3);
  // The end of the call in this tab is no step, because the call only returned the answer that the other tab had stored.
  expect(eyes.all('.step').map((step) => step.querySelector('.badge')?.textContent)).toEqual(['another tab', undefined, 'another tab']);
  await shop.oneEffect();
});

describe('the steps of a tab reach', () => {
  test('neither the panel of another user nor the panel of a client with its own store', async () => {
    const { shop, eyes } = watched();
    const [other, own] = [watched(), watched({ store: memoryStore(), namespace: shop.namespace })];
    const realm = await openFrame();
    await panelIn(realm, shop);
    await payIn(realm, shop);
    await eyes.until('Read as fresh');
    for (const panel of [other, own]) expect(panel.eyes.rows).toEqual([]);
  });

  test("the panel of a user who logs in again, and no other user's panel in between", async () => {
    const shop = new Shop();
    let user = shop.namespace;
    const once = createOnce({ ...SOON, namespace: () => user });
    const { eyes } = panelOf(once);
    const realm = await openFrame();
    await panelIn(realm, shop);
    user = `${shop.namespace} ben`;
    refresh(once);
    await eyes.until('Nothing yet.');
    await payIn(realm, shop);
    expect(eyes.rows).toEqual([]);
    user = shop.namespace;
    refresh(once);
    await eyes.until('Read as fresh');
    await expect.poll(() => eyes.rows).toEqual(['pay / 1: done']);
  });

  test('another client of the same page that uses the same records', async () => {
    const { shop, once, eyes } = watched();
    panelOf(createOnce({ ...SOON, namespace: shop.namespace }), { label: 'other' });
    await once.fetch(shop.url, order('pay', 1));
    await eyes.until('Read as fresh');
    const other = document.querySelectorAll('oncefetch-devtools')[1]?.shadowRoot as ShadowRoot;
    (other.querySelector('.toggle') as HTMLElement).click();
    await expect.poll(() => other.textContent).toContain('another client of this page');
  });
});

describe('a message on the channel of the panels', () => {
  /** Pays in another tab. Returns the messages of its panel, and the channel, so that a test can forge messages like them. */
  const overheard = async () => {
    const seen = watched();
    const realm = await openFrame();
    await panelIn(realm, seen.shop);
    const channel = new BroadcastChannel('oncefetch/devtools 1');
    const heard: Record<string, unknown>[] = [];
    channel.onmessage = ({ data }) => void heard.push(data as Record<string, unknown>);
    await payIn(realm, seen.shop);
    // The end and the reading of the answer may arrive in two messages, in either order.
    await seen.eyes.until(/ done\. It took effect/);
    await seen.eyes.until('Read as fresh');
    const mine = heard.filter(({ steps }) => Array.isArray(steps) && steps.length > 0) as { steps: Record<string, unknown>[]; realm: string }[];
    const steps = mine.flatMap((message) => message.steps);
    return {
      ...seen,
      channel,
      heard,
      message: mine[0] as (typeof mine)[0],
      attempt: steps.filter(({ is }) => is === 'attempt').at(-1),
      end: steps.find(({ is }) => is === 'end'),
    };
  };

  test('contains no body, no header, no address and no namespace', async () => {
    const { heard, shop, channel } = await overheard();
    const all = JSON.stringify(heard);
    for (const secret of [shop.namespace, shop.url, new URL(shop.url).pathname, 'cart', 'content-type']) expect(all).not.toContain(secret);
    channel.close();
  });

  test('that is malformed is ignored, and the panel keeps working', async () => {
    const { eyes, channel, message, attempt, end, once, shop } = await overheard();
    const before = eyes.all('.step').length;
    let last = 900;
    /** A copy of a real step with the fields of `wrong` in place of its own. */
    const like = (step: object | undefined, wrong: object = {}) => ({ ...step, id: `${message.realm} ${++last}`, ...wrong });
    const outcome = (end as { outcome: object }).outcome;
    const evidence = (attempt as { evidence: object }).evidence;
    const broken: unknown[] = [
      0,
      'steps',
      null,
      [],
      { ...message, scope: 1 },
      { ...message, steps: 'all' },
      { ...message, ns: 'of somebody else', steps: [like(attempt)] },
      { ...message, scope: 'indexeddb:other', steps: [like(attempt)] },
      { ...message, steps: [undefined, 7, {}, like(attempt, { id: 1 }), like(attempt, { id: 'of another realm 1' }), like(attempt, { at: Number.NaN })] },
      {
        ...message,
        steps: [like(attempt, { at: 9e15 }), like(attempt, { track: '[' }), like(attempt, { track: '["pay", 1]' }), like(attempt, { track: '[{"n":"x"}]' })],
      },
      { ...message, steps: [like(attempt, { key: 7 }), like(attempt, { attempt: '1' }), like(attempt, { is: 'rumour' })] },
      { ...message, steps: [like(end, { outcome: undefined }), like(end, { outcome: { ...outcome, type: 'unknown', reason: undefined } })] },
      { ...message, steps: [like(end, { outcome: { ...outcome, attempts: 1n } }), like(end, { outcome: { ...outcome, type: 'constructor' } })] },
      { ...message, steps: [like(attempt, { is: 'wait', why: 'x', until: 'soon' }), like(attempt, { is: 'diagnostic', code: 1, message: 'x' })] },
    ];
    for (const one of broken) channel.postMessage(one);
    // A step with malformed evidence counts as an attempt without evidence. A reason that only a newer version knows is shown as it is.
    channel.postMessage({
      ...message,
      steps: [
        like(attempt, { evidence: { ...evidence, reading: { kind: 'toString', ambiguous: true } } }),
        like(end, { outcome: { ...outcome, type: 'unknown', reason: 'of a newer version' } }),
      ],
    });
    await eyes.until('Attempt 1 left.');
    // Each message makes the panel read the store again.
    await expect.poll(() => eyes.rows).toEqual(['pay / 1: done']);
    expect(eyes.all('.step')).toHaveLength(before + 2);
    await once.fetch(shop.url, order('pay', 2));
    await eyes.until('pay / 2done');
    channel.close();
  });

  test('cannot arrive without BroadcastChannel: the panel shows only its own steps', async () => {
    vi.stubGlobal('BroadcastChannel', undefined);
    const { shop, once, eyes } = watched();
    await once.fetch(shop.url, order('pay', 1));
    await eyes.until('Read as fresh');
    vi.unstubAllGlobals();
  });
});
