/** Goal: a polyfill on a page without Web Crypto takes no keys away. */
import { afterEach, expect, test, vi } from 'vitest';
import { insecureOrigins } from '../../src/features/insecure-origins.js';
import { browserPlatform } from '../../src/platform/browser/index.js';
import type { Platform } from '../../src/ports.js';

afterEach(() => vi.unstubAllGlobals());

test('a page on http:// with a polyfill of crypto.randomUUID', () => {
  vi.stubGlobal('process', undefined);
  vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(7), randomUUID: () => '07070707-0707-4707-8707-070707070707' });
  const { platform } = insecureOrigins().parts as { platform(lacking: Platform): Platform };
  expect(platform(browserPlatform()).randomness.uuid()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
