/**
 * Keeps the shop's server alive: starts `main.ts` with its own arguments, and starts it again, on the same port, whenever it dies.
 *
 *     node playground/server/supervisor.ts --port 4000 --db shop.db
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { port: { type: 'string', default: process.env['PORT'] ?? '4000' } }, strict: false });
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
/** A server that dies sooner than this does not work at all, and starting it again and again would hide why. */
const USEFUL_LIFE_MS = 100;
const FAILED_STARTS_MAX = 5;

let port = String(values.port);
let child: ChildProcess | undefined;
let stopping = false;
let failedStarts = 0;

function start(): void {
  const startedAt = Date.now();
  let listening = false;
  // The last of two equal flags wins: after the first start, the second `--port` replaces `--port 0` by the port that the
  // server got.
  child = spawn(process.execPath, [MAIN, ...process.argv.slice(2), '--port', port], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.on('message', (message: { port: number }) => {
    listening = true;
    failedStarts = 0;
    port = String(message.port);
    process.send?.(message);
  });
  child.once('exit', (code, signal) => {
    if (stopping) process.exit(0);
    if (!listening && ++failedStarts >= FAILED_STARTS_MAX) {
      console.error(`the server failed to start ${FAILED_STARTS_MAX} times, last with ${signal ?? code}`);
      process.exit(1);
    }
    console.log(`the server died (${signal ?? code}), starting it again`);
    setTimeout(start, listening ? 0 : Math.max(0, USEFUL_LIFE_MS - (Date.now() - startedAt)));
  });
}

function stop(): void {
  stopping = true;
  if (child?.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  else process.exit(0);
}

process.once('SIGTERM', stop).once('SIGINT', stop).once('disconnect', stop);
start();
