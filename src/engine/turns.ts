/** Pending records, names that begin differently in turns: a backlog of one kind does not hold up the others. */
import type { Namespace } from '../core/ids.js';
import type { OperationName } from '../core/name.js';
import type { Consent, OnceRecord } from '../core/record.js';
import type { Client } from './client.js';
import { type Pages, pendingIn } from './scan.js';

/** Kinds that take turns; where there are more, the next one comes when one of these is through. */
const KINDS_MAX = 8;

/** Which record it is. The record itself is not held: there may be a request in it. */
export type Waiting = Pick<OnceRecord, 'id' | 'key' | 'label' | 'revision'> & { readonly consent: Consent | undefined };

interface Look {
  readonly found: Waiting[];
  /** Where there are more; `undefined`: nowhere. */
  next: string | undefined;
}

/** What is left of one kind: no more than a page of it is held. */
interface Lane extends Look {
  readonly kind: string;
}

/** Each pending record once. */
export async function* pendingInTurns(client: Client, namespace: Namespace, prefix: OperationName | undefined): AsyncGenerator<Waiting> {
  for (const pages of await pendingIn(client, namespace, prefix)) {
    let lanes: Lane[] = [];
    /** Behind it are kinds not met so far; `undefined`: there are none. */
    let rest: string | undefined = '';
    while (rest !== undefined || lanes.length) {
      while (lanes.length < KINDS_MAX && rest !== undefined) {
        const met = await lanesAt(pages, rest, (prefix?.length ?? 0) + 1);
        lanes.push(...met.lanes);
        rest = met.rest;
      }
      for (const lane of lanes) {
        if (!lane.found.length && lane.next) Object.assign(lane, await look(pages, lane.kind, lane.next));
        const first = lane.found.shift();
        if (first) yield first;
      }
      lanes = lanes.filter(({ found, next }) => found.length || next);
    }
  }
}

async function look(pages: Pages, start: string | undefined, after: string): Promise<Look> {
  const { found, next } = await pages(start, after || undefined);
  return { found: found.map(({ record: { id, key, label, revision, request } }) => ({ id, key, label, revision, consent: request?.consent })), next };
}

/** The kinds of one page, which is in the order of labels: only the last kind can go on behind it. */
async function lanesAt(pages: Pages, after: string, parts: number): Promise<{ lanes: Lane[]; rest: string | undefined }> {
  const { found, next } = await look(pages, undefined, after);
  const lanes: Lane[] = [];
  for (const one of found) {
    const kind = kindOf(one.label, parts);
    if (lanes.at(-1)?.kind !== kind) lanes.push({ kind, found: [], next: undefined });
    lanes.at(-1)?.found.push(one);
  }
  const last = lanes.at(-1);
  if (!last || !next) return { lanes, rest: next };
  last.next = next;
  // Behind all of it: no label has U+FFFF where a name's next part begins.
  return { lanes, rest: JSON.stringify([`${last.kind}\uffff`, '']) };
}

/** How the label begins, up to so many parts of the name and what follows them: `["pay",`. Unnamed ones are one kind. */
const kindOf = (label: string, parts: number): string =>
  label.slice(0, label[0] === '[' ? JSON.stringify((JSON.parse(label) as unknown[]).slice(0, parts)).length : 1);
