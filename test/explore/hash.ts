/** Hashes of states: 53 bits, so that a million states meet by chance once in twenty thousand explorations. */

/** Two multiplicative hashes of 32 bits (after cyrb53, bryc, public domain), which go on from where they were. */
export class Rolling {
  #a = 0xdeadbeef;
  #b = 0x41c6ce57;

  add(text: string): this {
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 2654435761);
      b = Math.imul(b ^ unit, 1597334677);
    }
    // Between two texts, so that "ab", "c" is not "a", "bc".
    this.#a = Math.imul(a ^ 0x1f1f, 2654435761);
    this.#b = Math.imul(b ^ 0x2e2e, 1597334677);
    return this;
  }

  get value(): number {
    let a = Math.imul(this.#a ^ (this.#a >>> 16), 2246822507) ^ Math.imul(this.#b ^ (this.#b >>> 13), 3266489909);
    let b = Math.imul(this.#b ^ (this.#b >>> 16), 2246822507) ^ Math.imul(this.#a ^ (this.#a >>> 13), 3266489909);
    a ^= a >>> 16;
    b ^= b >>> 16;
    return 4294967296 * (2097151 & b) + (a >>> 0);
  }
}

export const hashOf = (text: string): number => new Rolling().add(text).value;

/** Anything that a port hands over, as text: equal for what a context can't tell apart. */
export function textOfValue(value: unknown): string {
  if (typeof value === 'function') return 'granted';
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (typeof value === 'object' && value !== null && 'status' in value && 'headers' in value) {
    const { status, headers } = value as { status: number; headers: Headers };
    return `${status} ${[...headers].join()}`;
  }
  return jsonOf(value);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined';
  } catch {
    // A function for each member takes five times as long.
    return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));
  }
}

/** Hashes in one array: millions of numbers, each an object of its own in a Set, would keep the garbage collector busy. */
export class HashSet {
  #slots = new Float64Array(1 << 10);
  #size = 0;

  has(hash: number): boolean {
    return this.#slots[this.#slotOf(hash)] !== 0;
  }

  add(hash: number): void {
    const slot = this.#slotOf(hash);
    if (this.#slots[slot] !== 0) return;
    this.#slots[slot] = hash || 1;
    if (++this.#size * 2 > this.#slots.length) this.#grow();
  }

  /** Where it is, or would be: the first slot from its own on that is its or empty, which is 0. */
  #slotOf(hash: number): number {
    const last = this.#slots.length - 1;
    let slot = (hash || 1) & last;
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== (hash || 1)) slot = (slot + 1) & last;
    return slot;
  }

  #grow(): void {
    const hashes = this.#slots;
    this.#slots = new Float64Array(hashes.length * 2);
    for (const hash of hashes) if (hash !== 0) this.#slots[this.#slotOf(hash)] = hash;
  }
}
