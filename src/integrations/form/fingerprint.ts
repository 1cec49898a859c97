/** The fingerprint of a submit: its fields, without those that differ with every rendering of a page. */
import { KEY_FIELD } from './key.js';

const hex = (bytes: ArrayBuffer): string => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The digest of a file's content. Pages on http:// have no Web Crypto, so there it is the content itself, which the client digests. */
async function printOf(file: File): Promise<string> {
  const bytes = await file.arrayBuffer();
  const { subtle } = crypto as { readonly subtle?: SubtleCrypto };
  return subtle ? hex(await subtle.digest('SHA-256', bytes)) : Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
}

/** The fields that count, sorted by name; fields of the same name keep their order. The key does not count, nor do the names in `ignored`. */
export const countedOf = (fields: readonly [string, FormDataEntryValue][], ignored: readonly string[]): readonly [string, FormDataEntryValue][] =>
  fields.filter(([name]) => name !== KEY_FIELD && !ignored.includes(name)).sort(([one], [other]) => (one < other ? -1 : Number(one > other)));

/** The fields as texts. `ignored`: names that do not count. */
export async function fingerprintOf(fields: FormData, multipart: boolean, ignored: readonly string[]): Promise<readonly string[]> {
  const texts = countedOf([...fields], ignored).map(async ([name, value]) => {
    if (typeof value === 'string') return JSON.stringify([name, value]);
    return JSON.stringify(multipart ? [name, value.name, value.type, await printOf(value)] : [name, value.name]);
  });
  return Promise.all(texts);
}
