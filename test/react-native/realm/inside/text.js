/** TextEncoder and TextDecoder, which a bare context lacks. Node does the work, on this realm's buffers. */

/** @param {(text: string) => number[]} encode @param {(bytes: number[], label: string, fatal: boolean) => string} decode */
(encode, decode) => {
  class TextEncoder {
    encoding = 'utf-8';
    encode(text = '') {
      return Uint8Array.from(encode(String(text)));
    }
  }
  class TextDecoder {
    constructor(label = 'utf-8', { fatal = false } = {}) {
      this.encoding = label;
      this.fatal = fatal;
    }
    /** @param {ArrayBuffer | ArrayBufferView} [given] */
    decode(given = new ArrayBuffer(0)) {
      const bytes = ArrayBuffer.isView(given) ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength) : new Uint8Array(given);
      return decode(Array.from(bytes), this.encoding, this.fatal);
    }
  }
  Object.assign(globalThis, { TextEncoder, TextDecoder });
};
