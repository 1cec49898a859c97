/** Replaces `native.ts` in production pages; React Native has its own build. */
import type * as full from './native.js';

export const textOf: typeof full.textOf = (data) => (typeof data === 'string' ? data : new TextDecoder().decode(data));

export const bufferOf: typeof full.bufferOf = (blob) => blob.arrayBuffer();

export const kindOf: typeof full.kindOf = (body) => Object.prototype.toString.call(body).slice(8, -1);
