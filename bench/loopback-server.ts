/** The server of `loopback.ts`, in its own process: reads the body, answers with a little JSON, keeps connections open. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ANSWER = Buffer.from('{"ok":true,"id":"pay_123"}');
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length });
    response.end(ANSWER);
  });
});
server.keepAliveTimeout = 600_000;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
