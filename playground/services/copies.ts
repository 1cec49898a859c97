/** Runs several copies of a service behind one address, each in its own process that is started again when it dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { request as ask } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../../scripts/start-services.ts';
import { listen } from './common.ts';

interface Copy {
  readonly process: ChildProcess;
  /** Whether the copy is ready, which means that it has reported its port. */
  ready: boolean;
  /** The port of the copy; 0 if it has none. */
  port: number;
}

export class Copies {
  readonly #copies: Copy[] = [];
  readonly #metricsPorts: number[] = [];
  #ended = false;
  readonly #script: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(script: string, env: Readonly<Record<string, string>>) {
    this.#script = join(import.meta.dirname, script);
    this.#env = { ...process.env, ...env };
  }

  /** The ports of the copies' metrics. A new copy takes the port of the one that it replaces. */
  get metricsPorts(): readonly number[] {
    return this.#metricsPorts;
  }

  /** Resolves when all copies are ready. */
  async start(count: number): Promise<unknown> {
    for (let n = 0; n < count; n++) this.#metricsPorts.push(await freePort());
    return Promise.all(Array.from({ length: count }, (_, n) => this.#start(n)));
  }

  #start(n: number): Promise<void> {
    const copy: Copy = {
      process: spawn(process.execPath, [this.#script], {
        env: { ...this.#env, METRICS_PORT: String(this.#metricsPorts[n]) },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
      ready: false,
      port: 0,
    };
    this.#copies[n] = copy;
    copy.process.once('exit', (code, signal) => {
      copy.port = 0;
      copy.ready = false;
      if (this.#ended) return;
      // A copy never ends by itself. One that does cannot start, and would be restarted forever.
      if (signal !== 'SIGKILL') throw new Error(`${this.#script} ended by itself (${code ?? signal})`);
      void this.#start(n);
    });
    return new Promise((resolve) =>
      copy.process.once('message', (message: { port: number }) => {
        copy.port = message.port;
        copy.ready = true;
        resolve();
      }),
    );
  }

  /**
   * Kills a copy that is ready, and returns whether there was one. A copy that is still starting has no work to lose.
   *
   * @param busy - process ids to choose from. Default: all.
   */
  killOne(busy?: ReadonlySet<number>): boolean {
    const ready = this.#copies.filter((copy) => copy.ready && (!busy || busy.has(copy.process.pid ?? 0)));
    return ready[Math.floor(Math.random() * ready.length)]?.process.kill('SIGKILL') === true;
  }

  /** A load balancer: passes each request to a copy. Answers 502 if the connection breaks, whatever the copy has already done. */
  async balanced(): Promise<string> {
    const port = await listen({}, (request, response) => {
      const ports = this.#copies.map((copy) => copy.port).filter((port) => port > 0);
      const to = ports[Math.floor(Math.random() * ports.length)];
      const { method, url, headers } = request;
      const onward = ask({ host: '127.0.0.1', port: to ?? 1, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response).on('error', () => response.destroy());
        answer.once('error', () => response.destroy());
      });
      onward.once('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
      request.pipe(onward);
    });
    return `http://127.0.0.1:${port}`;
  }

  /** Asks the copies to end, and waits for it. */
  async stop(): Promise<void> {
    this.#ended = true;
    const alive = this.#copies.map(({ process }) => process).filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const gone = alive.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of alive) child.kill('SIGTERM');
    await Promise.all(gone);
  }
}
