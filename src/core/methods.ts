/** What HTTP says of methods (RFC 9110, section 9.2.2). */

/** Whether sending it twice has the effect of sending it once. Of a method that HTTP does not define, nobody knows. */
export const isIdempotent = (method: string): boolean => isSafe(method) || /^(PUT|DELETE)$/.test(method);

/** Whether it only reads. */
export const isSafe = (method: string): boolean => /^(GET|HEAD|OPTIONS)$/.test(method);

/** Whether a second copy could have a second effect, so that it needs a key. */
export const needsKey = (method: string): boolean => method === 'POST' || method === 'PATCH';
