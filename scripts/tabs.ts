/** Opens, reloads, closes and crashes the tabs of one customer from outside, in any of the three browsers. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, firefox, type Page } from 'playwright';
import { type Browser, browserNamed, executablesOf } from './browsers.mjs';
import { WebKitGtk } from './webkitgtk.ts';

export type EngineName = Browser['name'];

export interface Tab {
  /** Evaluates an expression in the page, and awaits it if it is a promise. */
  evaluate<T>(expression: string): Promise<T>;
  go(url: string): Promise<void>;
  /** Goes back in the tab's history. */
  back(): Promise<void>;
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface Tabs {
  readonly engine: EngineName;
  open(url: string): Promise<Tab>;
  /** Takes the browser offline, or brings it back online. Absent if the browser has no command for it. */
  offline?(off: boolean): Promise<void>;
  /** Sends SIGKILL to every process that runs a page: all tabs are gone, but the browser and its storage stay. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export interface TabsOptions {
  /** The address of a proxy for hosts that do not exist, such as `127.0.0.1:1234`. */
  readonly proxy?: string | undefined;
}

/** What identifies a process that runs pages, by its command line. */
const PAGES: Readonly<Record<EngineName, RegExp>> = { chromium: /--type=renderer/, firefox: /-contentproc .*-isForBrowser/, webkit: /WebKitWebProcess/ };

/** Starts a browser. Resolves to `undefined` if it is not installed. */
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
          // Users have the back-forward cache.
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
      // A crashed tab may never answer `close`, so nothing waits for it.
      for (const page of open.values()) void page.close().catch(() => {});
      open.clear();
    },
    stop: () => browser.close(),
  };
}

/** Time for starting a new session after a crash has ended the last one. */
const SESSION_MS_MAX = 20_000;

const IN_PAGE = `
const done = arguments[1];
Promise.resolve().then(() => (0, eval)(arguments[0])).then((value) => done({ value }), (error) => done({ error: String(error) }));
`;

async function startWebKit([driver = '', miniBrowser = '', xvfb]: readonly string[], { proxy }: TabsOptions): Promise<Tabs> {
  // A browser that was set up to survive the crash of a page cannot be given a proxy.
  const browser =
    proxy === undefined
      ? await WebKitGtk.start({ driver, miniBrowser, xvfb }, {}, { stays: true })
      : await WebKitGtk.start({ driver, miniBrowser, xvfb }, { proxy: { proxyType: 'manual', httpProxy: proxy } });
  let turn: Promise<unknown> = Promise.resolve();
  // A session has only one current window, so commands run one at a time.
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
  // The first window stays open, because a session ends when its last window closes.
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

/** The descendants of `roots` whose command line matches `looks`. */
function pagesOf(roots: readonly number[], looks: RegExp): readonly Running[] {
  const all = running();
  const ours = new Set(roots);
  for (let size = 0; size !== ours.size; ) {
    size = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  return all.filter(({ pid, command }) => !roots.includes(pid) && ours.has(pid) && looks.test(command));
}

/** Kills these descendants, and resolves when they are gone. */
async function killPages(roots: readonly number[], looks: RegExp): Promise<void> {
  const doomed = pagesOf(roots, looks);
  if (doomed.length === 0) throw new Error(`no process matches ${looks}`);
  for (const { pid } of doomed) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It had already ended.
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
