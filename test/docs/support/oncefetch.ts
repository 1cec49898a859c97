/** What a snippet gets for `import … from 'oncefetch'`: the real package, except that `createOnce` is that of the stage. */
export * from '../../../src/entries/index.js';
export { createOnce } from './stage.js';
