/** For tests that simulate a page in Node, whose fetch may be that of the simulated page. */

/**
 * A copy of a response that fails when its original does. happy-dom copies by a pipe, which does not pass failures on, so the copy would
 * be read for ever. There the original's stream is not locked and tells of the failure. In other implementations, copying locks
 * the original, and the copy fails by itself.
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

/** Gives a response the `clone` above. An app's own fetch may return anything, so whatever is not a response stays as it is. */
export function withCopies(response: Response): Response {
  const clone: unknown = response?.clone;
  if (typeof clone !== 'function' || !Object.isExtensible(response)) return response;
  return Object.defineProperty(response, 'clone', { configurable: true, value: () => copyOf(response, clone as Response['clone']) });
}
