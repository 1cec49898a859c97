/** Lists pending records so that kinds (names that begin alike) take turns: a backlog of one kind does not hold up the others. */
import type { Namespace } from '../core/ids.js';
import type { OperationName } from '../core/name.js';
import type { Consent, OnceRecord } from '../core/record.js';
import type { Client } from './client.js';
import { type Pages, pendingIn } from './scan.js';

/** How many kinds take turns at a time. If there are more, the next one starts when one of these is finished. */
const KINDS_MAX = 8;

/** What identifies a listed record. The record itself is not kept, because the request in it may be large. */
export type Listed = Pick<OnceRecord, 'id' | 'key' | 'label' | 'revision'> & { readonly consent: Consent | undefined };

interface Batch {
  readonly found: Listed[];
  /** The cursor of the next page; `undefined` if there is none. */
  next: string | undefined;
}

/** What is left of one kind; at most one page of it is in memory. */
interface Lane extends Batch {
  readonly kind: string;
}

/** Yields each pending record once. */
export async function* pendingInTurns(client: Client, namespace: Namespace, prefix: OperationName | undefined): AsyncGenerator<Listed> {
  for (const pages of await pendingIn(client, namespace, prefix)) {
    let lanes: Lane[] = [];
    /** The cursor behind which new kinds begin; `undefined` when there are no more. */
    let rest: string | undefined = '';
    while (rest !== undefined || lanes.length) {
      while (lanes.length < KINDS_MAX && rest !== undefined) {
        const met = await lanesAt(pages, rest, (prefix?.length ?? 0) + 1);
        lanes.push(...met.lanes);
        rest = met.rest;
      }
      for (const lane of lanes) {
        if (!lane.found.length && lane.next) Object.assign(lane, await nextBatch(pages, lane.kind, lane.next));
        const first = lane.found.shift();
        if (first) yield first;
      }
      lanes = lanes.filter(({ found, next }) => found.length || next);
    }
  }
}

async function nextBatch(pages: Pages, start: string | undefined, after: string): Promise<Batch> {
  const { records, next } = await pages(start, after || undefined);
  return { found: records.map(({ record: { id, key, label, revision, request } }) => ({ id, key, label, revision, consent: request?.consent })), next };
}

/** The kinds of one page. A page is in the order of labels, so only its last kind can continue on later pages. */
async function lanesAt(pages: Pages, after: string, parts: number): Promise<{ lanes: Lane[]; rest: string | undefined }> {
  const { found, next } = await nextBatch(pages, undefined, after);
  const lanes: Lane[] = [];
  for (const one of found) {
    const kind = kindOf(one.label, parts);
    if (lanes.at(-1)?.kind !== kind) lanes.push({ kind, found: [], next: undefined });
    lanes.at(-1)?.found.push(one);
  }
  const last = lanes.at(-1);
  if (!last || !next) return { lanes, rest: next };
  last.next = next;
  // Skip the rest of the last kind: no label has U+FFFF where a name's next part begins.
  return { lanes, rest: JSON.stringify([`${last.kind}\uffff`, '']) };
}

/** The kind of a label: how it begins, up to `parts` parts of the name and the character after them, such as `["pay",`. All unnamed ones are one kind. */
const kindOf = (label: string, parts: number): string =>
  label.slice(0, label[0] === '[' ? JSON.stringify((JSON.parse(label) as unknown[]).slice(0, parts)).length : 1);
