/** Pending records, names that begin differently in turns: a backlog of one kind does not hold up the others. */
import type { OperationName } from '../core/name.js';
import type { OnceRecord } from '../core/record.js';
import type { Client } from './client.js';
import { type Pages, pendingIn } from './records.js';

/** Kinds that take turns; where there are more, the next one comes when one of these is through. */
const KINDS_MAX = 8;

/** Which record it is. The record itself is not held: there may be a request in it. */
export type Waiting = Pick<OnceRecord, 'id' | 'key' | 'label'>;

/** What is left of one kind: no more than a page of it is held. */
interface Lane {
  readonly kind: string;
  found: Waiting[];
  /** Where there are more; `undefined`: nowhere. */
  next: string | undefined;
}

/** Each pending record once. */
export async function* pendingInTurns(client: Client, namespace: string, prefix: OperationName | undefined): AsyncGenerator<Waiting> {
  for (const pages of await pendingIn(client, namespace, prefix)) yield* turns(pages, (prefix?.length ?? 0) + 1);
}

async function* turns(pages: Pages, parts: number): AsyncGenerator<Waiting> {
  let lanes: Lane[] = [];
  /** Behind it are kinds not met so far; `undefined`: there are none. */
  let rest: string | undefined = '';
  while (rest !== undefined || lanes.length > 0) {
    while (lanes.length < KINDS_MAX && rest !== undefined) {
      const met = await lanesAt(pages, rest, parts);
      lanes.push(...met.lanes);
      rest = met.rest;
    }
    for (const lane of lanes) {
      if (lane.found.length === 0 && lane.next !== undefined) {
        const { found, next } = await pages(lane.kind, lane.next);
        lane.found = found.map(waiting);
        lane.next = next;
      }
      const first = lane.found.shift();
      if (first) yield first;
    }
    lanes = lanes.filter(({ found, next }) => found.length > 0 || next !== undefined);
  }
}

/** The kinds of one page, which is in the order of labels: only the last kind can go on behind it. */
async function lanesAt(pages: Pages, after: string, parts: number): Promise<{ lanes: Lane[]; rest: string | undefined }> {
  const { found, next } = await pages(undefined, after || undefined);
  const lanes: Lane[] = [];
  for (const one of found.map(waiting)) {
    const kind = kindOf(one.label, parts);
    if (lanes.at(-1)?.kind !== kind) lanes.push({ kind, found: [], next: undefined });
    lanes.at(-1)?.found.push(one);
  }
  const last = lanes.at(-1);
  if (!last || next === undefined) return { lanes, rest: next };
  last.next = next;
  // Behind all of it: no label has U+FFFF where a name's next part begins.
  return { lanes, rest: JSON.stringify([`${last.kind}\uffff`, '']) };
}

const waiting = ({ record: { id, key, label } }: { readonly record: OnceRecord }): Waiting => ({ id, key, label });

/** How the label begins, up to so many parts of the name and what follows them: `["pay",`. Unnamed ones are one kind. */
const kindOf = (label: string, parts: number): string =>
  label.slice(0, label[0] === '[' ? JSON.stringify((JSON.parse(label) as unknown[]).slice(0, parts)).length : 1);
