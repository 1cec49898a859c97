/** Bytes and text, with functions that every platform has: React Native can't make a Blob from bytes, and its Response reads bytes as Latin-1 (`native.ts`). */

/** Whether the first byte that is not white space begins a JSON object or array. */
const beginsJson = (bytes: Uint8Array | undefined): boolean => /^(123|91)$/.test(String(bytes?.find((byte) => byte > 32)));

/** The same for a body of text or bytes. */
export const looksJson = (body: string | Uint8Array): boolean => (typeof body === 'string' ? /^\s*[[{]/.test(body) : beginsJson(body));

/** The bytes of a buffer, or of a view of any type. Throws on anything else, such as text: a DataView takes only buffers. */
export const viewOf = (data: Pick<ArrayBuffer, 'byteLength'> & Partial<ArrayBufferView<ArrayBuffer>>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(data.buffer ?? new DataView(data as ArrayBuffer).buffer, data.byteOffset, data.byteLength);

/**
 * Reads a stream to its end. If the stream is longer than `limit` bytes, or has not ended when `over` resolves, cancels the rest and gives
 * `undefined`. A stream that begins like JSON is read to its end in spite of `over`.
 */
export async function readUpTo(stream: ReadableStream<Uint8Array>, limit: number, over?: Promise<void>): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  const next = (): Promise<{ done?: boolean; value?: Uint8Array | undefined }> => {
    const read = reader.read();
    return over ? Promise.race([read, over.then(() => (beginsJson(chunks[0]) ? read : {}))]) : read;
  };
  for (let chunk = await next(); !chunk.done; chunk = await next()) {
    const bytes = chunk.value && viewOf(chunk.value as Uint8Array<ArrayBuffer>);
    size += bytes?.length ?? 0;
    if (!bytes || size > limit) {
      void reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(bytes);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The inverse of {@link base64Of}. */
export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

/** The text parsed as JSON; `undefined` if it is not JSON. `trim` removes a byte order mark, which React Native's `text()` keeps. */
export function jsonOf(text: unknown): unknown {
  try {
    return JSON.parse((text as string).trim());
  } catch {
    return undefined;
  }
}
