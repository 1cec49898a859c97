/** A connection that is open, and from which nothing comes any more: a load balancer or a NAT between has forgotten it. */

/** What clients with one connection have, by which it can be made anew. */
interface OneConnection {
  /** node-redis: 5 and later, and 4. */
  readonly isReady?: boolean;
  readonly isOpen?: boolean;
  destroy?(): unknown;
  disconnect?(): unknown;
  connect?(): Promise<unknown>;
  readonly unref?: unknown;
  /** ioredis */
  readonly status?: string;
  readonly stream?: { destroy(): unknown };
}

/** A cluster, a pool and a sentinel's client keep theirs to themselves. */
function connectAnew(client: OneConnection): void {
  if (client.isReady && client.unref) {
    // Its owner may have closed it: then it waits for answers that never come.
    const { isOpen } = client;
    void (client.destroy ?? client.disconnect)?.call(client);
    if (isOpen) client.connect?.().catch(() => {});
  } else if (client.status === 'ready') client.stream?.destroy();
}

/** Does what is asked of the client. Where nothing at all is answered for `ms`, the connection is given up. */
export function notSilent(client: object, ms: number): <T>(ask: () => Promise<T>) => Promise<T> {
  let heardAt = Number.NEGATIVE_INFINITY;
  return async (ask) => {
    const askedAt = performance.now();
    const timer = setTimeout(() => {
      if (heardAt >= askedAt) return;
      // Others that wait for the same silence find it ended.
      heardAt = performance.now();
      connectAnew(client as OneConnection);
    }, ms);
    try {
      return await ask();
    } finally {
      clearTimeout(timer);
      heardAt = performance.now();
    }
  };
}
