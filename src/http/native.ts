/** Functions for what React Native and pages in Node do differently from browsers. */

/** UTF-8 as text; the engines of React Native 0.81 to 0.87 have no TextDecoder. */
export function textOf(data: string | ArrayBuffer | Uint8Array): string {
  if (typeof data === 'string') return data;
  if (typeof TextDecoder === 'function') return new TextDecoder().decode(data);
  const bytes = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
  try {
    return decodeURIComponent(Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''));
  } catch {
    // Not UTF-8: at least its ASCII can be read.
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  }
}

/** The content of a Blob. Not each platform's own Response knows the Blob of another implementation, and React Native's Blob can't be read otherwise. */
export const bufferOf = (blob: Blob): Promise<ArrayBuffer> => (blob.arrayBuffer ? blob.arrayBuffer() : new Response(blob).arrayBuffer());

/** The class of a body, by its tag, or by its methods, because the classes of React Native and of happy-dom have no tag. */
export function kindOf(body: unknown): string {
  const tag = Object.prototype.toString.call(body).slice(8, -1);
  if (tag !== 'Object') return tag;
  const can = (name: string): boolean => typeof (body as Record<string, unknown>)[name] === 'function';
  if (can('slice') && 'size' in (body as object)) return 'Blob';
  if (can('append') && can('sort')) return 'URLSearchParams';
  return can('getParts') || can('getAll') ? 'FormData' : tag;
}
