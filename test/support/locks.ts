/** Web Locks between tabs, in memory. The locks of a dead tab are released at once; a frozen tab keeps its locks. */
interface Waiter {
  readonly owner: object;
  readonly grant: () => void;
}

export class LockTable {
  readonly #held = new Map<string, object>();
  readonly #queues = new Map<string, Waiter[]>();

  /** The tab that holds the lock `name` now. */
  holder(name: string): object | undefined {
    return this.#held.get(name);
  }

  get names(): string[] {
    return [...this.#held.keys()];
  }

  acquire(owner: object, name: string, signal?: AbortSignal): Promise<(() => void) | undefined> {
    if (!this.#held.has(name)) return Promise.resolve(this.#take(owner, name));
    if (!signal) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const refuse = (): void => {
        this.#drop(name, waiter);
        reject(new DOMException('The request was aborted', 'AbortError'));
      };
      const waiter: Waiter = {
        owner,
        grant: () => {
          signal.removeEventListener('abort', refuse);
          resolve(this.#take(owner, name));
        },
      };
      if (signal.aborted) return refuse();
      signal.addEventListener('abort', refuse, { once: true });
      this.#queues.set(name, [...(this.#queues.get(name) ?? []), waiter]);
    });
  }

  /** Releases all locks of a dead tab, and removes it from all queues. */
  die(owner: object): void {
    for (const [name, queue] of this.#queues)
      this.#queues.set(
        name,
        queue.filter((waiter) => waiter.owner !== owner),
      );
    for (const [name, holder] of [...this.#held]) if (holder === owner) this.#free(name);
  }

  #take(owner: object, name: string): () => void {
    this.#held.set(name, owner);
    let released = false;
    return () => {
      if (!released && this.#held.get(name) === owner) this.#free(name);
      released = true;
    };
  }

  #free(name: string): void {
    this.#held.delete(name);
    this.#queues.get(name)?.shift()?.grant();
  }

  #drop(name: string, gone: Waiter): void {
    this.#queues.set(
      name,
      (this.#queues.get(name) ?? []).filter((waiter) => waiter !== gone),
    );
  }
}
