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
 * Vitest runs these groups of projects one after the other: first the tests that keep the processor busy, then those that
 * mostly wait (for killed processes, cut networks, browsers) and so share the processor well. Their numbers begin at 1,
 * because Vitest runs group 0 last where there is only one worker.
 */
const GROUPS = [
  ['unit', 'lean', 'proof', 'docs'],
  ['node'],
  browsers.map(({ name }) => name),
  ['react-native', 'package', 'e2e', 'slow', 'runtimes', 'frameworks'],
];
/** How long `expect.poll` waits. On a busy machine, everything takes many times as long. */
const PATIENCE = { poll: { timeout: 20_000 } };
const inTurn = (name: string) => ({ name, expect: PATIENCE, sequence: { groupOrder: GROUPS.findIndex((group) => group.includes(name)) + 1 } });

/** Test files that take minutes; `npm run test:slow` runs them. They repeat scenarios of other tests, for longer or in one more browser. */
const SLOW = [
  'test/e2e/{afternoon,browsers,kill-pages}.test.ts',
  'test/servers/{calm,sqlite,postgres-and-redis,probe,without}.test.ts',
  'test/node/kills/*.test.ts',
];

/** Test files that take half a second or more. Project `proof` runs them instead of `unit`, so that `npm run check` stays fast. */
const UNHURRIED = [
  'test/core/{decide,verdict}.test.ts',
  'test/devtools/{buttons,pages-in-node}.test.ts',
  'test/dialects/{safety,size,spoken}.test.ts',
  'test/dom/{happy-dom,jsdom}.test.ts',
  'test/engine/{attacks-late-derived,begin-table,every-await,every-await-of-polling,pages-without-background,turns}.test.ts',
  'test/engine/{abort,after-a-refused-change,another-user,bad-input,given-up-behind-another,move-many,moves,moves-memory-and-store}.test.ts',
  'test/engine/{polled-answers,reconcile-answers,refusals-and-keys,resume-beside-others,review-answers,review-lost-generations,second-first-write}.test.ts',
  'test/engine/{screens,seldom-crossed,verdict-rows,waits,withdrawn-beside-the-worker}.test.ts',
  'test/integrations/{form-action,opentelemetry}.test.ts',
];

/**
 * Test files whose results don't depend on the engine: they test our own code or a library, and other files test the browser
 * features behind it in every engine. They run only in the first browser that is installed.
 */
const IN_ONE_ENGINE = [
  // What the panel shows, what axe says of it, and the faults that it injects. `together` tests it across frames and workers, `hands` its keys,
  // its colours and security policies.
  'test/browser/devtools/{axe,faults,other-tabs,panel}.test.ts',
  // How calls join by name across copies of the package, and traces. Other files test requests, tabs and locks.
  'test/browser/engine/{join,opentelemetry}.test.ts',
  // Which key a form sends, for which user, and in which words it says what is known. `once-form` tests what forms send, `changes` and `presses`
  // what happens on the page meanwhile.
  'test/browser/form/{define,field-names,keys,known,words}.test.ts',
  // Simulates the ways in which browsers refuse storage. Other files test the store contract, quotas and database versions on the real storage.
  'test/browser/stores/available.test.ts',
  // What React and other libraries do between a click and a call. `react` and `react-identity` test the store, tabs and clicks.
  'test/browser/{clients/swr,react-changes,react-mounted,react-rendering,tanstack-query}.test.ts',
];

/** These files clear the data of their site. After that, a page that is open in Chromium shares no locks with pages opened later. */
const CLEARING = /browser\/(engine\/storage|stores\/indexeddb)\.test\.ts$/;

/**
 * Test files that take long although they are short. In a fresh clone, Vitest does not know yet how long a file takes, so it starts the largest files
 * first. It would start these late, and at the end the other cores would wait for them.
 */
const LONG = /(explore\/explore|simulation\/simulation|engine\/every-await-of-polling|stores\/sweep-processes)\.test\.ts$/;

/** Starts the long files of each project first, and those that clear data last, because all files of a browser share a page. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const names = [...new Set(sorted.map(({ project }) => project.name))];
    const rank = ({ project, moduleId }: TestSpecification): number =>
      3 * names.indexOf(project.name) + (LONG.test(moduleId) ? 0 : CLEARING.test(moduleId) ? 2 : 1);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

/**
 * Test files that project `lean` leaves out: those that the lean build cannot affect (they test the source text, the rules of core and
 * dialects, or the panel, which production pages don't load), and the slow files above.
 */
