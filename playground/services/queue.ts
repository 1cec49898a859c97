/** A queue that delivers at least once: if a message is not reported as done in time, it delivers that message again. */
import { listen } from './common.ts';

/** How long a consumer keeps a message before the queue delivers it again. */
const VISIBLE_AFTER_MS = 1000;
/** Of one in this many messages, the first report that it is done gets lost, so that the queue delivers it again. */
const REPORT_LOST_EVERY = 10;

export interface Queue {
  readonly url: string;
  /** The number of messages that are not done. */
  open(): number;
  /** The process ids of the consumers that have a message at the moment. */
  consumers(): ReadonlySet<number>;
  readonly counts: { messages: number; deliveries: number };
}

export async function startQueue(): Promise<Queue> {
  const messages = new Map<string, { readonly body: object; visibleAt: number; consumer?: number; reportLost: boolean }>();
  const keys = new Set<string>();
  const counts = { messages: 0, deliveries: 0 };
  const port = await listen({
    'POST /messages': async (body, key) => {
      if (key === undefined) return { status: 400 };
      if (!keys.has(key)) messages.set(`m-${counts.messages}`, { body, visibleAt: 0, reportLost: counts.messages++ % REPORT_LOST_EVERY === 0 });
      keys.add(key);
      return { status: 202 };
    },
    'POST /take': async ({ consumer }) => {
      const now = Date.now();
      const [found] = [...messages].filter(([, { visibleAt }]) => visibleAt <= now);
      if (!found) return { status: 204 };
      const [id, message] = found;
      message.visibleAt = now + VISIBLE_AFTER_MS;
      message.consumer = Number(consumer);
      counts.deliveries++;
      return { status: 200, body: { id, ...message.body } };
    },
    'POST /done': async ({ id }) => {
      const message = messages.get(String(id));
      if (!message) return { status: 404 };
      if (message.reportLost) message.reportLost = false;
      else messages.delete(String(id));
      return { status: 200 };
    },
  });
  const consumers = () => new Set([...messages.values()].flatMap(({ visibleAt, consumer }) => (consumer && visibleAt > Date.now() ? [consumer] : [])));
  return { url: `http://127.0.0.1:${port}`, open: () => messages.size, consumers, counts };
}
