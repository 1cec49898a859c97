/** Tabs of one customer in any of the three browsers: to be opened, reloaded, closed and crashed from outside. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, firefox, type Page } from 'playwright';
import { type Browser, browserNamed, executablesOf } from './browsers.mjs';
import { WebKitGtk } from './webkitgtk.ts';

export type EngineName = Browser['name'];

export interface Tab {
  /** Evaluates an expression in the page; a promise is awaited. */
  evaluate<T>(expression: string): Promise<T>;
  go(url: string): Promise<void>;
  /** Back in the tab's history. */
  back(): Promise<void>;
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface Tabs {
  readonly engine: EngineName;
  open(url: string): Promise<Tab>;
  /** Pulls the network's plug, or plugs it in again; absent where the browser cannot be told. */
  offline?(off: boolean): Promise<void>;
  /** SIGKILL to every process that has a page in it: all tabs are gone, the browser and what it stores are not. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export interface TabsOptions {
  /** For hosts that are not there: the address of a proxy, `127.0.0.1:1234`. */
  readonly proxy?: string | undefined;
}

/** How a process with pages in it shows in the list of processes. */
const PAGES: Readonly<Record<EngineName, RegExp>> = {
  chromium: /--type=renderer/,
  firefox: /-contentproc .*-isForBrowser/,
  webkit: /WebKitWebProcess/,
};

/** Starts a browser; `undefined` where there is none. */
export async function startTabs(engine: EngineName, options: TabsOptions = {}): Promise<Tabs | undefined> {
  const executables = executablesOf(browserNamed(engine));
  if (!executables) return undefined;
  return engine === 'webkit' ? startWebKit(executables, options) : startPlaywright(engine, executables[0] ?? '', options);
}

async function startPlaywright(engine: 'chromium' | 'firefox', executablePath: string, { proxy }: TabsOptions): Promise<Tabs> {
  const browser =
    engine === 'chromium'
      ? await chromium.launch({
          executablePath,
          args: ['--no-sandbox', '--disable-dev-shm-usage'],
          // What users have.
          ignoreDefaultArgs: ['--disable-back-forward-cache'],
        })
      : await firefox.launch({
          executablePath: fileURLToPath(new URL('firefox-that-stays.sh', import.meta.url)),
          channel: 'moz-firefox',
          env: { ...(process.env as Record<string, string>), FIREFOX_THAT_STAYS: executablePath },
        });
  let context: BrowserContext;
  try {
    context = await browser.newContext(proxy === undefined ? {} : { proxy: { server: `http://${proxy}`, bypass: '' } });
  } catch (error) {
    await browser.close();
    throw error;
  }
  const open = new Map<Tab, Page>();
  const tabOf = (page: Page): Tab => {
    const tab: Tab = {
      evaluate: (expression) => page.evaluate(expression),
      go: async (url) => void (await page.goto(url)),
      back: async () => void (await page.goBack({ waitUntil: 'commit' })),
      reload: async () => void (await page.reload()),
      close: async () => {
        open.delete(tab);
        await page.close();
      },
    };
    open.set(tab, page);
    return tab;
  };
  return {
    engine,
    async open(url) {
      const page = await context.newPage();
      await page.goto(url);
      return tabOf(page);
    },
    offline: (off) => context.setOffline(off),
    async crash() {
      await killPages([process.pid], PAGES[engine]);
      // A tab that has crashed may not be able to say goodbye.
      for (const page of open.values()) void page.close().catch(() => {});
      open.clear();
    },
    stop: () => browser.close(),
  };
}

/** For the session after the one that ended with its pages. */
const SESSION_MS_MAX = 20_000;

const IN_PAGE = `
const done = arguments[1];
Promise.resolve().then(() => (0, eval)(arguments[0])).then((value) => done({ value }), (error) => done({ error: String(error) }));
`;

async function startWebKit([driver = '', miniBrowser = '', xvfb]: readonly string[], { proxy }: TabsOptions): Promise<Tabs> {
  // One that a page's crash leaves running can't be given a proxy.
  const browser =
    proxy === undefined
      ? await WebKitGtk.start({ driver, miniBrowser, xvfb }, {}, { stays: true })
      : await WebKitGtk.start({ driver, miniBrowser, xvfb }, { proxy: { proxyType: 'manual', httpProxy: proxy } });
  let turn: Promise<unknown> = Promise.resolve();
  // A session looks at one window at a time.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => {});
    return mine;
  };
  const tabOf = (handle: string): Tab => {
    const inWindow = <T>(work: () => Promise<T>): Promise<T> =>
      inTurn(async () => {
        await browser.command('POST', '/window', { handle });
        return work();
      });
    return {
      evaluate: (expression) =>
        inWindow(async () => {
          const told = (await browser.command('POST', '/execute/async', { script: IN_PAGE, args: [expression] })) as { value?: never; error?: string };
          if (told.error !== undefined) throw new Error(told.error);
          return told.value as never;
        }),
      go: (url) => inWindow(async () => void (await browser.command('POST', '/url', { url }))),
      back: () => inWindow(async () => void (await browser.command('POST', '/back', {}))),
      reload: () => inWindow(async () => void (await browser.command('POST', '/refresh', {}))),
      close: () =>
        inWindow(async () => {
          await browser.command('DELETE', '/window');
        }),
    };
  };
  // The first window stays: a session ends with its last one.
  let first = (await browser.command('GET', '/window')) as string;
  return {
    engine: 'webkit',
    open: (url) =>
      inTurn(async () => {
        await browser.command('POST', '/window', { handle: first });
        const { handle } = (await browser.command('POST', '/window/new', { type: 'tab' })) as { handle: string };
        await browser.command('POST', '/window', { handle });
        await browser.command('POST', '/url', { url });
        return handle;
      }).then(tabOf),
    crash: () =>
      inTurn(async () => {
        await killPages(browser.pids, PAGES.webkit);
        await browser.begin(SESSION_MS_MAX);
        const [stays = '', ...rest] = (await browser.command('GET', '/window/handles')) as string[];
        first = stays;
        for (const handle of rest) {
          await browser.command('POST', '/window', { handle });
          await browser.command('DELETE', '/window');
        }
        await browser.command('POST', '/window', { handle: first });
      }),
    stop: () => browser.stop(),
  };
}

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

function running(): readonly Running[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

/** The descendants of a process of ours that look like this. */
function pagesOf(roots: readonly number[], looks: RegExp): readonly Running[] {
  const all = running();
  const ours = new Set(roots);
  for (let size = 0; size !== ours.size; ) {
    size = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  return all.filter(({ pid, command }) => !roots.includes(pid) && ours.has(pid) && looks.test(command));
}

/** Kills them, and resolves when they are gone. */
async function killPages(roots: readonly number[], looks: RegExp): Promise<void> {
  const doomed = pagesOf(roots, looks);
  if (doomed.length === 0) throw new Error(`no process looks like ${looks}`);
  for (const { pid } of doomed) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It was gone before.
    }
  }
  const isGone = ({ pid }: Running) => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  for (let n = 0; n < 200 && !doomed.every(isGone); n++) await new Promise((resolve) => setTimeout(resolve, 10));
}
