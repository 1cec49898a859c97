export { type DenoKvAtomicLike, type DenoKvEntryLike, type DenoKvKey, type DenoKvLike, type DenoKvStoreOptions, denoKvStore } from '../stores/deno/deno-kv.js';
