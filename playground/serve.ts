/**
 * The playground: builds its page, starts the shop's server under its supervisor, and prints the URL.
 *
 *     node playground/serve.ts [--port 4000] [--db FILE] [--charge-ms 600]
 *
 * Without `--port` it takes 4000, or any free port if 4000 is taken.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildPage } from './page/build.ts';

const PORT = 4000;

const { values: args } = parseArgs({
  options: {
    port: { type: 'string' },
    db: { type: 'string' },
    /** Slow enough to watch a charge happen, and to reload the page in the middle of it. */
    'charge-ms': { type: 'string', default: '600' },
  },
});

/** The port if it is free, otherwise any free port. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => (wanted !== 0 && error.code === 'EADDRINUSE' ? resolve(freePort(0)) : reject(error)));
    probe.listen(wanted, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : wanted));
    });
  });
}

const port = args.port === undefined ? await freePort(PORT) : Number(args.port);
// One database per origin, so that the ledger matches what the browser has stored for that origin.
const db = args.db ?? fileURLToPath(new URL(`../.tmp/playground/${port}-2.db`, import.meta.url));
mkdirSync(dirname(db), { recursive: true });

const page = await buildPage();
const supervisor = join(import.meta.dirname, 'server/supervisor.ts');
const child = spawn(process.execPath, [supervisor, '--port', String(port), '--db', db, '--public', page, '--charge-ms', args['charge-ms']], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
child.once('message', () => console.log(`\n  oncefetch playground: http://127.0.0.1:${port}/   (Ctrl+C ends it)\n`));
child.once('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill('SIGTERM'));
