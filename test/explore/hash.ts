/** Hashes of states. They have 53 bits, so two of a million states collide in about one of twenty thousand explorations. */

/** Two multiplicative 32-bit hashes (after cyrb53, bryc, public domain) that can be continued with more text. */
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
    // Separates two texts, so that "ab", "c" differs from "a", "bc".
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

/** A value that a port delivers, as text. Values that a context cannot tell apart have equal texts. */
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
    // A replacer function takes five times as long, so it is the exception.
    return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));
  }
}

/** A set of hashes in one array. In a `Set`, millions of numbers would each be an object, and would keep the garbage collector busy. */
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

  /** The slot of a hash: from its own slot on, the first one that holds it or is empty (0). */
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