const WITHOUT_TWINS = [
  'test/architecture.test.ts',
  'test/core/{begin,carrier,decide,verdict,waiting,words,work-state}.test.ts',
  'test/{devtools,dom,tables}/**',
  'test/dialects/{safety,size,spoken}.test.ts',
  'test/engine/{attacks-late-derived,begin-table,every-await,every-await-of-polling,pages-without-background,turns}.test.ts',
  // Only Node tells where a call is made, so production pages leave that out.
  'test/engine/run-calls.test.ts',
  'test/platform/nesting.test.ts',
];

const WORKERS = Math.max(2, availableParallelism());

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Tests leave nothing behind, so files can share a worker or a page. That loads every module only once and halves the time. */
const shared = { isolate: false, setupFiles: [path('test/support/fresh.ts')] };

/** Resolves imports of the package by its name to its sources. The projects `package` and `e2e` import the build instead. */
const sources = {
  resolve: {
    alias: [
      { find: /^oncefetch$/, replacement: path('src/entries/index.ts') },
      { find: /^oncefetch\/(.+)$/, replacement: path('src/entries/$1.ts') },
    ],
  },
} satisfies TestProjectConfiguration;

const FIREFOX_PREFS = {
  // kB for all origins; one origin gets a fifth. Small enough for a test to fill, large enough for the databases of all other tests.
  'dom.quotaManager.temporaryStorage.fixedLimit': 90_000,
};

const providers: Record<Browser['name'], (...executables: string[]) => BrowserProviderOption> = {
  chromium: (executablePath = '') => playwright({ launchOptions: { executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] } }),
  firefox: (executablePath = '') => playwright({ launchOptions: { executablePath, channel: 'moz-firefox', firefoxUserPrefs: FIREFOX_PREFS } }),
  webkit: (driver = '', miniBrowser = '', xvfb) => webkitgtk({ driver, miniBrowser, xvfb }),
};

/** Answers requests to the tests' own origin with a real server, before Vite sees them. */
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
          // MiniBrowser has no headless mode; it runs on a virtual display.
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

/** `memory.test.ts` is the only test of stores here: the lean build has another form of that store. */
const unit = {
  ...shared,
  testTimeout: MINUTE,
  include: ['test/**/*.test.ts'],
  exclude: [
    'test/{browser,clients,cost,docs,e2e,explore,frameworks,fuzz,node,package,playground,probe,properties,react-native,runtimes,servers,simulation,testing,types}/**',
    'test/stores/!(memory).test.ts',
  ],
};

/** The file replacements of the lean build, except that of platform detection: tests choose their platform themselves. */
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
      include: ['test/{cost,explore,fuzz,properties,simulation,testing}/**/*.test.ts', 'test/stores/!(memory).test.ts', ...UNHURRIED],
    },
  },
  { ...sources, test: { ...inTurn('docs'), isolate: false, testTimeout: MINUTE, include: ['test/docs/**/*.test.ts'] } },
  // These tests start and kill real processes, or play with a server in real time.
  {
    ...sources,
    test: {
      ...inTurn('node'),
      ...shared,
      globalSetup: [path('test/support/templates.ts')],
      include: ['test/{clients,node,playground,probe,servers}/**/*.test.ts'],
      exclude: SLOW,
      testTimeout: MINUTE,
      hookTimeout: MINUTE,
    },
  },
  { ...sources, test: { ...inPlayground, ...inTurn('slow'), include: SLOW } },
  ...inBrowsers,
  // The packed package with React Native's own JavaScript, which is installed separately.
  { test: { ...slow, ...inTurn('react-native'), globalSetup: [path('test/react-native/prepare.mjs')], include: ['test/react-native/*.test.ts'] } },
  // The packed package in the real workerd, edge-runtime, Deno, Bun and other versions of Node.
  { test: { ...slow, ...inTurn('runtimes'), globalSetup: [path('test/runtimes/prepare.mjs')], include: ['test/runtimes/*.test.ts'] } },
  // Apps of frameworks, built and started with the frameworks' own tools, in the first browser.
  { test: { ...slow, ...inTurn('frameworks'), globalSetup: [path('test/frameworks/prepare.mjs')], include: ['test/frameworks/*.test.ts'] } },
  { test: { ...slow, ...inTurn('package'), isolate: false, include: ['test/package/**/*.test.ts'] } },
];
// It drives the playground in the first browser.
if (browsers[0] !== undefined && executableOf(browsers[0]) !== undefined) {
  projects.push({ test: { ...inPlayground, ...inTurn('e2e'), isolate: false, include: ['test/e2e/**/*.test.ts'], exclude: SLOW } });
}

export default defineConfig({
  test: { projects, maxWorkers: WORKERS, sequence: { sequencer: LongFirst }, reporters: ['default', path('scripts/skipped.mjs')] },
});
