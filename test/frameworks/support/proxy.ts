/** A proxy between a browser and an app. It can lose the answers to POSTs after the app has given them. */
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FaultyProxy {
  readonly url: string;
  /** Loses this many answers to POSTs from now on; 0 stops that. */
  lose(answers: number): void;
  /** Answers that were lost since the last `lose`. */
  readonly lost: number;
  stop(): Promise<void>;
}

export async function startProxy(port: number): Promise<FaultyProxy> {
  let [left, lost] = [0, 0];
  function forward(request: IncomingMessage, response: ServerResponse): void {
    const { method, url: path, headers } = request;
    const onward = ask({ host: '127.0.0.1', port, method, path, headers: { ...headers, 'x-forwarded-proto': 'http' } }, (answer) => {
      if (method !== 'POST' || left === 0) {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        return void answer.pipe(response);
      }
      left--;
      answer.resume().on('end', () => {
        lost++;
        request.socket.destroy();
      });
    });
    onward.on('error', () => request.socket.destroy());
    request.pipe(onward);
  }
  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose(answers) {
      [left, lost] = [answers, 0];
    },
    get lost() {
      return lost;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
