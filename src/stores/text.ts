/** Records as text, and index entries as text that every database sorts alike: for stores that can't hold objects or UTF-16. */
import type { ScanPage, ScanQuery, Stored } from '../ports.js';
import { isStored, pageOf } from './base.js';

/** The only member of an object that represents what JSON can't: `{"~":["bytes","AQID"]}`. */
const TAG = '~';

/**
 * A record as JSON. Bytes, infinite numbers and objects with a member `~` are tagged, so that they come back as they were. Any other
 * record is plain JSON, so that people can read it in the database.
 */
export function textOf(record: Stored): string {
  const text = JSON.stringify(record);
  return MAY_NEED_TAGS.some((trace) => text.includes(trace)) && needsTags(record) ? JSON.stringify(tagged(record)) : text;
}

/** Signs in the JSON text that a record may need tags: how an infinite number, a member `~`, bytes and empty bytes look there. Few records have any. */
const MAY_NEED_TAGS = ['null', `"${TAG}"`, '{"0":', '{}'];

/** The inverse of {@link textOf}. Text that is not JSON comes back as it is: the engine treats it as damaged and never overwrites it. */
export function recordOf(text: unknown): unknown {
  if (typeof text !== 'string') return text ?? undefined;
  try {
    const record = JSON.parse(text) as unknown;
    return text.includes(`"${TAG}"`) ? untagged(record) : record;
  } catch {
    return text;
  }
}

function needsTags(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || !value) return false;
  if (ArrayBuffer.isView(value) || Object.hasOwn(value, TAG)) return true;
  for (const name in value) if (needsTags((value as Record<string, unknown>)[name])) return true;
  return false;
}

const mapped = (value: object, change: (value: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map(change) : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)]));

function tagged(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : { [TAG]: ['number', String(value)] };
  if (typeof value !== 'object' || !value) return value;
  if (ArrayBuffer.isView(value)) return { [TAG]: ['bytes', base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))] };
  const plain = mapped(value, tagged);
  return Object.hasOwn(value, TAG) ? { [TAG]: ['object', plain] } : plain;
}

function untagged(value: unknown): unknown {
  if (typeof value !== 'object' || !value) return value;
  const [kind, content] = Object.hasOwn(value, TAG) ? (value as { [TAG]: [string, unknown] })[TAG] : [];
  if (kind === 'number') return Number(content);
  if (kind === 'bytes') return Uint8Array.from(atob(String(content)), (one) => one.charCodeAt(0));
  return mapped(kind === 'object' ? (content as object) : value, untagged);
}

/** How many bytes are converted in one call, in which each is an argument. */
const BYTES_AT_ONCE = 8192;

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) binary += String.fromCharCode(...bytes.subarray(at, at + BYTES_AT_ONCE));
  return btoa(binary);
}

/** The same JSON in ASCII, for databases whose encoding lacks some characters, or gives back others for them. */
export const asciiOf = (json: string): string => json.replace(/[^\0-~]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`);

/**
 * Encodes text as printable ASCII and U+001F. The encoded bytes sort as the UTF-16 units of the text do, and the encoding of a prefix is a
 * prefix of the encoding. Databases may sort by UTF-8 bytes or by the rules of a language, and may refuse or replace U+0000 and lone
 * surrogates; encoded text they all treat alike. Names of operations, which are JSON, stay readable.
 */
export const ordered = (text: string): string =>
  text.replace(/[^ -}]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x20 ? `\u001f${hex(code, 2)}` : `~${hex(code, 4)}`;
  });

/** The inverse of {@link ordered}. */
export const unordered = (text: string): string =>
  text.replace(/[^ -~](..)|~(....)/g, (_, low?: string, high?: string) => String.fromCharCode(Number.parseInt(low ?? high ?? '', 16)));

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

/** A record as found, and the label and id of its index entry, both {@link ordered}. */
export interface Found {
  readonly label: string;
  readonly id: string;
  readonly record: unknown;
}

/**
 * A page of `found`, which has one entry more than the limit if there is a next page. A record that does not match its index entry is
 * damaged or was changed meanwhile: it is left out, but the next page begins after its entry all the same.
 */
export function pageOfPlaces(found: readonly Found[], query: Extract<ScanQuery, { ns: string }>): ScanPage {
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  const { records } = pageOf(page.map(({ record }) => record).filter(isStored), query);
  return last && found.length > query.limit ? { records, next: JSON.stringify([unordered(last.label), unordered(last.id)]) } : { records };
}

/** How many times a scan for due records reads on if it finds damaged ones, which stay. */
const LOOKS_MAX = 10;

/** The records that are due. `look` gives `count` of them from `offset`, the oldest first. */
export async function dueOf(
  look: (offset: number, count: number) => readonly unknown[] | Promise<readonly unknown[]>,
  query: Extract<ScanQuery, { before: number }>,
): Promise<ScanPage> {
  const { limit } = query;
  const due: Stored[] = [];
  for (let looks = 0, offset = 0; looks < LOOKS_MAX && due.length < limit; looks++) {
    const found = await look(offset, limit);
    due.push(...found.filter(isStored));
    if (found.length < limit) break;
    offset += found.length;
  }
  return pageOf(due, query);
}

/** The bounds of a page, {@link ordered}: it begins after `label` and `id`, and ends before the label `end`. */
export function rangeOf({ prefix = '', after }: Extract<ScanQuery, { ns: string }>): { readonly label: string; readonly id: string; readonly end: string } {
  const start = ordered(prefix);
  const [label, id] = (after ? (JSON.parse(after) as string[]) : []).map(ordered);
  // No id is empty, so an empty `id` is before the first record whose label is the prefix itself.
  return { ...(label !== undefined && id !== undefined && label >= start ? { label, id } : { label: start, id: '' }), end: `${start}\u007f` };
}
