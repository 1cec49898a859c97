/**
 * Goal: the 200 of a tRPC stream does not settle a call as `done`: the server sends it before the work, and errors come in later lines.
 * Method: tRPC's own server and links; one payment that is declined, and one that succeeds.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTRPCUntypedClient, httpBatchLink, httpBatchStreamLink, httpLink } from '@trpc/client';
import { initTRPC, TRPCError } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOnce, memoryStore } from '../../src/entries/node.js';

const t = initTRPC.create();
const pay = t.procedure
  .input((card) => card)
  .mutation(({ input }) => {
    if (input === 'declined') throw new TRPCError({ code: 'BAD_REQUEST', message: 'card declined' });
    return { id: 'ch_1' };
  });
const server: Server = createHTTPServer({ router: t.router({ pay }) });
beforeAll(() => new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening)));
afterAll(() => server.close());

test.each([
  ['httpLink', httpLink, ['none', 'done']],
  ['httpBatchLink', httpBatchLink, ['none', 'done']],
  ['httpBatchStreamLink', httpBatchStreamLink, ['unknown', 'unknown']],
])('%s: a declined payment is never told as done', async (_, link, told) => {
  const effects: string[] = [];
  const once = createOnce({ store: memoryStore(), onOutcome: ({ effect }) => void effects.push(effect) });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const card of ['declined', 'good']) {
    const fetch = (to: string, init: object) => once.fetch(to, { ...init, once: ['pay', card] });
    const trpc = createTRPCUntypedClient({ links: [link({ url, fetch: fetch as never })] });
    await trpc.mutation('pay', card).catch(() => {});
  }
  expect(effects).toEqual(told);
});
