/** Pages that tests make in Node, whose fetch may be the page's own. */

/**
 * A copy that breaks off when its original does. happy-dom makes one by a pipe, which doesn't tell of that, and would be read
 * for ever; the original's stream is told, and left unlocked. Elsewhere making a copy locks it, and the copy is told.
 */
function copyOf(response: Response, clone: Response['clone']): Response {
  const { body } = response;
  const copy = clone.call(response);
  if (!body || !copy.body || body.locked || body === response.body) return copy;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const broken = new AbortController();
  void body.getReader().closed.catch((reason: unknown) => broken.abort(reason));
  void copy.body.pipeTo(writable, { signal: broken.signal }).catch(() => {});
  return Object.defineProperty(copy, 'body', { value: readable });
}

/** What a fetch of the caller's gives may be anything. */
export function withCopies(response: Response): Response {
  const clone: unknown = response?.clone;
  if (typeof clone !== 'function' || !Object.isExtensible(response)) return response;
  return Object.defineProperty(response, 'clone', { configurable: true, value: () => copyOf(response, clone as Response['clone']) });
}
