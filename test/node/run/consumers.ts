/** Consumers (`consumer.ts`) on one SQLite file, each a process, and a real HTTP server that honours keys and counts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Child, script } from '../../support/child.js';

export class Consumers {
  /** What each key was charged. */
  readonly charges = new Map<string, string>();
  /** Keys as they came, repeats included. */
  readonly asked: string[] = [];
  /** The file of the present test. */
  path = '';
  #worker: ReturnType<typeof script> | undefined;
  readonly #provider = createServer((request, response) => {
    const key = String(request.headers['idempotency-key']);
    this.asked.push(key);
    if (!this.charges.has(key)) this.charges.set(key, `ch_${this.charges.size + 1}`);
    response.end(JSON.stringify({ id: this.charges.get(key) }));
  });

  /** For the tests of a file, to be called once in it. */
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
      this.path = join(folder, `${files++}.db`);
    });
    afterAll(() => {
      this.#provider.close();
      this.#worker?.remove();
      for (const made of [folder, `${folder}-copy`]) rmSync(made, { recursive: true, force: true });
    });
  }

  start(task = ''): Child {
    return (this.#worker as ReturnType<typeof script>).start([this.path, `http://127.0.0.1:${(this.#provider.address() as AddressInfo).port}`, task]);
  }

  /** One in the middle of its effect: the provider has charged. */
  async charging(task: 'crash' | 'slow' | 'brief' | 'deaf' | 'copy'): Promise<Child> {
    const child = this.start(task);
    await child.line((line) => line === 'charged');
    return child;
  }
}
