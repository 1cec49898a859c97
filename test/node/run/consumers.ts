/** Consumer processes (`consumer.ts`) on one SQLite file, and a real HTTP server that honours keys and counts charges. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { type Child, script } from '../../support/child.js';

export class Consumers {
  /** The charge made for each key. */
  readonly charges = new Map<string, string>();
  /** The keys in order of arrival, with repeats. */
  readonly asked: string[] = [];
  /** Whether the provider declines cards. It repeats a decline to the same key, and marks that. */
  declines = false;
  readonly #declined = new Set<string>();
  /** The file of the current test. */
  path = '';
  /** Options of Node for the consumers of the current test. */
  flags: readonly string[] = [];
  #worker: ReturnType<typeof script> | undefined;
  readonly #provider = createServer((request, response) => {
    const key = String(request.headers['idempotency-key']);
    this.asked.push(key);
    if (this.declines && request.url === '/cards') this.#declined.add(key);
    if (this.#declined.has(key)) return void response.writeHead(402, { 'idempotent-replayed': 'true' }).end('{"code":"card_declined"}');
    if (!this.charges.has(key)) this.charges.set(key, `ch_${this.charges.size + 1}`);
    response.end(JSON.stringify({ id: this.charges.get(key) }));
  });

  /** Adds the hooks of a test file: construct it once in each. */
  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'oncefetch-run-'));
    let files = 0;
    beforeAll(async () => {
      await new Promise<void>((resolve) => this.#provider.listen(0, '127.0.0.1', resolve));
      this.#worker = script(join(import.meta.dirname, 'consumer.ts'));
    });
    beforeEach(() => {
      this.charges.clear();
      this.asked.length = 0;
      this.flags = [];
      this.declines = false;
      this.path = join(folder, `${files++}.db`);
    });
    afterAll(() => {
      this.#provider.close();
      this.#worker?.remove();
      for (const made of [folder, `${folder}-copy`]) rmSync(made, { recursive: true, force: true });
    });
  }

  start(task = ''): Child {
    const { port } = this.#provider.address() as AddressInfo;
    return (this.#worker as ReturnType<typeof script>).start([this.path, `http://127.0.0.1:${port}`, task], undefined, this.flags);
  }

  /** Starts a consumer, and waits until the provider has charged. The consumer is then in the middle of its effect. */
  async charging(task: 'crash' | 'cut' | 'slow' | 'brief' | 'deaf' | 'copy'): Promise<Child> {
    const child = this.start(task);
    await child.line((line) => line === 'charged');
    return child;
  }

  /** Stops the process while it does not hold the database, which would keep every other process from writing. The test's end kills it. */
  pause({ process }: Child): void {
    onTestFinished(() => void process.kill('SIGKILL'));
    const database = new DatabaseSync(this.path);
    for (let holds = true; holds; ) {
      process.kill('SIGSTOP');
      try {
        database.exec('BEGIN IMMEDIATE; ROLLBACK');
        holds = false;
      } catch {
        process.kill('SIGCONT');
      }
    }
    database.close();
  }
}
