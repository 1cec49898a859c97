/**
 * Runs one server in its own process: `node main.ts <scheme> <services as JSON> <edits of its source as JSON>`. It
 * waits until its parent sends a message, reports its port, and kills itself at the moment that a request names.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { registerHooks } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { load, type Opened, open, type Server } from './database.ts';
import { answer, type Call, send, textOf } from './http.ts';
import type { Edits } from './parts.ts';

/** Long enough for two copies of a request to meet. */
const WORK_MS = 8;

/** Ends the process without clean-up, as a power cut would. */
function die(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;); // the signal may take a moment, in which a commit would slip through
}

async function callOf(request: IncomingMessage): Promise<Call> {
  const { method = '', url = '/', headers } = request;
  const text = await textOf(request);
  const dies = (moment: string): void => void (headers['x-dies'] === moment && die());
  return {
    method,
    path: url.split('?')[0] ?? '',
    headers,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : {},
    work: () => sleep(WORK_MS),
    beforeCommit: () => dies('kill-before-commit'),
    afterCommit: () => dies('kill-after-commit'),
  };
}

const [scheme = '', services = '{}', edits = '[]'] = process.argv.slice(2);

/** The server's source with a part of it taken away. */
function edited(source: string): string {
  return (JSON.parse(edits) as Edits).reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`${scheme}.ts does not have this once: ${from}`);
    return text.replace(from, () => to);
  }, source);
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    return url.endsWith(`/${scheme}.ts`) ? { ...loaded, source: edited(String(loaded.source)) } : loaded;
  },
});

const { server } = (await import(`../${scheme}.ts`)) as { server: Server };
await load(server);

async function serve(): Promise<void> {
  const handle = await open(server, JSON.parse(services) as Opened);
  const http = createServer(async (request, response) => {
    const told = await callOf(request)
      .then(handle)
      .catch((error: unknown) => {
        // A server without one of its parts is expected to fail, so its errors are not printed.
        if (edits === '[]') console.error(error);
        return answer(500, { title: String(error) });
      });
    send(response, told);
  });
  http.listen(0, '127.0.0.1', () => process.send?.((http.address() as AddressInfo).port));
}

// Waits until the process that it replaces is dead.
process.once('message', () => void serve());
process.once('disconnect', () => process.exit());
