/** How a record is stored in Deno KV: in pieces, because a value has at most 64 KiB, and with entries in two indexes. */
import type { Stored } from '../../ports.js';
import { ordered } from '../text.js';

/** A key of Deno KV, with the kinds of parts that are used. */
export type DenoKvKey = readonly (string | number)[];

/** The value under a record's key: the text itself, or the number of its pieces; and the keys of its index entries. */
export interface Head {
  readonly text?: string;
  /** A name for this version, and the number of its pieces. */
  readonly rev?: string;
  readonly pieces?: number;
  /** A name for this version, whether it has pieces or not. Earlier builds do not write it. */
  readonly name?: string;
  readonly indexes: readonly DenoKvKey[];
}

/** UTF-16 units in a piece. Each takes at most three bytes, which leaves room for Deno's own encoding. */
const PIECE_UNITS = 20_000;
/** How many characters of a label are in a key, which has at most 2 KiB. */
export const LABEL_START = 256;

export const recordKey = (prefix: DenoKvKey, id: string): DenoKvKey => [...prefix, 'record', ordered(id)];
const pieceKey = (prefix: DenoKvKey, id: string, rev: string, number: number): DenoKvKey => [...prefix, 'piece', ordered(id), rev, number];
export const placesKey = (prefix: DenoKvKey, ns: string, state: string): DenoKvKey => [...prefix, 'place', ordered(ns), ordered(state)];
export const timesKey = (prefix: DenoKvKey): DenoKvKey => [...prefix, 'time'];

/** What is written for a record: its head, and its pieces, if it needs any. */
export function laidOut(
  prefix: DenoKvKey,
  { id, ns, state, label, forgetAt }: Stored,
  text: string,
): { readonly head: Head; readonly pieces: readonly string[] } {
  const place = [...placesKey(prefix, ns, state), ordered(label).slice(0, LABEL_START), ordered(id)];
  const indexes = [place, [...timesKey(prefix), forgetAt, ordered(id)]];
  if (text.length <= PIECE_UNITS) return { head: { text, indexes }, pieces: [] };
  const pieces = Array.from({ length: Math.ceil(text.length / PIECE_UNITS) }, (_, n) => text.slice(n * PIECE_UNITS, (n + 1) * PIECE_UNITS));
  return { head: { rev: crypto.randomUUID(), pieces: pieces.length, indexes }, pieces };
}

/** The keys of a version's pieces. */
export const piecesOf = (prefix: DenoKvKey, id: string, { rev, pieces = 0 }: Head): readonly DenoKvKey[] =>
  rev === undefined ? [] : Array.from({ length: pieces }, (_, n) => pieceKey(prefix, id, rev, n));
