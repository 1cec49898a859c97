/** All of `oncefetch`, with a `createOnce` that has every feature. */
export { createOnce } from '../node.js';
export * from './index.js';
