/** What HTTP says of methods (RFC 9110, section 9.2.2). */

/** Whether sending it twice has the same effect as sending it once. False for methods that HTTP does not define. */
export const isIdempotent = (method: string): boolean => isSafe(method) || /^(PUT|DELETE)$/.test(method);

/** Whether the method only reads. */
export const isSafe = (method: string): boolean => /^(GET|HEAD|OPTIONS)$/.test(method);

/** Whether a second copy could have a second effect, so that it needs a key. */
export const needsKey = (method: string): boolean => method === 'POST' || method === 'PATCH';
