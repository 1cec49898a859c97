/** Keys in order, at a cost per key that does not grow with their number. */

/** Compared part by part; a key that another one begins with comes before it. */
export type Key = readonly (string | number)[];

export interface OrderedKeys {
  add(key: Key): void;
  delete(key: Key): void;
  /** All keys from this one on. Not to be changed meanwhile. */
  from(key: Key): Iterable<Key>;
}

/** Small enough to be shifted in no time, large enough that a million keys make few thousand chunks. */
const CHUNK_KEYS_MAX = 512;

function compare(a: Key, b: Key): number {
  for (const [i, part] of a.entries()) {
    const other = b[i];
    if (other === undefined || part > other) return 1;
    if (part < other) return -1;
  }
  return a.length - b.length;
}

/** The first of `count` indexes for which `test` holds, else `count`. */
function lowest(count: number, test: (index: number) => boolean): number {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** An ordered set: sorted chunks in a sorted list, so that an insertion shifts one chunk, not everything. */
export function orderedKeys(): OrderedKeys {
  // There is always a chunk, and none but the only one is empty.
  const chunks: Key[][] = [[]];
  const find = (key: Key) => {
    const at = lowest(chunks.length - 1, (i) => compare(chunks[i]?.at(-1) as Key, key) >= 0);
    const chunk = chunks[at] as Key[];
    return { at, chunk, i: lowest(chunk.length, (i) => compare(chunk[i] as Key, key) >= 0) };
  };
  return {
    add(key) {
      const { at, chunk, i } = find(key);
      chunk.splice(i, 0, key);
      if (chunk.length > CHUNK_KEYS_MAX) chunks.splice(at + 1, 0, chunk.splice(CHUNK_KEYS_MAX / 2));
    },
    delete(key) {
      const { at, chunk, i } = find(key);
      if (!chunk[i] || compare(chunk[i], key)) return;
      chunk.splice(i, 1);
      if (!chunk.length && chunks.length > 1) chunks.splice(at, 1);
    },
    *from(key) {
      const { at, i } = find(key);
      yield* chunks[at]?.slice(i) ?? [];
      for (const chunk of chunks.slice(at + 1)) yield* chunk;
    },
  };
}
