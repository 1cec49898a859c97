/** Ends connections that are open but silent, for example because a load balancer or a NAT in between has forgotten them. */

/** Members of clients with a single connection, by which they can be made to reconnect. */
interface OneConnection {
  /** node-redis (`destroy` since 5, `disconnect` in 4). */
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

/** Makes the client reconnect. Nothing can be done for a cluster, a pool or a client of a sentinel, which hide their connections. */
function connectAnew(client: OneConnection): void {
  if (client.isReady && client.unref) {
    // If the app has closed the client, only end the requests that still wait for answers; do not connect again.
    const { isOpen } = client;
    void (client.destroy ?? client.disconnect)?.call(client);
    if (isOpen) client.connect?.().catch(() => {});
  } else if (client.status === 'ready') client.stream?.destroy();
}

/** Gives a function that runs requests of a client. If none of them gets any answer for `ms`, it makes the client reconnect. */
export function notSilent(client: object, ms: number): <T>(ask: () => Promise<T>) => Promise<T> {
  let heardAt = Number.NEGATIVE_INFINITY;
  return async (ask) => {
    const askedAt = performance.now();
    const timer = setTimeout(() => {
      if (heardAt >= askedAt) return;
      // Counts as an answer, so that other requests that wait on the same silent connection do not make the client reconnect again.
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
