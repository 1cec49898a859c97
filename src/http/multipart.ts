/**
 * A form as bytes, where the platform can't read its own: WebKit refuses to, once a file is in it. A library for it
 * (form-data-encoder) would cost each page 1.8 kB for a case that only WebKit has.
 */

const crlf = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');
const quoted = (text: string): string => `"${text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')}"`;

/** HTML standard, "multipart/form-data encoding algorithm". */
export function multipart(form: FormData, boundary: string): Promise<ArrayBuffer> {
  const parts: BlobPart[] = [];
  for (const [name, value] of form.entries()) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(crlf(name))}`;
    if (typeof value === 'string') parts.push(`${head}\r\n\r\n${crlf(value)}\r\n`);
    else parts.push(`${head}; filename=${quoted(value.name)}\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`, value, '\r\n');
  }
  return new Blob([...parts, `--${boundary}--\r\n`]).arrayBuffer();
}
