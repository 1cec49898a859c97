/** All of `oncefetch`, with a `createOnce` that can do everything. */
export { createOnce } from '../node.js';
export * from './index.js';
