import './scripts/require-node.mjs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import type { Plugin } from 'vite';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type BrowserProviderOption, type TestSpecification } from 'vitest/node';
import { type Browser, browsers, executableOf, executablesOf } from './scripts/browsers.mjs';
import { TWINS } from './scripts/lean.mjs';
import { webkitgtk } from './scripts/webkitgtk-provider.ts';
import { site } from './test/browser/server/site.ts';

const MINUTE = 60_000;

/**
 * Groups of projects run one after the other: first what counts on the processor, then what mostly waits (processes
 * killed, networks cut, browsers), which shares it well. From 1, because 0 means last where there is one worker.
 */
const GROUPS = [
  ['unit', 'lean', 'proof', 'docs'],
  ['node'],
  browsers.map(({ name }) => name),
  ['react-native', 'package', 'e2e', 'slow', 'runtimes', 'frameworks'],
];
/** Where a machine is busy, what a test waits for takes many times as long. */
const PATIENCE = { poll: { timeout: 20_000 } };
const inTurn = (name: string) => ({ name, expect: PATIENCE, sequence: { groupOrder: GROUPS.findIndex((group) => group.includes(name)) + 1 } });

/** What takes minutes, by `npm run test:slow`: the same worlds as in other tests, for longer or in one more browser. */
const SLOW = [
  'test/e2e/{afternoon,browsers,kill-pages}.test.ts',
  'test/servers/{calm,sqlite,postgres-and-redis,probe,without}.test.ts',
  'test/node/kills/*.test.ts',
];

/** What takes a second or more, and so is no part of `npm run check`. */
const UNHURRIED = [
  'test/devtools/buttons.test.ts',
  'test/dialects/{safety,size,spoken}.test.ts',
  'test/dom/{happy-dom,jsdom}.test.ts',
  'test/engine/{attacks-late-derived,begin-table,every-await,every-await-of-polling,pages-without-background,turns}.test.ts',
];

/**
 * What tests of our own code or of a library's, and of a browser only what other files test in each engine: these run in the first
 * browser there is.
 */
const IN_ONE_ENGINE = [
  // The panel shows and plays; `together` has its frames, workers and channels, `hands` its looks, keys and policies.
  'test/browser/devtools/{faults,other-tabs,panel}.test.ts',
  // Names and copies of the package; requests, tabs and locks have files of their own.
  'test/browser/engine/{join,opentelemetry}.test.ts',
  // Which key and whose: no engine has a say in it. `once-form` has what forms send, `changes` and `presses` what becomes of the page.
  'test/browser/form/{define,field-names,keys,known}.test.ts',
  // How browsers refuse their storage is played, not met; the contract, quotas and other versions have files of their own.
  'test/browser/stores/available.test.ts',
  // What React and other libraries do between a click and a call. `react` and `react-identity` have the store, tabs and clicks.
  'test/browser/{clients/swr,react-changes,react-mounted,react-rendering,tanstack-query}.test.ts',
];

/** These clear their site's data. From then on, an open page in Chromium has no locks in common with pages that are opened later. */
const CLEARING = /browser\/(engine\/storage|stores\/indexeddb)\.test\.ts$/;

/** They come last, because files share a page. */
class ClearingLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [false, true].flatMap((last) => sorted.filter(({ moduleId }) => CLEARING.test(moduleId) === last));
  }
}

/** What the twins of the lean build have no part in: sources, the rules of the core and the dialects, the panel, which production pages do not get. */
const WITHOUT_TWINS = [
  'test/architecture.test.ts',
  'test/core/{begin,carrier,decide,verdict,waiting,words,work-state}.test.ts',
  'test/{devtools,dom,tables}/**',
  'test/dialects/{safety,size,spoken}.test.ts',
  'test/engine/{attacks-late-derived,begin-table,every-await,every-await-of-polling,pages-without-background,turns}.test.ts',
];

const WORKERS = Math.max(2, availableParallelism());

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Tests leave nothing behind, and so their files can share a worker or a page, which loads everything once: half the time. */
const shared = { isolate: false, setupFiles: [path('test/support/fresh.ts')] };

/** Tests may import the package by its name and get its sources; `package` and `e2e` get what was built. */
const sources = {
  resolve: {
    alias: [
      { find: /^oncefetch$/, replacement: path('src/entries/index.ts') },
      { find: /^oncefetch\/(.+)$/, replacement: path('src/entries/$1.ts') },
    ],
  },
} satisfies TestProjectConfiguration;

const FIREFOX_PREFS = {
  // kB in all, of which an origin gets a fifth: a quota that a test can reach, and that the databases of all tests do not.
  'dom.quotaManager.temporaryStorage.fixedLimit': 90_000,
};

const providers: Record<Browser['name'], (...executables: string[]) => BrowserProviderOption> = {
  chromium: (executablePath = '') => playwright({ launchOptions: { executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] } }),
  firefox: (executablePath = '') => playwright({ launchOptions: { executablePath, channel: 'moz-firefox', firefoxUserPrefs: FIREFOX_PREFS } }),
  webkit: (driver = '', miniBrowser = '', xvfb) => webkitgtk({ driver, miniBrowser, xvfb }),
};

