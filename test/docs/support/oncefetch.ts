/** What a snippet gets for `import … from 'oncefetch'`: the real thing, but for the place that `createOnce` finds itself in. */
export * from '../../../src/entries/index.js';
export { createOnce } from './stage.js';
