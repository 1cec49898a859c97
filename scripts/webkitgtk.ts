/** WebKitGTK's own MiniBrowser, driven by WebDriver, on its own display. None of its processes outlives this one. */
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Guarded, startGuarded } from './guarded.ts';

export interface WebKitGtkPlaces {
  readonly driver: string;
  readonly miniBrowser: string;
  /** Without Xvfb the browser uses the display in `DISPLAY`. */
  readonly xvfb?: string | undefined;
}

const START_MS_MAX = 20_000;
const COMMAND_MS_MAX = 60_000;
const STARTS_MAX = 3;

/** A command that the driver rejected. `error` is WebDriver's name for the error. */
export class WebDriverError extends Error {
  readonly error: string;
  constructor(command: string, { error = 'unknown error', message = '' }: { error?: string; message?: string }) {
    super(`${command}: ${error}: ${message}`);
    this.error = error;
  }
}

export class WebKitGtk {
  readonly #base: string;
  readonly #parts: readonly Guarded[];
  #capabilities: object = {};
  #session = '';

  private constructor(base: string, parts: readonly Guarded[]) {
    this.#base = base;
    this.#parts = parts;
  }

  /**
   * Starts a browser with one empty window. `wanted` are WebDriver's capabilities. With `stays`, the browser is started
   * beside the session instead of by it, and outlives it: a session ends when any of its pages crashes.
   */
  static async start(places: WebKitGtkPlaces, wanted: object = {}, { stays = false } = {}): Promise<WebKitGtk> {
    const parts: Guarded[] = [];
    try {
      const display = places.xvfb === undefined ? process.env['DISPLAY'] : await startDisplay(places.xvfb, parts);
      if (!display) throw new Error('WebKitGTK needs Xvfb, or a display in DISPLAY');
      const target = stays ? await startBrowser(places.miniBrowser, display, parts) : undefined;
      const browser = new WebKitGtk(await startDriver(places.driver, display, parts, target), parts);
      const own = { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': { binary: places.miniBrowser, args: ['--automation'] } };
      browser.#capabilities = { alwaysMatch: { ...wanted, ...(stays ? {} : own) } };
      await browser.begin(stays ? START_MS_MAX : 0);
      return browser;
    } catch (error) {
      await stopAll(parts);
      throw error;
    }
  }

  /** Begins a session: the first one, or the next one after a crash. Tries again while the browser may still be starting. */
  async begin(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs;
    const ask = () => send(this.#base, 'POST', '/session', { capabilities: this.#capabilities }, COMMAND_MS_MAX);
    for (;;) {
      // Only a failing command tells the driver that its session is over.
      if (this.#session) await this.command('GET', '/window').catch(() => this.command('DELETE', '').catch(() => {}));
      try {
        const { sessionId } = (await ask()) as { sessionId: string };
        this.#session = `/session/${sessionId}`;
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      await sleep(100);
    }
  }

  /** The processes that this class started. The browser's other processes are their descendants. */
  get pids(): readonly number[] {
    return this.#parts.map(({ pid }) => pid);
  }

  /** One WebDriver command of this session: `command('POST', '/url', { url })`. */
  command(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> {
    return send(this.#base, method, this.#session + path, body, COMMAND_MS_MAX);
  }

  async stop(): Promise<void> {
    await send(this.#base, 'DELETE', this.#session, undefined, 5000).catch(() => {});
    await stopAll(this.#parts);
  }
}

/** Stops the parts in reverse order, because a browser complains when its display goes away. */
async function stopAll(parts: readonly Guarded[]): Promise<void> {
  for (const part of [...parts].reverse()) await part.stop();
}

/** Xvfb looks for a free display by itself, and writes its number to descriptor 3. */
async function startDisplay(xvfb: string, parts: Guarded[]): Promise<string> {
  const part = startGuarded(xvfb, ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], { fd3: true });
  parts.push(part);
  const said = new Promise<string>((resolve) => part.process.stdio[3]?.once('data', (data: Buffer) => resolve(`:${data.toString().trim()}`)));
  const over = new AbortController();
  const late = sleep(START_MS_MAX, 'it said nothing', { signal: over.signal }).catch(() => '');
  const display = await Promise.race([said, Promise.race([part.ended, late]).then((why) => Promise.reject(new Error(`Xvfb did not start: ${why}`)))]);
  over.abort();
  return display;
}

const envOf = (display: string) => ({ ...process.env, DISPLAY: display, GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1', NO_AT_BRIDGE: '1' });

/** Starts a browser, and resolves to the address at which a driver finds it. */
async function startBrowser(miniBrowser: string, display: string, parts: Guarded[]): Promise<string> {
  const target = `127.0.0.1:${await freePort()}`;
  parts.push(startGuarded(miniBrowser, ['--automation'], { env: { ...envOf(display), WEBKIT_INSPECTOR_SERVER: target } }));
  return target;
}

async function startDriver(driver: string, display: string, parts: Guarded[], target: string | undefined): Promise<string> {
  const env = envOf(display);
  for (let starts = 1; ; starts++) {
    const port = await freePort();
    const part = startGuarded(driver, [`--port=${port}`, '--host=127.0.0.1', ...(target ? [`--target=${target}`] : [])], { env });
    const base = `http://127.0.0.1:${port}`;
    let why: string | undefined;
    void part.ended.then((said) => (why = said));
    const deadline = performance.now() + START_MS_MAX;
    while (why === undefined && performance.now() < deadline) {
      const ready = await send(base, 'GET', '/status', undefined, 1000).then(
        () => true,
        () => false,
      );
      if (ready) {
        parts.push(part);
        return base;
      }
      await sleep(50);
    }
    await part.stop();
    // Another program may have taken the port in the meantime, so try again.
    if (starts >= STARTS_MAX) throw new Error(`WebKitWebDriver did not start: ${why ?? 'it gave no answer'}`);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
      .once('error', reject)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        server.close(() => resolve(port));
      });
  });
}

async function send(base: string, method: string, path: string, body: object | undefined, ms: number): Promise<unknown> {
  const answer = await fetch(base + path, { method, signal: AbortSignal.timeout(ms), ...(body && { body: JSON.stringify(body) }) });
  const { value } = (await answer.json()) as { value: unknown };
  if (!answer.ok) throw new WebDriverError(`${method} ${path.replace(/^\/session\/[^/]+/, '')}`, (value ?? {}) as object);
  return value;
}
