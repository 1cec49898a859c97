/** Built-ins that Hermes 0.12 lacks, but the Hermes of every supported React Native has. */
class Encoder {
  encode(text = ''): Uint8Array {
    const bytes = unescape(encodeURIComponent(text));
    return Uint8Array.from({ length: bytes.length }, (_, n) => bytes.charCodeAt(n));
  }
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Decodes base64 into a string with one character per byte. */
function atob(text: string): string {
  const bits = Array.from(text.replace(/[=\s]/g, ''), (digit) => DIGITS.indexOf(digit).toString(2).padStart(6, '0')).join('');
  return Array.from({ length: Math.floor(bits.length / 8) }, (_, n) => String.fromCharCode(Number.parseInt(bits.slice(n * 8, n * 8 + 8), 2))).join('');
}
function btoa(text: string): string {
  const bits = Array.from(text, (byte) => byte.charCodeAt(0).toString(2).padStart(8, '0')).join('');
  const digits = Array.from({ length: Math.ceil(bits.length / 6) }, (_, n) => DIGITS[Number.parseInt(bits.slice(n * 6, n * 6 + 6).padEnd(6, '0'), 2)]);
  return digits.join('').padEnd(Math.ceil(digits.length / 4) * 4, '=');
}
Object.assign(globalThis, { TextEncoder: Encoder, atob, btoa });

Object.defineProperty(Array.prototype, 'at', {
  value(this: unknown[], index: number) {
    return this[index < 0 ? this.length + index : index];
  },
});

export {};
