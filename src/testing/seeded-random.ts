/**
 * A repeatable replacement for `Math.random`: the same seed gives the same numbers, so that a failing test can be repeated.
 *
 * mulberry32 by Tommy Ettinger, in the public-domain JavaScript form of https://github.com/bryc/code (jshash/PRNGs.md).
 * pure-rand would do as well, but a dependency for every user is too much for six lines of test support. Do not use this for keys.
 *
 * @example
 * server.faults.rate('lose-response', 0.2, seededRandom(42));
 */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
