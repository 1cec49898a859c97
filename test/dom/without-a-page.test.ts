/**
 * Goal: in Node without a page, a relative address is an error, whatever stands in for a document. Method: globals that
 * look like a document but are none.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { nodePlatform } from '../../src/platform/node/index.js';
import { says } from '../support/texts.js';

afterEach(() => vi.unstubAllGlobals());

test.each<[string, object]>([
  ['nothing', {}],
  ['a document without an address', { document: {} }],
  ['a page that was never opened', { document: { baseURI: 'about:blank' }, location: { href: 'about:blank' } }],
  ['a file', { location: { href: 'file:///srv/app.js' } }],
])('%s', (_, globals) => {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  expect(() => nodePlatform().resolve('/api')).toThrow(says('absolute where there is no page', 'url-absolute'));
});
