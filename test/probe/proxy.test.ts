/**
 * Goal: the probe sends everything to the server that it was given, and a fault of one request affects no other.
 * Method: paths that look like addresses, and a reset that comes after the answer, through the proxy.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openProxy } from '../../src/probe/proxy.js';

test.each(['//other.example/payments', '/payments//1?a=//b', '/'])('the path %s stays a path', async (path) => {
  const server = createServer((from, to) => void to.end(from.url));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const proxy = await openProxy(() => url);
  try {
    expect(await (await fetch(proxy.through(url), { method: 'POST', body: '{}' })).text()).toBe(path);
  } finally {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  }
});

test('a reset that comes after the answer affects no later request', async () => {
  let working: () => void = () => {};
  const server = createServer((from, to) => {
    if (from.url === '/slow') working = () => void to.end('late');
    else to.end('at once');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const proxy = await openProxy(() => url);
  try {
    proxy.next({ kind: 'reset', afterMs: 1000 });
    const sent = await fetch(proxy.through(url), { method: 'POST', body: '{}' });
    expect(await sent.text()).toBe('at once');
    // A moment later, fetch would reuse the connection.
    await sleep(20);
    const next = fetch(proxy.through(`${url}slow`), { method: 'POST', body: '{}' });
    await sleep(1500);
    working();
    expect(await (await next).text()).toBe('late');
  } finally {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  }
});
