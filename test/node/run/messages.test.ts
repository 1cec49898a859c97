/**
 * Goal: messages that are delivered at least once take effect once. Method: several clients share an SQLite file, as the copies
 * of a service do. Deliveries repeat, at once and later, and effects fail.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { close, createOnce, isOnceError, type Once, type OnceOptions, outcomeOf, pending, run } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

let folder: string;
const copies: Once[] = [];
/** Another copy of the service, with its own connection and client. */
const copy = (options: Partial<OnceOptions> = {}): Once => {
  const store = sqliteStore({ path: join(folder, 'once.db') });
  const once = createOnce({ namespace: 'billing', store, durability: 'required', retry: { minDelayMs: 1, maxDelayMs: 5 }, ...options });
  copies.push(once);
  return once;
};
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'oncefetch-messages-'))));
afterEach(async () => {
  await Promise.all(copies.splice(0).map((once) => close(once)));
  rmSync(folder, { recursive: true, force: true });
});

describe('a webhook', () => {
  test('that is delivered three times, twice at once, takes effect once, and each delivery is answered with 200', async () => {
    const [one, two] = [copy(), copy()];
    const effects: string[] = [];
    const handlers = [one, two].map((once) =>
      createServer(async (request, response) => {
        const event = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { id: string };
        await run(once, ['provider', event.id], async ({ key }) => {
          await new Promise((resolve) => setTimeout(resolve, 30));
          effects.push(key);
          return null;
        });
        response.writeHead(200).end();
      }),
    );
    const urls = await Promise.all(
      handlers.map(async (server) => {
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      }),
    );
    const deliver = async (url: string | undefined) => (await fetch(url as string, { method: 'POST', body: JSON.stringify({ id: 'evt_1' }) })).status;
    expect(await Promise.all(urls.map(deliver))).toEqual([200, 200]);
    expect(await deliver(urls[1])).toBe(200);
    expect(effects).toHaveLength(1);
    for (const server of handlers) server.close();
  });

  test('of another provider with the same id is another operation', async () => {
    const once = copy();
    const effects: string[] = [];
    for (const provider of ['stripe', 'adyen', 'stripe']) await run(once, [provider, 'evt_1'], () => void effects.push(provider));
    expect(effects).toEqual(['stripe', 'adyen']);
  });
});

describe('a message', () => {
  test('takes effect once in each consumer group, which is a namespace', async () => {
    const effects: string[] = [];
    for (const group of ['billing', 'mail', 'billing', 'mail']) await run(copy({ namespace: group }), ['orders', 0, 17], () => void effects.push(group)); // topic, partition, offset
    expect(effects).toEqual(['billing', 'mail']);
  });

  test('that is delivered again gets the remembered result, parsed by the schema', async () => {
    const Receipt = z.object({ charge: z.string(), at: z.coerce.date() });
    let runs = 0;
    const work = (once: Once) => run(once, ['message', 'm-1'], () => ({ charge: `ch_${++runs}`, at: new Date(0) }), { result: Receipt });
    const first = await work(copy());
    const again = await work(copy());
    expect(again).toEqual(first);
    expect(again.at).toBeInstanceOf(Date);
    expect(runs).toBe(1);
  });

  test('whose remembered result does not fit the schema of this release is still done, and the error says so', async () => {
    await run(copy(), ['message', 'm-1'], () => ({ charge: 'ch_1' }));
    const again = run(copy(), ['message', 'm-1'], () => ({ id: 'never', at: 0 }), { result: z.object({ id: z.string(), at: z.number() }) });
    const error = await again.catch((caught: unknown) => caught);
    expect(isOnceError(error, 'ERR_ONCE_ALREADY_SETTLED')).toBe(true);
    expect(outcomeOf(error)).toMatchObject({ type: 'replayed', effect: 'done', operation: ['message', 'm-1'] });
    expect((error as Error).cause).toMatchObject({ issues: [{ path: ['id'] }, { path: ['at'] }] });
  });

  test('that its consumer cannot process stops at the limit, stays pending under one key, and is done once the consumer is fixed', async () => {
    const keys: string[] = [];
    const poisoned = (once: Once) =>
      run(
        once,
        ['message', 'm-13'],
        ({ key }) => {
          keys.push(key);
          throw new RangeError('cannot read it');
        },
        { limits: { attempts: 3 } },
      );
    await expect(poisoned(copy())).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN', cause: expect.any(RangeError), outcome: { attempts: 3 } });
    expect(keys).toHaveLength(3);
    await expect(poisoned(copy())).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(1);
    expect(await pending(copy(), { prefix: ['message'] })).toMatchObject([{ name: ['message', 'm-13'], key: keys[0], sent: 'maybe' }]);
    expect(await run(copy(), ['message', 'm-13'], ({ key }) => key)).toBe(keys[0]);
    expect(await pending(copy())).toEqual([]);
  });

  test('gives the calls that it makes stable child keys, one for each label and message', async () => {
    const keys: string[][] = [];
    const work = (id: string, fails: boolean) =>
      run(
        copy(),
        ['message', id],
        ({ child }) => {
          keys.push([child('charge'), child('mail')]);
          if (fails) throw new Error('crashed');
        },
        { limits: { attempts: 1 } },
      ).catch(() => {});
    await work('m-1', true);
    await work('m-1', false);
    await work('m-2', false);
    expect(keys[1]).toEqual(keys[0]);
    expect(new Set(keys.flat()).size).toBe(4);
  });
});

test('an outbox sends each message under one key, although its relays crash and overlap', async () => {
  const orders = new DatabaseSync(join(folder, 'orders.db'));
  orders.exec('CREATE TABLE outbox (id TEXT PRIMARY KEY, body TEXT, sent INTEGER)');
  for (let n = 0; n < 20; n++) orders.prepare('INSERT INTO outbox VALUES (?, ?, 0)').run(`m-${n}`, '{}');
  const heard: string[] = [];
  const receiver = createServer((request, response) => {
    heard.push(String(request.headers['idempotency-key']));
    // Every third answer is lost.
    if (heard.length % 3 === 0) request.socket.destroy();
    else response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const relay = async (once: Once, crashAfter: number) => {
    const rows = orders.prepare('SELECT id, body FROM outbox WHERE sent = 0').all() as { id: string; body: string }[];
    for (const [n, { id, body }] of rows.entries()) {
      await once
        .fetch(`http://127.0.0.1:${port}/messages`, { method: 'POST', body, once: { operation: ['outbox', id], accepted: 'settle' } })
        .catch((error: unknown) => {
          if (outcomeOf(error)?.effect !== 'done') throw error;
        });
      // The relay crashes after it sent the message, before it marks the row as sent.
      if (n === crashAfter) return;
      orders.prepare('UPDATE outbox SET sent = 1 WHERE id = ?').run(id);
    }
  };
  await Promise.all([relay(copy(), 4), relay(copy(), 7)]);
  await Promise.all([relay(copy(), 99), relay(copy(), 99)]);
  expect(orders.prepare('SELECT count(*) AS open FROM outbox WHERE sent = 0').get()).toEqual({ open: 0 });
  // Some messages arrive several times, but each under one key.
  expect(new Set(heard).size).toBe(20);
  expect(heard.length).toBeGreaterThan(20);
  receiver.close();
  orders.close();
});
