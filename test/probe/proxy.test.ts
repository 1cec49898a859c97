/** Goal: the probe sends everything to the server that it was given. Method: paths that can be read as addresses, through the proxy. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
