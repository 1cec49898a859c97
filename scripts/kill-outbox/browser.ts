/** A Chromium with its own profile, whose tabs, service worker and processes the script kills from outside. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright';
import { browserNamed, executableOf } from '../browsers.mjs';

/** How long to wait for an answer from a service worker. One that is being killed may never answer. */
const ANSWER_MS_MAX = 1000;
const orLate = (work: Promise<unknown> | undefined): Promise<unknown> => Promise.race([work?.catch(() => {}), sleep(ANSWER_MS_MAX)]);

export class OutboxBrowser {
  readonly #executablePath: string;
  readonly #profile = mkdtempSync(join(tmpdir(), 'oncefetch-profile-'));
  #context: BrowserContext | undefined;
  #session: CDPSession | undefined;

  private constructor(executablePath: string) {
    this.#executablePath = executablePath;
  }

  /** Resolves to `undefined` if there is no Chromium. */
  static async start(): Promise<OutboxBrowser | undefined> {
    const executablePath = executableOf(browserNamed('chromium'));
    if (executablePath === undefined) return undefined;
    const browser = new OutboxBrowser(executablePath);
    await browser.#launch();
    return browser;
  }

  async #launch(): Promise<void> {
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    this.#context = await chromium.launchPersistentContext(this.#profile, { executablePath: this.#executablePath, args });
    // A browser without a window may exit by itself, so this page stays open.
    const stays = this.#context.pages()[0] ?? (await this.#context.newPage());
    await stays.goto('about:blank');
    this.#session = await this.#context.newCDPSession(stays);
    await this.#session.send('ServiceWorker.enable');
  }

  get #open(): BrowserContext {
    if (!this.#context) throw new Error('the browser is not running');
    return this.#context;
  }

  async page(url: string): Promise<Page> {
    const page = await this.#open.newPage();
    await page.goto(url);
    return page;
  }

  /** Takes every current and future page and worker offline, or brings them back online. */
  async offline(off: boolean): Promise<void> {
    await orLate(this.#open.setOffline(off));
  }

  /** Ends every service worker, whatever it is doing. */
  async killWorkers(): Promise<void> {
    await orLate(this.#session?.send('ServiceWorker.stopAllWorkers'));
  }

  /** Sends SIGKILL to the browser and all its processes, and starts it again with the same profile. */
  async kill(): Promise<void> {
    const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).split('\n');
    const pids = lines.filter((line) => line.includes(this.#profile) && /--user-data-dir=/.test(line)).map((line) => Number.parseInt(line, 10));
    const gone = new Promise<void>((resolve) => this.#open.once('close', () => resolve()));
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // This process had already ended together with another one.
      }
    }
    await gone;
    for (const lock of ['SingletonLock', 'SingletonSocket', 'SingletonCookie']) rmSync(join(this.#profile, lock), { force: true });
    await this.#launch();
  }

  async stop(): Promise<void> {
    await this.#context?.close();
    rmSync(this.#profile, { recursive: true, force: true });
  }
}
