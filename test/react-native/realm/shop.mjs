/** A shop that charges once per key, and the faults of its network, by the path. It remembers what it saw. */
import { createServer } from 'node:http';

const HELLO = { says: 'héllo 世界 😀' };

/** @typedef {{ requests: number, charges: number, keys: Set<string>, bodies: Set<string>, aborted: number }} Seen */

export async function openShop() {
  /** @type {Map<string, Seen>} */
  const seen = new Map();
  /** @type {Map<string, { status: number, body: string }>} */
  const answers = new Map();
  const server = createServer((request, response) => {
    const [, path = '', id = ''] = (request.url ?? '').split('/');
    const own = seen.get(id) ?? { requests: 0, charges: 0, keys: new Set(), bodies: new Set(), aborted: 0 };
    seen.set(id, own);
    const nth = ++own.requests;
    const key = String(request.headers['idempotency-key'] ?? '');
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    response.on('close', () => {
      if (!response.writableFinished) own.aborted++;
    });
    request.on('end', () => {
      own.keys.add(key);
      own.bodies.add(body);
      /** @param {number} status @param {object} content @param {Record<string, string>} [headers] */
      const say = (status, content, headers = {}) => {
        response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
        response.end(JSON.stringify(content));
      };
      const charge = () => {
        const known = answers.get(key);
        if (!known) own.charges++;
        answers.set(key, known ?? { status: 201, body: '' });
        return { replayed: known ? { 'idempotent-replayed': 'true' } : {} };
      };
      const done = () => say(201, HELLO, /** @type {Record<string, string>} */ (charge().replayed));
      const lose = () => {
        charge();
        request.socket.destroy();
      };
      const first = nth === 1;
      if (path === 'ok' || path === 'form') done();
      else if (path === 'lose-answer') first ? lose() : done();
      else if (path === '503') first ? say(503, {}) : done();
      else if (path === 'in-progress') first ? say(409, { code: 'idempotency_key_in_progress' }, { 'retry-after': '0' }) : done();
      else if (path === 'declined') say(422, { says: 'declined' });
      else if (path === 'lose-then-decline') first ? lose() : say(422, { says: 'declined' });
      else if (path === 'hang') first ? charge() : done();
      else if (path === 'slow') setTimeout(done, 60);
      else if (path === 'cut' && first) {
        charge();
        response.writeHead(201, { 'content-type': 'application/json', 'content-length': '400' });
        response.write('{"says":');
        setTimeout(() => request.socket.destroy(), 20);
      } else if (path === 'cut') done();
      else if (path === 'redirect') {
        charge();
        response.writeHead(302, { location: `/page/${id}` }).end();
      } else say(200, { says: 'please log in' });
    });
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    base: `http://127.0.0.1:${port}`,
    /** @param {string} id */
    saw: (id) => seen.get(id) ?? { requests: 0, charges: 0, keys: new Set(), bodies: new Set(), aborted: 0 },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
