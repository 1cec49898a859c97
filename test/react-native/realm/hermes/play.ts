/** Plays all scenarios in a bare Hermes, one after another, and prints the result of each as a line of JSON. */
import type { Play } from '../scenarios';
import { createShop } from '../shop-rules';

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
/** How the network answers a request of the host in `before.ts`. */
interface Wire {
  respond(status: number, headers: object, text: string, url: string): void;
  fail(message: string): void;
}
interface World {
  readonly scenarios: Readonly<Record<string, Play>>;
  readonly print: (line: string) => void;
  __launch: number;
  __disks: Readonly<Record<string, object>>;
  /** Returns the function that the host calls when the app aborts the request. */
  __network: (request: Request, wire: Wire) => () => void;
}
const world = globalThis as unknown as World;

const NETWORK_MS = 2;
const TYPE = { 'content-type': 'application/json; charset=utf-8' };
const LOST = 'The network connection was lost.';
const shop = createShop();

world.__network = ({ url, headers, body }, { respond, fail }) => {
  const [, host = '', path = '', id = ''] = /^http:\/\/([^/]+)\/([^/]+)\/(.+)$/.exec(url) ?? [];
  const later = (work: () => void, ms = NETWORK_MS) => void setTimeout(work, ms);
  if (host.endsWith(':1')) {
    later(() => fail('Could not connect to the server.'));
    return () => {};
  }
  const key = Object.entries(headers).find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1] ?? '';
  const deed = shop.answer({ path, id, key, body });
  if (deed.does === 'say') later(() => respond(deed.status, { ...TYPE, ...deed.headers }, JSON.stringify(deed.content), url), NETWORK_MS + deed.afterMs);
  if (deed.does === 'drop' || deed.does === 'cut') later(() => fail(LOST));
  if (deed.does === 'redirect') {
    // Follows the redirect as the systems do, without telling the app.
    const page = shop.answer({ path: 'page', id, key, body: '' });
    if (page.does === 'say') later(() => respond(page.status, TYPE, JSON.stringify(page.content), `http://${host}${deed.to}`));
  }
  return () => void shop.saw(id).aborted++;
};

const pairs = new Map<string, string>();
world.__launch = 1;
world.__disks = {
  AsyncStorage: {
    getItem: async (key: string) => pairs.get(key) ?? null,
    setItem: async (key: string, value: string) => void pairs.set(key, value),
    removeItem: async (key: string) => void pairs.delete(key),
    getAllKeys: async () => Array.from(pairs.keys()),
  },
};

async function playAll(): Promise<void> {
  for (const [scenario, play] of Object.entries(world.scenarios)) {
    const id = scenario.split(' ').join('-');
    const saw = await play({ base: 'http://shop.test', id }).catch((error: Error) => ({ threw: `${error.name}: ${error.message}` }));
    const { keys, bodies, ...counts } = shop.saw(id);
    world.print(JSON.stringify({ scenario, saw, server: { ...counts, keys: Array.from(keys), bodies: Array.from(bodies) } }));
  }
}
void playAll();
