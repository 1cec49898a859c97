import './scripts/require-node.mjs';
import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import type { BrowserProviderOption } from 'vitest/node';
import { type Browser, browsers, executableOf } from './scripts/browsers.mjs';

const MINUTE = 60_000;

/** Projects run one after the other: what is timed or killed wants the machine for itself. From 1, because 0 means last where there is one worker. */
const ORDER = ['unit', 'node', ...browsers.map(({ name }) => name), 'package', 'e2e'];
const inTurn = (name: string) => ({ name, sequence: { groupOrder: ORDER.indexOf(name) + 1 } });

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Tests may import the package by its name and get its sources; `package` and `e2e` get what was built. */
const sources = {
  resolve: {
    alias: [
      { find: /^oncefetch$/, replacement: path('src/entries/index.ts') },
      { find: /^oncefetch\/(.+)$/, replacement: path('src/entries/$1.ts') },
    ],
  },
} satisfies TestProjectConfiguration;

const providers: Record<Browser['name'], (executablePath: string) => BrowserProviderOption> = {
  chromium: (executablePath) => playwright({ launchOptions: { executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] } }),
};

/** One project per browser: two providers cannot share one. */
const inBrowsers = browsers.flatMap((browser): TestProjectConfiguration[] => {
  const executable = executableOf(browser);
  if (executable === undefined) return [];
  return [
    {
      ...sources,
      publicDir: path('test/browser/public'),
      // A dependency found late reloads the page under the tests.
      optimizeDeps: {
        include: ['@noble/hashes/sha2.js', 'idb-keyval', 'ky', 'msw', 'msw/browser', 'p-retry', 'react', 'react-dom/client', 'uuid', 'canonicalize'],
      },
      test: {
        ...inTurn(browser.name),
        include: ['test/browser/**/*.test.ts'],
        browser: {
          enabled: true,
          headless: true,
          ui: false,
          screenshotFailures: false,
          provider: providers[browser.name](executable),
          instances: [{ browser: browser.name, name: browser.name }],
        },
      },
    },
  ];
});

const slow = { testTimeout: 2 * MINUTE, hookTimeout: 2 * MINUTE, globalSetup: [path('scripts/build.mjs')] };

const projects: TestProjectConfiguration[] = [
  {
    ...sources,
    test: {
      ...inTurn('unit'),
      environment: 'node',
      include: ['test/**/*.test.ts'],
      exclude: ['test/{browser,node,playground,package,types,e2e}/**'],
    },
  },
  // Real processes, started and killed.
  { ...sources, test: { ...inTurn('node'), include: ['test/{node,playground}/**/*.test.ts'], testTimeout: MINUTE, hookTimeout: MINUTE } },
  ...inBrowsers,
  { test: { ...slow, ...inTurn('package'), include: ['test/package/**/*.test.ts'] } },
];
// It drives the playground in the first browser.
if (browsers[0] !== undefined && executableOf(browsers[0]) !== undefined) {
  projects.push({ test: { ...slow, ...inTurn('e2e'), include: ['test/e2e/**/*.test.ts'], fileParallelism: false } });
}

export default defineConfig({ test: { projects, reporters: ['default', path('scripts/skipped.mjs')] } });
