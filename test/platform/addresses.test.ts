/**
 * Goal: where a relative URL leads to no server, as in the popup of an extension, a call is refused at once, in every build; pages with a scheme of their
 * own, whose requests an app answers, go on. Method: the addresses that pages have, and calls of a client.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createOn } from '../../src/once.js';
import { browserPlatform } from '../../src/platform/browser/index.js';
import { memoryStore } from '../../src/stores/memory.js';
import { says } from '../support/texts.js';

afterEach(() => vi.unstubAllGlobals());

const pageAt = (base: string) => {
  vi.stubGlobal('document', { baseURI: base });
  const sent: string[] = [];
  const store = memoryStore();
  const once = createOn(browserPlatform(), {
    namespace: 'u-1',
    store,
    fetch: async (url) => {
      sent.push(String(url));
      return new Response('{}', { status: 201 });
    },
  });
  const records = () => store.scan({ before: Number.MAX_SAFE_INTEGER, limit: 10 });
  return { once, sent, records };
};

const NOWHERE = [
  'chrome-extension://kaijpgmicfnlbelmnjgfbbnkonfgkpbl/popup.html',
  'moz-extension://55c07de9-ae8d-4ba9-a3d7-5d4d70d2cf95/popup.html',
  'safari-web-extension://55C07DE9-AE8D-4BA9-A3D7-5D4D70D2CF95/popup.html',
  'file:///home/shop/index.html',
  'about:blank',
  'data:text/javascript,0',
  'blob:https://shop.example/55c07de9-ae8d-4ba9-a3d7-5d4d70d2cf95',
];
const OF_APPS = ['https://shop.example/', 'http://localhost/', 'capacitor://localhost/', 'ionic://localhost/', 'tauri://localhost/', 'app://shop/index.html'];

describe.each(NOWHERE)('at %s', (base) => {
  test('a relative URL is refused at once: a TypeError that names it, nothing sent or stored', async () => {
    const { once, sent, records } = pageAt(base);
    const error: unknown = await once.fetch('/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain(says('once: url must be a URL of a server, got "/pay"', 'once: url: url, got "/pay"'));
    expect([sent, (await records()).records]).toEqual([[], []]);
  });

  test('an absolute URL is sent', async () => {
    const { once, sent } = pageAt(base);
    await once.fetch('https://api.shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
    expect(sent).toEqual(['https://api.shop.example/pay']);
  });
});

test.each(OF_APPS)('at %s a relative URL is resolved, and sent', async (base) => {
  const { once, sent } = pageAt(base);
  await once.fetch('/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
  expect(sent).toEqual([new URL('/pay', base).href]);
});

test('a Request that an extension made of a relative URL is refused, too', async () => {
  const { once, sent } = pageAt(NOWHERE[0] as string);
  const request = { url: new URL('/pay', NOWHERE[0]).href, method: 'POST', headers: new Headers(), bodyUsed: false } as Request;
  await expect(once.fetch(request, { body: '{}', once: ['pay', 1] })).rejects.toThrow(TypeError);
  expect(sent).toEqual([]);
});
