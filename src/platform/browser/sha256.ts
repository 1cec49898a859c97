/** Loaded by itself, and only where Web Crypto is missing. */
export { sha256 } from '@noble/hashes/sha2.js';
