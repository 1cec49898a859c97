/**
 * A form as bytes. The platform's own encoding won't do: it has a new random boundary each time, and WebKit can't read back a form
 * with a file. A library for this (form-data-encoder) would cost each page 1.8 kB.
 */
import type { Digest } from '../ports.js';

const encoder = new TextEncoder();
const crlf = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');
const quoted = (text: string): string => `"${text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')}"`;

/** The fields of a form. */
export type Fields = Iterable<readonly [string, FormDataEntryValue]>;

/** HTML standard, "multipart/form-data encoding algorithm". */
export function multipart(form: Fields, boundary: string): Promise<ArrayBuffer> {
  const parts: BlobPart[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(crlf(name))}`;
    if (typeof value === 'string') parts.push(`${head}\r\n\r\n${crlf(value)}\r\n`);
    else parts.push(`${head}; filename=${quoted(value.name)}\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`, value, '\r\n');
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
