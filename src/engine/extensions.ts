/** Clients that were made from another one. */
/** From this many clients on, those that are gone are removed. */
const LOOK_AT_MIN = 64;

/** Clients made by `extend`. Held weakly: a server may make one for each request, and forget it. */
export class Extensions<C extends object> {
  readonly #clients = new Set<WeakRef<C>>();
  #lookAt = LOOK_AT_MIN;

  add(client: C): void {
    // A Worker under rules of before 2025 has none. There `close` does not reach it, and a strong reference would keep one for each request.
    if (typeof WeakRef === 'undefined') return;
    this.#clients.add(new WeakRef(client));
    if (this.#clients.size < this.#lookAt) return;
    for (const ref of this.#clients) if (!ref.deref()) this.#clients.delete(ref);
    this.#lookAt = Math.max(LOOK_AT_MIN, this.#clients.size * 2);
  }

  get living(): C[] {
    return [...this.#clients].flatMap((ref) => ref.deref() ?? []);
  }
}
