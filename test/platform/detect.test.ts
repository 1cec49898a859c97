/**
 * Goal: a platform is recognised by its globals, and a runtime that is not known to be one person's device is a server whose requests share
 * nothing. Method: globals as each runtime has them, for both builds. `test/runtimes` runs the real runtimes.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { insecureOrigins } from '../../src/features/insecure-origins.js';
import { detectPlatform } from '../../src/platform/detect.js';
import { detectPlatform as detectLean } from '../../src/platform/detect-lean.js';
import { says } from '../support/texts.js';

afterEach(() => vi.unstubAllGlobals());

const NODE = { process: { versions: { node: '20.19.0' }, getBuiltinModule: process.getBuiltinModule, emitWarning: () => {} } };
const PAGE = { document: {}, indexedDB: {}, location: { origin: 'https://shop.example', href: 'https://shop.example/' } };
const WORKERD = { WebSocketPair: class {}, WorkerGlobalScope: class {}, ServiceWorkerGlobalScope: class {} };

/**
 * Electron's `process`, which has Node's versions wherever it exists at all. `type` is documented:
 * https://www.electronjs.org/docs/latest/api/process#processtype-readonly
 */
const electron = (type: string) => ({ process: { ...NODE.process, type } });

const at = (globals: object): void => {
  for (const [name, value] of Object.entries({ process: undefined, ...globals })) vi.stubGlobal(name, value);
};

describe.each<[string, () => ReturnType<typeof detectPlatform>]>([
  ['the full build', detectPlatform],
  ['the build for pages', detectLean],
])('%s', (_, detect) => {
  test.each<[string, object]>([
    ['a page', PAGE],
    ['a page with the stand-ins for Node that a bundler brings', { ...PAGE, process: { versions: {}, env: {} } }],
    ['a worker of a page', { WorkerGlobalScope: class {}, indexedDB: {} }],
    ['a service worker', { WorkerGlobalScope: class {}, ServiceWorkerGlobalScope: class {}, indexedDB: {} }],
    ["a window of Electron's that has Node's modules", { ...PAGE, ...electron('renderer') }],
  ])("%s is one person's device", (_, globals) => {
    at(globals);
    expect(detect()).toMatchObject({ server: false });
    expect(detect().isolated).toBeUndefined();
  });

  test.each<[string, object]>([
    ['workerd', WORKERD],
    ['workerd with nodejs_compat', { ...WORKERD, ...NODE }],
    ['workerd with a document of a library', { ...WORKERD, ...NODE, document: {} }],
    ['an edge runtime', { EdgeRuntime: 'edge-runtime', self: {} }],
    ['an edge function of Next.js', { EdgeRuntime: 'edge-runtime', process: { env: {} } }],
    ['an edge runtime with a document of a library', { EdgeRuntime: 'edge-runtime', document: {} }],
    ['an unknown runtime', { self: {}, location: { href: 'https://edge.example/' } }],
    ['an unknown runtime with the scope of service workers', { WorkerGlobalScope: class {}, ServiceWorkerGlobalScope: class {}, self: {} }],
  ])('%s is a server, where no request waits for another one', (_, globals) => {
    at(globals);
    expect(detect()).toMatchObject({ server: true, isolated: true });
  });

  test.each<[string, object]>([
    ['Node, Deno or Bun', NODE],
    ['a page in Node', { ...NODE, ...PAGE }],
    ['the main process of Electron', electron('browser')],
    ['the main process of Electron, with a document of a library', { ...PAGE, ...electron('browser') }],
    ['a utility process of Electron', electron('utility')],
  ])('%s is a server whose calls meet in memory', (_, globals) => {
    at(globals);
    expect(detect()).toMatchObject({ server: true, isolated: false });
  });
});

describe('a runtime whose crypto lacks something', () => {
  test('without crypto, the error says to pass randomUUID', () => {
    at({ EdgeRuntime: 'edge-runtime', crypto: undefined });
    expect(() => detectPlatform().randomness.uuid()).toThrow(says('give createOnce({ randomUUID })', 'no-crypto'));
  });

  test.each([detectPlatform, detectLean])('a page on http:// makes no key without insecureOrigins()', async (detect) => {
    at({ ...PAGE, crypto: { getRandomValues: (bytes: Uint8Array) => bytes.fill(7) } });
    expect(() => detect().randomness.uuid()).toThrow(says('give createOnce({ randomUUID })', 'no-crypto'));
    const { platform } = insecureOrigins().parts as { platform(lacking: object): ReturnType<typeof detect> };
    expect(platform(detect()).randomness.uuid()).toBe('07070707-0707-4707-8707-070707070707');
    expect(await platform(detect()).digest('x')).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([detectPlatform, detectLean])('a browser older than crypto.randomUUID, or whose page took it away, is told what to pass', (detect) => {
    at({ ...PAGE, crypto: { subtle: {} } });
    expect(() => detect().randomness.uuid()).toThrow(says('give createOnce({ randomUUID })', 'no-crypto'));
  });

  test("under jsdom, whose crypto makes neither keys nor digests, Node's crypto makes them", async () => {
    at({ ...NODE, ...PAGE, crypto: { getRandomValues: () => {} } });
    expect(detectLean().randomness.uuid()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await detectLean().digest('x')).toBe(await detectPlatform().digest('x'));
  });

  test('without crypto.subtle, the error says to use insecureOrigins()', async () => {
    at({ EdgeRuntime: 'edge-runtime', crypto: { getRandomValues: () => {} } });
    await expect(detectPlatform().digest('x')).rejects.toThrow(/crypto\.subtle.* needs insecureOrigins\(\)/);
  });
});
