/** The shop over HTTP. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShop, type Deed, type Seen } from './shop-rules.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const CUT_AFTER_MS = 20;

function doIt(deed: Deed, response: ServerResponse): void {
  const drop = () => response.socket?.destroy();
  if (deed.does === 'drop') drop();
  if (deed.does === 'redirect') response.writeHead(302, { location: deed.to }).end();
  if (deed.does === 'cut') {
    response.writeHead(201, { 'content-type': JSON_TYPE, 'content-length': '400' }).write('{"says":');
    setTimeout(drop, CUT_AFTER_MS);
  }
  if (deed.does === 'say') {
    const { status, content, headers, afterMs } = deed;
    setTimeout(() => response.writeHead(status, { 'content-type': JSON_TYPE, ...headers }).end(JSON.stringify(content)), afterMs);
  }
}

export async function openShop(): Promise<{ base: string; saw(id: string): Seen; close(): void }> {
  const { answer, saw } = createShop();
  const server = createServer((request, response) => {
    const [, path = '', id = ''] = (request.url ?? '').split('/');
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    response.on('close', () => {
      if (!response.writableFinished) saw(id).aborted++;
    });
    request.on('end', () => doIt(answer({ path, id, key: String(request.headers['idempotency-key'] ?? ''), body }), response));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    saw,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