/** A real server of the tests' own origin, in front of vite's. */
const withSite = (): Plugin => ({
  name: 'site',
  configureServer: ({ middlewares }) => {
    const answer = site();
    middlewares.use((request, response, next) => void (answer(request, response) || next()));
  },
});

/** One project per browser: two providers cannot share one. */
const inBrowsers = browsers.flatMap((browser): TestProjectConfiguration[] => {
  const executables = executablesOf(browser);
  if (executables === undefined) return [];
  const isFirst = browser === browsers.find((one) => executablesOf(one) !== undefined);
  return [
    {
      ...sources,
      plugins: [withSite()],
      // A dependency found late reloads the page under the tests.
      optimizeDeps: {
        include: [
          '@noble/hashes/sha2.js',
          '@opentelemetry/api',
          '@opentelemetry/core',
          '@opentelemetry/sdk-metrics',
          '@opentelemetry/sdk-trace',
          '@opentelemetry/semantic-conventions',
          '@tanstack/react-query',
          'idb-keyval',
          'ky',
          'msw',
          'msw/browser',
          'p-retry',
          'react',
          'react-dom/client',
          'swr/mutation',
          'react-dom/server',
          'uuid',
          'axe-core',
        ],
      },
      test: {
        ...inTurn(browser.name),
        include: ['test/browser/**/*.test.ts'],
        exclude: isFirst ? [] : IN_ONE_ENGINE,
        testTimeout: MINUTE,
        ...shared,
        // Its files share an origin: its quota, its locks, its service workers.
        fileParallelism: false,
        browser: {
          enabled: true,
          // MiniBrowser has no such mode; its display is nobody's.
          headless: browser.name !== 'webkit',
          ui: false,
          screenshotFailures: false,
          provider: providers[browser.name](...executables),
          instances: [{ browser: browser.name, name: browser.name }],
        },
      },
    },
  ];
});

const slow = { testTimeout: 2 * MINUTE, hookTimeout: 2 * MINUTE, globalSetup: [path('scripts/build.mjs')] };
const inPlayground = { ...slow, globalSetup: [path('test/e2e/support/prepare.ts')] };

const unit = {
  ...shared,
  testTimeout: MINUTE,
  include: ['test/**/*.test.ts'],
  exclude: [
    'test/{browser,clients,cost,docs,e2e,explore,frameworks,fuzz,node,package,playground,probe,properties,react-native,runtimes,servers,simulation,stores,testing,types}/**',
  ],
};

/** The twins of the lean build. Which platform it is, tests say. */
const lean = TWINS.filter(([file]) => !file.test('/platform/detect.js')).map(([file, replacement]) => ({
  find: new RegExp(`^.*${file.source}`),
  replacement,
}));

const projects: TestProjectConfiguration[] = [
  { ...sources, test: { ...inTurn('unit'), ...unit, exclude: [...unit.exclude, ...UNHURRIED] } },
  {
    resolve: { alias: [...lean, ...sources.resolve.alias] },
    test: { ...inTurn('lean'), ...unit, env: { TEXTS: 'lean' }, exclude: [...unit.exclude, ...WITHOUT_TWINS] },
  },
  {
    ...sources,
    test: {
      ...inTurn('proof'),
      ...shared,
      testTimeout: MINUTE,
      include: ['test/{cost,explore,fuzz,probe,properties,simulation,stores,testing}/**/*.test.ts', ...UNHURRIED],
    },
  },
  { ...sources, test: { ...inTurn('docs'), isolate: false, testTimeout: MINUTE, include: ['test/docs/**/*.test.ts'] } },
  // Real processes, started and killed.
  {
    ...sources,
    test: {
      ...inTurn('node'),
      ...shared,
      include: ['test/{clients,node,playground,servers}/**/*.test.ts'],
      exclude: SLOW,
      testTimeout: MINUTE,
      hookTimeout: MINUTE,
    },
  },
  { ...sources, test: { ...inPlayground, ...inTurn('slow'), include: SLOW } },
  ...inBrowsers,
  // React Native's own JavaScript, installed by itself; the packed package in it.
  { test: { ...slow, ...inTurn('react-native'), globalSetup: [path('test/react-native/prepare.mjs')], include: ['test/react-native/*.test.ts'] } },
  // Workers, edge functions, Deno, Bun, other Nodes: each the real one, with the packed package in it.
  { test: { ...slow, ...inTurn('runtimes'), globalSetup: [path('test/runtimes/prepare.mjs')], include: ['test/runtimes/*.test.ts'] } },
  // Apps of frameworks, built and started as those do, in the first browser.
  { test: { ...slow, ...inTurn('frameworks'), globalSetup: [path('test/frameworks/prepare.mjs')], include: ['test/frameworks/*.test.ts'] } },
  { test: { ...slow, ...inTurn('package'), isolate: false, include: ['test/package/**/*.test.ts'] } },
];
// It drives the playground in the first browser.
if (browsers[0] !== undefined && executableOf(browsers[0]) !== undefined) {
  projects.push({ test: { ...inPlayground, ...inTurn('e2e'), isolate: false, include: ['test/e2e/**/*.test.ts'], exclude: SLOW } });
}

export default defineConfig({
  test: { projects, maxWorkers: WORKERS, sequence: { sequencer: ClearingLast }, reporters: ['default', path('scripts/skipped.mjs')] },
});
