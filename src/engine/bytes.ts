/** Bytes and text, by what every platform has: React Native makes no Blob of bytes, and its Response takes them for Latin-1. */

export function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** UTF-8 as text; the engines of React Native 0.81 to 0.87 have no TextDecoder. */
export function textOf(data: string | ArrayBuffer | Uint8Array): string {
  if (typeof data === 'string') return data;
  if (typeof TextDecoder === 'function') return new TextDecoder().decode(data);
  const bytes = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
  return decodeURIComponent(Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''));
}
