/**
 * A consumer in its own process, whose effect is a charge at the provider. The task says what follows the charge.
 * `crash`: the effect never ends, under a lease of an hour. `cut`: the same, and an attempt may take 3 s. `slow`: the effect ends 1.5 s later. `brief`: the same,
 * under a lease of 1 s. `deaf`: the effect never ends, and ignores the abort. `copy`: copies the store's folder, as a
 * backup would, and then never ends. `card`: charges 1.5 s later, under a lease of 1 s, by a call with a name of its own. Without a task, the effect ends
 * at once.
 */
import { cpSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { close, createOnce, outcomeOf, run } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

const [path = '', provider = '', task = ''] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);
const once = createOnce({ namespace: 'billing', store: sqliteStore({ path }), durability: 'required' });
/** Undefined means the default. */
const leaseMs = { crash: 3_600_000, cut: 3_600_000, brief: 1000, card: 1000 }[task];
const Receipt = z.object({ charge: z.string(), at: z.coerce.date() });

const charge = (key: string) => fetch(`${provider}/charges`, { method: 'POST', body: '{}', headers: { 'idempotency-key': key } });

process.once('SIGTERM', () => {
  const start = performance.now();
  void close(once).then(() => {
    say(`closed ${Math.round(performance.now() - start)}`);
    process.exit(0);
  });
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 1500));

async function byName(): Promise<Response> {
  say('ready');
  await pause();
  return once.fetch(`${provider}/cards`, { method: 'POST', body: '{}', once: ['charge', 'm-1'] });
}

if (task === 'card') {
  const end = await run(once, ['message', 'm-1'], byName, { limits: { attempts: 1, leaseMs } }).catch((error: unknown) => error);
  say(`end ${outcomeOf(end)?.type}`);
  await close(once);
  process.exit(0);
}

const work = run(
  once,
  ['message', 'm-1'],
  async ({ key, child, resumed, ambiguous, attempt }) => {
    say(`running ${JSON.stringify({ key, resumed, ambiguous, attempt })}`);
    const { id } = (await (await charge(child('charge'))).json()) as { id: string };
    if (task === 'copy') cpSync(dirname(path), `${dirname(path)}-copy`, { recursive: true });
    say('charged');
    if (['crash', 'cut', 'deaf', 'copy'].includes(task)) await new Promise(() => setInterval(() => {}, 1000));
    if (task === 'slow' || task === 'brief') await pause();
    return { charge: id, at: new Date() };
  },
  { result: Receipt, limits: { attemptMs: { deaf: 1000, cut: 3000 }[task] ?? 30_000, attempts: 2, leaseMs } },
);
await work.then(
  (receipt) => say(`receipt ${receipt.charge} ${receipt.at instanceof Date}`),
  (error: unknown) => say(`end ${outcomeOf(error)?.type}`),
);
if (task === '') await close(once);
