/**
 * A form as bytes. The platform's own encoding won't do: it has a new random boundary each time, and WebKit can't read back a form
 * with a file. A library for this (form-data-encoder) would cost each page 1.8 kB.
 */
import type { Digest } from '../ports.js';
import { bufferOf } from './native.js';

const encoder = new TextEncoder();
const crlf = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');
const quoted = (text: string): string => `"${text.replace(/[\r\n"]/g, encodeURIComponent)}"`;

/** The fields of a form. */
export type Fields = Iterable<readonly [string, FormDataEntryValue]>;

/** HTML standard, "multipart/form-data encoding algorithm". */
export async function multipart(form: Fields, boundary: string): Promise<ArrayBuffer> {
  const parts: BlobPart[] = [];
  for (const [name, value] of form) {
    const isText = typeof value === 'string';
    const more = isText ? '' : `; filename=${quoted(value.name)}\r\nContent-Type: ${value.type || 'application/octet-stream'}`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(crlf(name))}${more}\r\n\r\n`;
    // Add the content of a file, not the file itself: the platform's Blob would convert a file of another implementation to text.
    parts.push(head, isText ? crlf(value) : await bufferOf(value), '\r\n');
  }
  return new Blob([...parts, `--${boundary}--\r\n`]).arrayBuffer();
}

/** Replaces, in place, the random boundary (`drawn`) that the platform gave a Request by one computed from the content. Returns the new one. */
export async function steadyBoundary(bytes: Uint8Array<ArrayBuffer>, drawn: string, digest: Digest): Promise<string> {
  const old = encoder.encode(drawn);
  const places: number[] = [];
  for (let at = bytes.indexOf(old[0] as number); at >= 0; at = bytes.indexOf(old[0] as number, at + 1))
    if (old.every((byte, index) => bytes[at + index] === byte)) {
      places.push(at);
      bytes.fill(0, at, at + old.length);
    }
  const boundary = (await digest(bytes)).slice(0, old.length).padEnd(old.length, '-');
  for (const at of places) bytes.set(encoder.encode(boundary), at);
  return boundary;
}
