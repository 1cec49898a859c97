/** Computes the position of each entry of a lane on the shared axis. Pure. */
import type { Entry } from './recorder.ts';

export interface Row {
  readonly entry: Entry;
  /** The number of an attempt in its lane, from 1. Other entries have none. */
  readonly number: number | undefined;
  /** ms on the axis, without the long pauses that were cut out. */
  readonly from: number;
  readonly to: number;
  /** The length of the pause that was cut out before this entry, ms. */
  readonly pause: number;
}

export interface Layout {
  readonly rows: readonly Row[];
  readonly endMs: number;
}

/** A longer pause is cut out: minutes may pass between two presses, and would leave no room for the attempts. */
const PAUSE_MS = 1500;
const CUT_TO_MS = 200;

export function layOut(entries: readonly Entry[], now: number): Layout {
  const rows: Row[] = [];
  let number = 0;
  let busyUntil: number | undefined;
  let shift = 0;
  for (const entry of [...entries].sort((a, b) => a.from - b.from)) {
    const to = entry.to ?? Math.max(now, entry.from);
    const gap: number = busyUntil === undefined ? 0 : entry.from - busyUntil;
    const pause = gap > PAUSE_MS ? gap : 0;
    shift += busyUntil === undefined ? entry.from : pause ? gap - CUT_TO_MS : 0;
    rows.push({ entry, number: entry.kind === 'attempt' ? ++number : undefined, from: entry.from - shift, to: to - shift, pause });
    busyUntil = Math.max(busyUntil ?? 0, to);
  }
  return { rows, endMs: rows.reduce((end, { to }) => Math.max(end, to), 0) };
}
