/** Clients that were made from another one. */

/** When the set has at least this many clients, those that were garbage-collected are removed from it. */
const CLEAN_AT_MIN = 64;

/** Clients made by `extend`. Held weakly: a server may make one for each request, and forget it. */
export class Extensions<C extends object> {
  readonly #clients = new Set<WeakRef<C>>();
  #cleanAt = CLEAN_AT_MIN;

  add(client: C): void {
    // A Cloudflare Worker with a compatibility date before 2025 has no WeakRef. There `close` does not reach extended clients; strong references
    // would keep one client for each request.
    if (typeof WeakRef === 'undefined') return;
    this.#clients.add(new WeakRef(client));
    if (this.#clients.size < this.#cleanAt) return;
    for (const ref of this.#clients) if (!ref.deref()) this.#clients.delete(ref);
    this.#cleanAt = Math.max(CLEAN_AT_MIN, this.#clients.size * 2);
  }

  get living(): C[] {
    return [...this.#clients].flatMap((ref) => ref.deref() ?? []);
  }
}

/** The client and all clients that were extended from it, directly or not, and are still in use. */
export const familyOf = <C extends { readonly extensions?: Extensions<C> }>(client: C): readonly C[] => [
  client,
  ...(client.extensions?.living ?? []).flatMap(familyOf<C>),
];
