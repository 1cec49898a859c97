/**
 * Goal: browser stores keep their promises between tabs in separate processes, after a kill of the browser, and if the user blocks
 * site data. Method: Chromium itself, with real tabs, a real profile and a real kill.
 */
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type BrowserContext, chromium, type Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { browserNamed, executableOf } from '../../scripts/browsers.mjs';
import { howToGet } from '../../scripts/executables.mjs';
import type { Store } from '../../src/ports.js';
import { describeOn } from '../support/describe-on.js';

/** The global of the script that each page loads. */
declare const stores: typeof import('../../src/stores/browser/indexeddb.js') & typeof import('../../src/stores/browser/local-storage.js');

const root = join(import.meta.dirname, '../..');
const browser = browserNamed('chromium');
const executablePath = executableOf(browser);
const missing = executablePath === undefined ? `Chromium is missing: ${howToGet(browser)}` : undefined;
const launch = { ...(executablePath && { executablePath }), args: ['--no-sandbox', '--disable-dev-shm-usage'] };

let server: Server;
let origin: string;
let script: string;
const profiles: string[] = [];

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export * from './src/stores/browser/indexeddb.js'; export * from './src/stores/browser/local-storage.js'", resolveDir: root },
    bundle: true,
    format: 'iife',
    globalName: 'stores',
    write: false,
  });
  script = outputFiles[0]?.text ?? '';
  server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>tab</title>'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

afterAll(() => {
  server.close();
  for (const dir of profiles) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

function profile(preferences: object = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'oncefetch-profile-'));
  profiles.push(dir);
  mkdirSync(join(dir, 'Default'));
  writeFileSync(join(dir, 'Default/Preferences'), JSON.stringify(preferences));
  return dir;
}

async function tab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(origin);
  await page.addScriptTag({ content: script });
  return page;
}

describeOn(missing)('in Chromium', () => {
  test.each(['indexedDbStore', 'localStorageStore'] as const)('three tabs that write one record of %s at once lose no update', async (kind) => {
    const [tabs, each] = [3, 120];
    const browser = await chromium.launch(launch);
    try {
      const context = await browser.newContext();
      const pages = await Promise.all(Array.from({ length: tabs }, () => tab(context)));
      const seen = await Promise.all(
        pages.map((page) =>
          page.evaluate(
            async ([kind, each]) => {
              const store: Store = stores[kind]();
              const counts: number[] = [];
              for (let n = 0; n < each; n++) {
                counts.push(
                  await store.update(
                    'counter',
                    (current) => {
                      const count = ((current as { count?: number } | undefined)?.count ?? 0) + 1;
                      return { next: { id: 'counter', ns: 'ns', state: 'pending', label: 'l', forgetAt: 1, count } as never, value: count };
                    },
                    { durability: 'relaxed' },
                  ),
                );
              }
              return { counts, atomic: store.atomic };
            },
            [kind, each] as const,
          ),
        ),
      );
      expect(seen.every(({ atomic }) => atomic)).toBe(true);
      const all = seen.flatMap(({ counts }) => counts).sort((a, b) => a - b);
      expect(all).toEqual(Array.from({ length: tabs * each }, (_, n) => n + 1));
    } finally {
      await browser.close();
    }
  });

  test('records that IndexedDB has stored are there after a kill of the whole browser', async () => {
    const dir = profile();
    const first = await chromium.launchPersistentContext(dir, launch);
    const page = await tab(first);
    const written = await page.evaluate(async () => {
      const store = stores.indexedDbStore();
      for (const [id, durability] of [
        ['a', 'strict'],
        ['b', 'relaxed'],
      ] as const) {
        await store.update(id, () => ({ next: { id, ns: 'ns', state: 'pending', label: id, forgetAt: 1 }, value: undefined }), { durability });
      }
      return store.survives;
    });
    expect(written).toBe('process');
    const gone = new Promise((resolve) => first.once('close', resolve));
    // Chromium's lock on its profile names its process.
    process.kill(Number(readlinkSync(join(dir, 'SingletonLock')).split('-').pop()), 'SIGKILL');
    await gone;
    const second = await chromium.launchPersistentContext(dir, launch);
    try {
      const found = await (await tab(second)).evaluate(async () =>
        (await stores.indexedDbStore().scan({ ns: 'ns', state: 'pending', limit: 9 })).records.map((one) => (one as { id: string }).id),
      );
      expect(found).toEqual(['a', 'b']);
    } finally {
      await second.close();
    }
  });

  test('if the user blocks site data, both stores report that they are not available', async () => {
    const context = await chromium.launchPersistentContext(profile({ profile: { default_content_setting_values: { cookies: 2 } } }), launch);
    try {
      const answers = await (await tab(context)).evaluate(async () => [
        await stores.indexedDbStore().available?.(),
        await stores.localStorageStore().available?.(),
      ]);
      expect(answers).toEqual([false, false]);
    } finally {
      await context.close();
    }
  });
});
