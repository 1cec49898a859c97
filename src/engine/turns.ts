/** Pending records, names that begin differently in turns: a backlog of one kind does not hold up the others. */
import type { OperationName } from '../core/name.js';
import type { Client } from './client.js';
import { type Pages, pendingIn, type Scanned } from './records.js';

/** Kinds that take turns; where there are more, the next one comes when one of these is through. */
const KINDS_MAX = 8;
/** Records in one step of the search, and held of one kind. */
const HELD_MAX = 50;

/** What is left of one kind. */
interface Lane {
  readonly kind: string;
  readonly found: Scanned[];
  /** Where the next records of it are; `undefined`: there are no more. */
  readonly next: string | undefined;
}

/** Each pending record once, as a listing by name gives them, but kind by kind in turns. */
export async function* pendingInTurns(client: Client, namespace: string, prefix: OperationName | undefined): AsyncGenerator<Scanned> {
  for (const pages of await pendingIn(client, namespace, prefix)) yield* turns(pages, (prefix?.length ?? 0) + 1);
}

async function* turns(pages: Pages, parts: number): AsyncGenerator<Scanned> {
  const kindOf = kindsBy(parts);
  let lanes: Lane[] = [];
  /** Behind it are kinds not met so far; `undefined`: there are none. */
  let rest: string | undefined = '';
  while (rest !== undefined || lanes.length > 0) {
    while (lanes.length < KINDS_MAX && rest !== undefined) {
      const { found, next }: Awaited<ReturnType<Pages>> = await pages(undefined, rest || undefined, HELD_MAX);
      const met = lanesOf(found, next, kindOf);
      lanes.push(...met);
      // Behind all of the last kind, whose own records its lane goes on with.
      rest = next && (met.length ? JSON.stringify([`${met.at(-1)?.kind}\uffff`, '']) : next);
    }
    const left: Lane[] = [];
    for (const lane of lanes) {
      const { kind, found, next } = lane;
      const [first] = found.splice(0, 1);
      if (first) yield first;
      if (found.length > 0) left.push(lane);
      else if (next !== undefined) left.push({ kind, ...(await pages(kind, next, HELD_MAX)) });
    }
    lanes = left;
  }
}

/** Records of one page, which are in the order of their labels, by kind. Only the last kind can go on behind it. */
function lanesOf(found: readonly Scanned[], next: string | undefined, kindOf: (label: string) => string): Lane[] {
  const lanes: Lane[] = [];
  for (const one of found) {
    const kind = kindOf(one.record.label);
    const last = lanes.at(-1);
    if (last?.kind === kind) last.found.push(one);
    else lanes.push({ kind, found: [one], next: undefined });
  }
  return lanes.map((lane, at) => (at === lanes.length - 1 ? { ...lane, next } : lane));
}

/** How the label begins, up to so many parts of the name and what follows them: `["pay",`. Unnamed ones are one kind. */
const kindsBy =
  (parts: number) =>
  (label: string): string =>
    label[0] === '[' ? label.slice(0, JSON.stringify((JSON.parse(label) as unknown[]).slice(0, parts)).length) : label.slice(0, 1);
